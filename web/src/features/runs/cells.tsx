import { Tooltip } from 'antd'
import type { Item, Kind } from '../../api/kinds'
import { FieldValue } from '../../components/FieldValue'
import { formatDuration } from '../../components/format'
import { useNow } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { formatMetric, metricsOf, parametersOf, type Column } from './runs'

/** The heading of a column; a metric that has the name of a parameter says that it is one. */
export function useColumnTitle(kind: Kind, runs: readonly Item[]): (column: Column) => string {
  const { t, w } = useI18n()
  return ({ source, name }) => {
    if (source === 'metric') return runs.some((run) => name in parametersOf(run)) ? t('runs.bestOf', { name }) : name
    if (source === 'last') return t('runs.lastOf', { name })
    if (source === 'parameter') return name
    return w(kind.fields.find((f) => f.name === name)?.title) || name
  }
}

/** How long it took, or has run so far. */
export function RunTime({ run }: { run: Item }) {
  const { t, language } = useI18n()
  const now = useNow()
  const from = Date.parse(String(run['started_at'] ?? ''))
  const to = run['ended_at'] ? Date.parse(String(run['ended_at'])) : now
  if (Number.isNaN(from)) return <span className="muted">{t('value.none')}</span>
  return <span className="num">{formatDuration((to - from) / 1000, language)}</span>
}

/** The same in lists of whatever begins and ends. */
export function DurationCell({ item }: { item: Item }) {
  return <RunTime run={item} />
}

export function RunCell({ kind, run, column }: { kind: Kind; run: Item; column: Column }) {
  const { t, n } = useI18n()
  const none = <span className="muted">{t('value.none')}</span>
  if (column.source === 'parameter') {
    const value = parametersOf(run)[column.name]
    return value === undefined ? none : typeof value === 'number' ? <span className="num">{formatMetric(value)}</span> : <span title={value}>{value}</span>
  }
  if (column.source !== 'field') {
    const m = metricsOf(run)[column.name]
    if (!m) return none
    const [value, step] = column.source === 'last' ? [m.last, m.last_step] : [m.best, m.best_step]
    return <Tooltip title={t('runs.metricAt', { step: n(step), last: formatMetric(m.last), best: formatMetric(m.best) })}><span className="num">{formatMetric(value)}</span></Tooltip>
  }
  if (column.name === 'duration') return <RunTime run={run} />
  const field = kind.fields.find((f) => f.name === column.name)
  return field ? <FieldValue field={field} kindName={kind.name} value={run[column.name]} item={run} short /> : none
}
