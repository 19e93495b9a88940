import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, projectUrl } from '../../app/links'
import { ForbiddenPage, ProblemPage } from '../../app/pages'
import { request, type Schema } from '../../api/client'
import { may } from '../../api/session'
import { clock } from '../../components/Chart'
import { formatBytes } from '../../components/format'
import { useTitle } from '../../components/hooks'
import { RefreshPicker, useRefetch } from '../../components/Refresh'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { Meter, Meters, useRows, type Amounts } from '../overview/Meter'

type By = 'cpus' | 'memory' | 'jobs'
type Used = Pick<Schema<'NodeLoad'>, 'reserved' | 'used'>

function rank<T extends Used & { jobs: number }>(rows: readonly T[], by: By): T[] {
  const value = (row: T) => (by === 'jobs' ? row.jobs : (row.reserved[by] ?? 0))
  return [...rows].sort((a, b) => value(b) - value(a))
}

const columns = ['cpus', 'memory', 'disk'] as const

/** A cell for each of the resources that everything has, and one for the accelerators. */
function Cells({ most, row }: { most?: Amounts; row: Used }) {
  const { t } = useI18n()
  const rows = useRows()({ most, reserved: row.reserved, used: row.used })
  const cards = rows.filter((r) => r.name.startsWith('accelerator-'))
  return (
    <>
      {columns.map((name) => {
        const of = rows.find((r) => r.name === name)
        return <td key={name} className="meter-cell">{of && (of.used || of.reserved || of.most !== null) ? <Meter row={of} bare /> : <span className="muted">{t('value.none')}</span>}</td>
      })}
      <td className="meter-cell">{cards.length > 0 ? cards.map((card) => <Meter key={card.name} row={card} />) : <span className="muted">{t('value.none')}</span>}</td>
    </>
  )
}

function CellHeads() {
  const { t } = useI18n()
  return <><th scope="col">{t('meter.cpu')}</th><th scope="col">{t('meter.memory')}</th><th scope="col">{t('chart.disk')}</th><th scope="col">{t('resources.devices')}</th></>
}

/** Everything that the platform can give, and who has it. */
export function Resources() {
  const { t, n, language } = useI18n()
  const { session, kind } = useApp()
  const every = useRefetch()
  const [by, setBy] = useState<By>('cpus')
  const allowed = may(session, 'node.read')
  useTitle(t('resources.title'))
  const found = useQuery({
    queryKey: ['resources'],
    queryFn: ({ signal }) => request<Schema<'Resources'>>('/resources', { signal }),
    enabled: allowed,
    refetchInterval: every,
  })
  if (!allowed) return <ForbiddenPage permission="node.read" />
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <Skeleton />
  const users = kind('user')
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{t('resources.title')}</h1>
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
        <RefreshPicker />
      </header>
      <div className="summary">
        <section className="block"><h2>{t('resources.total')}</h2><Meters most={data.total} reserved={data.reserved} used={data.used} /></section>
        <section className="block"><h2>{t('resources.nodes')}</h2><Nodes nodes={data.nodes} /></section>
        <section className="block">
          <div className="section-head">
            <h2>{t('resources.projects')}</h2>
            <Select aria-label={t('resources.rank')} value={by} onChange={setBy} popupMatchSelectWidth={false} options={(['cpus', 'memory', 'jobs'] as const).map((name) => ({ value: name, label: t('resources.by', { what: t(name === 'jobs' ? 'resources.jobs' : name === 'cpus' ? 'meter.cpu' : 'meter.memory') }) }))} />
          </div>
          <Ranking rows={rank(data.projects, by).map((row) => ({ ...row, id: row.project.id, link: <Link to={projectUrl(row.project.name ?? '')}>{row.project.name}</Link> }))} first={t('resources.project')} />
        </section>
        <section className="block">
          <h2>{t('resources.users')}</h2>
          <Ranking rows={rank(data.users, by).map((row) => ({ ...row, id: row.user.id, link: users ? <Link to={itemUrl(users, row.user.id, null) ?? '/'}>{row.user.name}</Link> : row.user.name }))} first={t('resources.user')} />
        </section>
        <section className="block">
          <h2>{t('resources.series')}</h2>
          <p className="num">{t('resources.seriesText', { points: n(data.series.points), series: n(data.series.series), bytes: formatBytes(data.series.bytes) })}</p>
        </section>
      </div>
    </article>
  )
}

function Nodes({ nodes }: { nodes: Schema<'Resources'>['nodes'][number][] }) {
  const { t, language } = useI18n()
  const { kind } = useApp()
  const node = kind('node')
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{t('resources.node')}</th><th scope="col">{t('job.state')}</th><th scope="col">{t('resources.arch')}</th><th scope="col">{t('resources.pool')}</th><CellHeads /></tr></thead>
        <tbody>
          {nodes.map((row) => {
            const reason = (language === 'zh' && row.reason_zh) || row.reason
            return (
              <tr key={row.name}>
                <td className="first">{node && row.id ? <Link to={itemUrl(node, row.id, null) ?? '/'}>{row.name}</Link> : row.name}</td>
                <td title={reason ?? undefined}><StateTag state={row.state} /></td>
                <td>{row.arch}</td>
                <td>{row.pool ? row.pool : <span className="muted">{t('value.none')}</span>}</td>
                <Cells most={row.total} row={row} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Ranking({ rows, first }: { rows: (Used & { id: number; link: React.ReactNode; quota?: Amounts; jobs: number })[]; first: string }) {
  const { t, n } = useI18n()
  if (rows.length === 0) return <p className="muted">{t('resources.nobody')}</p>
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{first}</th><CellHeads /><th scope="col" className="right">{t('resources.jobs')}</th></tr></thead>
        <tbody>
          {rows.slice(0, 100).map((row) => (
            <tr key={row.id}>
              <td className="first">{row.link}</td>
              <Cells most={row.quota} row={row} />
              <td className="right">{n(row.jobs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > 100 && <p className="muted">{t('value.more', { n: rows.length - 100 })}</p>}
    </div>
  )
}
