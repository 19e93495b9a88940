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
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'
import { StateTag } from '../jobs/State'
import { Meter, Meters, useRows, type Amounts } from '../overview/Meter'

type By = 'cpu' | 'memory' | 'jobs'

function rank<T extends { use: Amounts; jobs: number }>(rows: readonly T[], by: By): T[] {
  const value = (row: T) => (by === 'jobs' ? row.jobs : (row.use[by] ?? 0))
  return [...rows].sort((a, b) => value(b) - value(a))
}

function Cell({ most, used, name }: { most?: Amounts; used: Amounts; name: 'cpu' | 'memory' }) {
  const row = useRows()(most, used).find((r) => r.name === name)
  return <td className="meter-cell">{row && <Meter row={row} bare />}</td>
}

function accelerators(used: Amounts): string {
  return Object.entries(used.accelerators ?? {}).filter(([, n]) => n).map(([kind, n]) => `${n} × ${kind}`).join(', ')
}

function devicesText(devices: { kind: string }[], n: (value: number) => string): string {
  const counts = new Map<string, number>()
  for (const { kind } of devices) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${n(count)} × ${kind}`).join(', ')
}

/** Everything that the platform can give, and who has it. */
export function Resources() {
  const { t, n, language } = useI18n()
  const { session, kind } = useApp()
  const [every, setEvery] = useState(5000)
  const [by, setBy] = useState<By>('cpu')
  const allowed = may(session, 'node.read')
  useTitle(t('resources.title'))
  const found = useQuery({
    queryKey: ['resources'],
    queryFn: ({ signal }) => request<Schema<'Resources'>>('/resources', { signal }),
    enabled: allowed,
    refetchInterval: every > 0 ? every : false,
  })
  if (!allowed) return <ForbiddenPage permission="node.read" />
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <div className="skeleton" aria-busy="true"><div /><div /><div /></div>
  const users = kind('user')
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{t('resources.title')}</h1>
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
        <IntervalPicker value={every} onChange={setEvery} choices={[5000, 30_000, 0]} />
      </header>
      <div className="summary">
        <section className="block"><h2>{t('resources.total')}</h2><Meters most={data.total} used={data.use} /></section>
        <section className="block"><h2>{t('resources.nodes')}</h2><Nodes nodes={data.nodes} /></section>
        <section className="block">
          <div className="section-head">
            <h2>{t('resources.projects')}</h2>
            <Select aria-label={t('resources.rank')} value={by} onChange={setBy} popupMatchSelectWidth={false} options={(['cpu', 'memory', 'jobs'] as const).map((name) => ({ value: name, label: t('resources.by', { what: t(name === 'jobs' ? 'resources.jobs' : `meter.${name}`) }) }))} />
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
  const { t, n, language } = useI18n()
  const { kind } = useApp()
  const node = kind('node')
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{t('resources.node')}</th><th scope="col">{t('job.state')}</th><th scope="col">{t('resources.arch')}</th><th scope="col">{t('resources.pool')}</th><th scope="col">{t('meter.cpu')}</th><th scope="col">{t('meter.memory')}</th><th scope="col">{t('resources.devices')}</th></tr></thead>
        <tbody>
          {nodes.map((row) => {
            const reason = (language === 'zh' && row.reason_zh) || row.reason
            return (
              <tr key={row.name}>
                <td className="first">{node && row.id ? <Link to={itemUrl(node, row.id, null) ?? '/'}>{row.name}</Link> : row.name}</td>
                <td title={reason ?? undefined}><StateTag state={row.state} /></td>
                <td>{row.arch}</td>
                <td>{row.pool ? row.pool : <span className="muted">{t('value.none')}</span>}</td>
                <Cell most={{ cpu: row.cpu, memory: row.memory }} used={row.use} name="cpu" />
                <Cell most={{ cpu: row.cpu, memory: row.memory }} used={row.use} name="memory" />
                <td>{devicesText(row.devices, n) || <span className="muted">{t('value.none')}</span>}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Ranking({ rows, first }: { rows: { id: number; link: React.ReactNode; quota?: Amounts; use: Amounts; jobs: number }[]; first: string }) {
  const { t, n } = useI18n()
  if (rows.length === 0) return <p className="muted">{t('resources.nobody')}</p>
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{first}</th><th scope="col">{t('meter.cpu')}</th><th scope="col">{t('meter.memory')}</th><th scope="col">{t('resources.devices')}</th><th scope="col" className="right">{t('resources.jobs')}</th></tr></thead>
        <tbody>
          {rows.slice(0, 100).map((row) => (
            <tr key={row.id}>
              <td className="first">{row.link}</td>
              <Cell most={row.quota} used={row.use} name="cpu" />
              <Cell most={row.quota} used={row.use} name="memory" />
              <td>{accelerators(row.use) || <span className="muted">{t('value.none')}</span>}</td>
              <td className="right">{n(row.jobs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > 100 && <p className="muted">{t('value.more', { n: rows.length - 100 })}</p>}
    </div>
  )
}
