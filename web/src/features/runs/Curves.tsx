import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { Button, Checkbox, Input, Segmented, Slider, Tooltip } from 'antd'
import { useState } from 'react'
import type { Item } from '../../api/kinds'
import { request, type Schema } from '../../api/client'
import { Chart, clock } from '../../components/Chart'
import { Icon } from '../../components/Icon'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'
import { isOver } from '../jobs/jobs'
import type { MetricSeries } from '../trainings/instances'
import { useKeptList } from './kept'
import { curveOf, formatMetric, metricsOf, nameOrder } from './runs'
import './runs.css'

/** One run: its name beside others, and where its metrics are. */
export interface Shown { item: Item; name: string; path: string }

type Axis = 'step' | 'time'
type Range = readonly [number, number]

interface Look { by: Axis; smooth: number; log: boolean; logX: boolean; zoom: Range | null }

/** Charts of one page; who logs more names looks for some. */
const most = 64
/** Of each name that a chart draws: wherever one looks, so many. */
const points = 1000

/** A stretch of steps is asked for again: with as many points as the whole had. */
function useAll(runs: readonly Shown[], zoom: Range | null, every: number) {
  return useQueries({
    queries: runs.map(({ item, path }) => {
      const live = !isOver(item['state'])
      return {
        queryKey: ['metrics', item.id, live, zoom],
        placeholderData: keepPreviousData,
        queryFn: async ({ signal }: { signal: AbortSignal }) => (await request<Schema<'TrainingMetrics'>>(`${path}/metrics`, { query: { points, from: zoom?.[0], to: zoom?.[1] }, signal })).series,
        refetchInterval: live && every > 0 ? every : (false as const),
      }
    }),
  })
}

/** Metrics of a run, or of several over each other: the loss and the main metric first, one crosshair for all. */
export function Curves({ runs, scope }: { runs: readonly Shown[]; scope: string }) {
  const { t, n, language } = useI18n()
  const [wanted, setWanted] = useState('')
  const [look, setLook] = useState<Look>({ by: 'step', smooth: 0, log: false, logX: false, zoom: null })
  const [every, setEvery] = useState(2000)
  const [at, setAt] = useState<number | null>(null)
  const [first, setFirst] = useKeptList(`charts.${scope}`)
  const found = useAll(runs, look.by === 'step' ? look.zoom : null, every)
  const failed = found.find((one) => one.error && !one.data)
  if (failed?.error) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
  if (found.some((one) => !one.data)) return <Skeleton n={2} />
  const series = found.map((one) => one.data ?? [])
  const known = [...new Set([...runs.flatMap((run) => Object.keys(metricsOf(run.item))), ...series.flatMap((list) => list.map((s) => s.name))])]
  if (known.length === 0) return <Empty title={t('metrics.none')} text={t('metrics.noneHint')} />
  const named = nameOrder(known, first ?? []).filter((name) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  const names = named.slice(0, most)
  const live = runs.some((run) => !isOver(run.item['state']))
  const range = rangeOf(series, look)
  const change = (part: Partial<Look>) => { setLook({ ...look, ...part }); setAt(null) }
  return (
    <section aria-label={t('metrics.title')}>
      <div className="tools runs-look">
        <LookTools look={look} onChange={change} />
        {known.length > 8 && <Input allowClear type="search" aria-label={t('metrics.find')} placeholder={t('metrics.find')} value={wanted} onChange={(e) => setWanted(e.target.value)} autoComplete="off" spellCheck={false} style={{ width: 200 }} />}
        {named.length > most && <span className="muted" role="status">{t('metrics.shown', { shown: n(most), all: n(named.length) })}</span>}
        {first && <Button size="small" type="text" onClick={() => setFirst(null)}>{t('runs.usualOrder')}</Button>}
        {live && <IntervalPicker value={every} onChange={setEvery} choices={[2000, 10_000, 0]} />}
        <span className="muted num" role="status">{t('chart.updated', { time: clock(Math.max(...found.map((one) => one.dataUpdatedAt)), true, language) })}</span>
      </div>
      <div className="charts">
        {names.map((name, i) => (
          <Chart
            key={name} title={name} from={range[0]} to={range[1]} loose gap={Infinity} time={look.by === 'time' && runs.length === 1} format={formatMetric} at={at} onAt={setAt}
            log={look.log} logX={look.logX && look.by === 'step'} onZoom={(zoom) => change({ zoom })} series={seriesOf(name, runs, series, look)}
            tools={i > 0 && <Tooltip title={t('runs.toFront')}><Button type="text" size="small" aria-label={t('runs.toFrontName', { name })} icon={<Icon name="up" size={12} />} onClick={() => setFirst([name, ...(first ?? []).filter((one) => one !== name)])} /></Tooltip>}
          />
        ))}
      </div>
    </section>
  )
}

/** Steps, or times: of one run by the clock, of several since the first point of each, in seconds. */
function placeOf(list: readonly MetricSeries[], look: Look, alone: boolean) {
  if (look.by === 'step') return (p: readonly [number, number, ...number[]]) => p[0]
  const start = alone ? 0 : list.reduce((least, s) => Math.min(least, s.points[0]?.[1] ?? Infinity), Infinity)
  return (p: readonly [number, number, ...number[]]) => (alone ? p[1] / 1000 : (p[1] - start) / 1e6)
}

function rangeOf(all: readonly MetricSeries[][], look: Look): Range {
  if (look.zoom) return look.zoom
  let [from, to] = [Infinity, -Infinity]
  for (const list of all) {
    const x = placeOf(list, look, all.length === 1)
    for (const s of list) {
      for (const p of s.points) {
        const at = x(p)
        if (look.logX && look.by === 'step' && at <= 0) continue
        if (at < from) from = at
        if (at > to) to = at
      }
    }
  }
  if (!Number.isFinite(from)) return [look.logX ? 1 : 0, look.logX ? 10 : 1]
  return [from, to > from ? to : from + 1]
}

function seriesOf(name: string, runs: readonly Shown[], all: readonly MetricSeries[][], look: Look) {
  return runs.flatMap((run, i) => {
    const list = all[i] ?? []
    const s = list.find((one) => one.name === name)
    if (!s) return []
    return [{ name: run.name, color: i, ...curveOf(s, placeOf(list, look, runs.length === 1), look, metricsOf(run.item)[name], runs.length === 1) }]
  })
}

function LookTools({ look, onChange }: { look: Look; onChange: (part: Partial<Look>) => void }) {
  const { t, n } = useI18n()
  return (
    <>
      <Segmented<Axis> aria-label={t('metrics.by')} value={look.by} onChange={(by) => onChange({ by, zoom: null })} options={[{ value: 'step', label: t('metrics.step') }, { value: 'time', label: t('metrics.time') }]} />
      <span className="row runs-smooth"><span id="runs-smooth">{t('runs.smooth')}</span> <Slider min={0} max={0.99} step={0.01} value={look.smooth} onChange={(smooth) => onChange({ smooth })} ariaLabelledByForHandle="runs-smooth" tooltip={{ open: false }} /> <span className="num">{n(look.smooth, 2)}</span></span>
      <Checkbox checked={look.log} onChange={(e) => onChange({ log: e.target.checked })}>{t('runs.log')}</Checkbox>
      {look.by === 'step' && <Checkbox checked={look.logX} onChange={(e) => onChange({ logX: e.target.checked, zoom: null })}>{t('runs.logX')}</Checkbox>}
      {look.zoom
        ? <Button size="small" onClick={() => onChange({ zoom: null })}>{t('runs.whole')}</Button>
        : <span className="muted runs-hint">{t('runs.zoomHint')}</span>}
    </>
  )
}
