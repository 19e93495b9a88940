import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl } from '../../app/links'
import { request, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'
import { linePath, thin, type Point } from '../../components/chart'
import { useI18n } from '../../i18n'
import { isOver } from '../jobs/jobs'
import { StateTag } from '../jobs/State'
import { RunTime } from '../runs/cells'
import { formatMetric } from '../runs/runs'
import type { SpecialProps } from '../objects/special'
import '../runs/runs.css'

type LastRun = NonNullable<Schema<'Training'>['last_run']>

function lastOf(item: Item): LastRun | null {
  return (item['last_run'] as LastRun | null | undefined) ?? null
}

/** The newest run of a training: its state, how long it took, and the way to it. */
export function LastRunCell({ item }: SpecialProps) {
  const { t } = useI18n()
  const { project, kind: byName } = useApp()
  const run = lastOf(item)
  const [training, instances] = [byName('training'), byName('training_instance')]
  if (!run) return <span className="muted">{t('runs.never')}</span>
  const url = training && instances && childUrl(instances, run.id, training, item.id, project)
  return <span className="row"><StateTag state={run.state} />{url ? <Link to={url}>{run.name}</Link> : run.name}<span className="muted"><RunTime run={run as unknown as Item} /></span></span>
}

const [width, height, points] = [72, 20, 60]

/** What tells how good it is, and how that went. */
export function MainMetricCell({ item }: SpecialProps) {
  const { t } = useI18n()
  const run = lastOf(item)
  if (!run?.metric || run.best === null) return <span className="muted">{t('value.none')}</span>
  return <span className="row"><span className="muted">{run.metric}</span><span className="num">{formatMetric(run.best)}</span><Spark training={item.id} run={run} name={run.metric} /></span>
}

function Spark({ training, run, name }: { training: number; run: LastRun; name: string }) {
  const { t } = useI18n()
  const live = !isOver(run.state)
  const found = useQuery({
    queryKey: ['metrics', 'spark', run.id, name, live],
    queryFn: async ({ signal }) => (await request<Schema<'TrainingMetrics'>>(`/trainings/${training}/instances/${run.id}/metrics`, { query: { points, name }, signal })).series[0]?.points ?? [],
    refetchInterval: live ? 10_000 : false,
    staleTime: live ? 0 : Infinity,
  })
  const list = thin((found.data ?? []).map((p) => [p[0], p[2]] as Point), points)
  if (list.length < 2) return null
  const values = list.map(([, v]) => v ?? 0)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [from, to] = [list[0]?.[0] ?? 0, list[list.length - 1]?.[0] ?? 1]
  const x = (v: number) => 1 + ((v - from) / (to - from || 1)) * (width - 2)
  const y = (v: number) => height - 2 - ((v - low) / (high - low || 1)) * (height - 4)
  return <svg className="spark" width={width} height={height} role="img" aria-label={t('runs.spark', { name })}><path d={linePath(list, x, y, Infinity)} /></svg>
}
