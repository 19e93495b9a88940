import { Input, Segmented } from 'antd'
import { useState } from 'react'
import type { Item } from '../../api/kinds'
import { Chart, clock } from '../../components/Chart'
import type { Point, Stretch } from '../../components/chart'
import { Empty, ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'
import { isOver } from '../jobs/jobs'
import { useMetrics, type MetricSeries } from './instances'

/** Charts of one page; who logs more names looks for some. */
const most = 64

/** At most four digits that matter. */
export function formatMetric(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2)
  return String(Number(value.toPrecision(4)))
}

/** Thinned ones as means in their band, which ends with the newest point itself. */
export function drawn(s: MetricSeries, x: (p: readonly [number, number, ...number[]]) => number): { points: Point[]; band?: Stretch[] } {
  const points = s.points.map((p) => [x(p), p[2]] as const)
  const last = points[points.length - 1]
  if (!s.means || !last) return { points }
  return { points: [...s.means.map((p) => [x(p), p[2]] as const), last], band: s.means.map((p) => [x(p), p[3], p[4]] as const) }
}

/** The numbers that the training's log tells, as they come. */
export function Metrics({ path, item }: { path: string; item: Item }) {
  const { t, n, language } = useI18n()
  const [wanted, setWanted] = useState('')
  const [by, setBy] = useState<'step' | 'time'>('step')
  const [every, setEvery] = useState(2000)
  const [at, setAt] = useState<number | null>(null)
  const live = !isOver(item['state'])
  const found = useMetrics(path, item.id, live, every)
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <div className="skeleton" aria-busy="true"><div /><div /></div>
  if (found.data.length === 0) return <Empty title={t('metrics.none')} text={t('metrics.noneHint')} />
  const named = found.data.filter((s) => s.name.toLowerCase().includes(wanted.trim().toLowerCase()))
  const series = named.slice(0, most)
  const x = (p: readonly [number, number, ...number[]]) => (by === 'step' ? p[0] : p[1] / 1000)
  const all = series.flatMap((s) => s.points.map(x))
  const from = all.reduce((a, b) => Math.min(a, b), Infinity)
  const to = all.reduce((a, b) => Math.max(a, b), -Infinity)
  return (
    <section aria-label={t('metrics.title')}>
      <div className="tools">
        <Segmented<'step' | 'time'> aria-label={t('metrics.by')} value={by} onChange={(v) => { setBy(v); setAt(null) }} options={[{ value: 'step', label: t('metrics.step') }, { value: 'time', label: t('metrics.time') }]} />
        {found.data.length > 8 && <Input allowClear type="search" aria-label={t('metrics.find')} placeholder={t('metrics.find')} value={wanted} onChange={(e) => setWanted(e.target.value)} autoComplete="off" spellCheck={false} style={{ width: 200 }} />}
        {named.length > most && <span className="muted" role="status">{t('metrics.shown', { shown: n(most), all: n(named.length) })}</span>}
        {live && <IntervalPicker value={every} onChange={setEvery} choices={[2000, 10_000, 0]} />}
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
      </div>
      <div className="charts">
        {series.map((s) => (
          <Chart
            key={s.name} title={s.name} series={[{ name: s.name, ...drawn(s, x) }]} from={from} to={to > from ? to : from + 1}
            loose gap={Infinity} time={by === 'time'} format={formatMetric} at={at} onAt={setAt}
          />
        ))}
      </div>
    </section>
  )
}
