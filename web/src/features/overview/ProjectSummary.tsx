import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import { menuGroups } from '../../app/menu'
import { request, type Schema } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { useCount, type Place } from '../../api/objects'
import { offers } from '../../api/session'
import { Chart, clock } from '../../components/Chart'
import { banded } from '../../components/chart'
import { formatBytes } from '../../components/format'
import { ErrorState } from '../../components/States'
import { useI18n, type Key } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'
import { Meters } from './Meter'

type Values = Schema<'ProjectOverview'>['curves']['items'][number]['low']

const day = 86_400_000

function useOverview(project: number, every: number) {
  return useQuery({
    queryKey: ['overview', project],
    queryFn: ({ signal }) => request<Schema<'ProjectOverview'>>(`/projects/${project}/overview`, { query: { points: 480 }, signal }),
    refetchInterval: every > 0 ? every : false,
  })
}

/** The home of a project: what it may use and uses, what runs, what it holds, and what to do next. */
export function ProjectSummary({ item }: { item: Item }) {
  const { kinds, session, project, kind } = useApp()
  const [every, setEvery] = useState(10_000)
  const found = useOverview(item.id, every)
  const i18n = useI18n()
  const { t, language } = i18n
  const shown = menuGroups(kinds, session, project, i18n).flatMap((group) => group.entries.flatMap(({ kind: k }) => (k?.scope === 'project' && k.name !== 'task' && k.name !== 'job' ? [k] : [])))
  const member = kind('member')
  const projects = kind('project')
  const data = found.data
  return (
    <div className="summary">
      {data && <NextSteps counts={data.counts} />}
      {data && <JobCards counts={data.counts} />}
      <section className="block">
        <h2>{t('project.contents')}</h2>
        <ul className="tiles">
          {shown.map((k) => <KindTile key={k.name} kind={k} />)}
          {member && projects && offers(session, member, 'list', item.id) && <CountTile kind={member} place={{ parent: { kind: projects, id: item.id } }} url={`?tab=${member.plural}`} />}
        </ul>
      </section>
      {found.error && !data ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : (
        <section className="block">
          <div className="section-head">
            <h2>{t('project.quota')}</h2>
            <span className="grow" />
            {found.dataUpdatedAt > 0 && <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>}
            <IntervalPicker value={every} onChange={setEvery} choices={[5000, 10_000, 60_000, 0]} />
          </div>
          <Meters most={data?.quota} used={data?.use} />
        </section>
      )}
      {data && <DayCurves overview={data} now={found.dataUpdatedAt} />}
    </div>
  )
}

/** Minutes in which nothing ran are left out by the server: nothing was used then, which is no gap. */
function DayCurves({ overview, now }: { overview: Schema<'ProjectOverview'>; now: number }) {
  const { t, n } = useI18n()
  const [at, setAt] = useState<number | null>(null)
  const { items } = overview.curves
  const times = items.map((p) => Date.parse(p.at))
  const to = Math.max(now, times[times.length - 1] ?? 0)
  const common = { from: to - day, to, gap: Infinity, at, onAt: setAt, limitTitle: t('chart.quota') }
  const line = (name: string, value: (p: Values) => number | null) => [{ name, ...banded<Values>(items, (_, i) => times[i] ?? 0, value) }]
  const kinds = [...new Set(items.flatMap((p) => Object.keys(p.accelerators ?? {})))]
  return (
    <section className="block">
      <h2>{t('overview.day')}</h2>
      <div className="charts">
        <Chart {...common} title={t('meter.cpu')} limit={overview.quota.cpu} series={line('cpu', (p) => p.cpu)} format={(v) => t('chart.cores', { n: n(v, 2) })} tick={(v) => n(v, 2)} />
        <Chart {...common} title={t('meter.memory')} limit={overview.quota.memory} series={line('memory', (p) => p.memory)} format={formatBytes} binary />
        {kinds.map((kind) => <Chart key={kind} {...common} title={kind} limit={overview.quota.accelerators?.[kind]} series={line(kind, (p) => p.accelerators?.[kind] ?? null)} format={(v) => n(v, 2)} />)}
      </div>
    </section>
  )
}

const jobCards = [['jobs_running', 'running'], ['jobs_waiting', 'queued'], ['jobs_done', 'completed'], ['jobs_failed', 'failed']] as const

function JobCards({ counts }: { counts: Record<string, number> }) {
  const { t, n } = useI18n()
  const { session, project, kind } = useApp()
  const jobs = kind('job')
  const url = jobs && offers(session, jobs, 'list', project?.id) ? listUrl(jobs, project) : null
  if (!url) return null
  return (
    <section className="block">
      <h2>{t('overview.jobs')}</h2>
      <ul className="tiles">
        {jobCards.map(([name, state]) => (
          <li key={name}>
            <Link className="tile" to={`${url}?state=${state}`}>
              <span className="tile-count num">{n(counts[name] ?? 0)}</span>
              <span className={`state state-${state}`}><i aria-hidden="true" />{t(`overview.${name}`)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

const steps: { kind: string; count: string; text: Key }[] = [
  { kind: 'dataset', count: 'datasets', text: 'next.dataset' },
  { kind: 'algorithm_set', count: 'algorithms', text: 'next.algorithm' },
  { kind: 'environment', count: 'environments', text: 'next.environment' },
  { kind: 'training', count: 'trainings', text: 'next.training' },
]

/** In a new project: the way from data to a model. Gone once there is something. */
function NextSteps({ counts }: { counts: Record<string, number> }) {
  const { t, wl } = useI18n()
  const { session, project, kind } = useApp()
  const navigate = useNavigate()
  const used = ['datasets', 'models', 'algorithms', 'environments', 'jobs_running', 'jobs_waiting', 'jobs_done', 'jobs_failed'].some((name) => (counts[name] ?? 0) > 0)
  const open = steps.flatMap((step) => {
    const found = kind(step.kind)
    const url = found && offers(session, found, 'create', project?.id) ? listUrl(found, project) : null
    return found && url ? [{ ...step, found, url }] : []
  })
  if (used || open.length === 0) return null
  return (
    <section className="block">
      <h2>{t('next.title')}</h2>
      <ol className="next-steps">
        {open.map((step) => (
          <li key={step.kind}>
            <span className="grow">{t(step.text)}</span>
            <Button size="small" onClick={() => void navigate(`${step.url}?new=1`)}>{t('list.create', { title: wl(step.found.title) })}</Button>
          </li>
        ))}
      </ol>
    </section>
  )
}

function KindTile({ kind }: { kind: Kind }) {
  const { project } = useApp()
  const url = listUrl(kind, project)
  return url ? <CountTile kind={kind} place={{ project: project?.id }} url={url} /> : null
}

function CountTile({ kind, place, url }: { kind: Kind; place: Place; url: string }) {
  const { w, n, t } = useI18n()
  const count = useCount(kind, place)
  return (
    <li>
      <Link className="tile" to={url}>
        <span className="tile-count num">{count.data === undefined ? t('value.none') : n(count.data)}</span>
        <span>{w(kind.titles)}</span>
      </Link>
    </li>
  )
}
