import { Select } from 'antd'
import { useState } from 'react'
import type { Item } from '../../api/kinds'
import { Chart, clock } from '../../components/Chart'
import { banded } from '../../components/chart'
import { formatBytes } from '../../components/format'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { isOver, useCurves, type CurvePoint } from './jobs'
import { RankPicker } from './RankPicker'

type Values = Omit<CurvePoint, 'at' | 'low' | 'high'>
type Value = keyof Values

export const spans = [600, 86_400] as const
const intervals = [1000, 5000, 30_000, 0]

export function IntervalPicker({ value, onChange, choices = intervals }: { value: number; onChange: (ms: number) => void; choices?: readonly number[] }) {
  const { t } = useI18n()
  return <Select aria-label={t('chart.refresh')} value={value} onChange={onChange} popupMatchSelectWidth={false} options={choices.map((ms) => ({ value: ms, label: ms === 0 ? t('chart.paused') : t('chart.every', { n: ms / 1000 }) }))} />
}

/** What a container uses, against what it may use. */
export function JobCurves({ job }: { job: Item }) {
  const { t, n, language } = useI18n()
  const [rank, setRank] = useState(0)
  const over = isOver(job['state'])
  const [span, setSpan] = useState<number>(600)
  const [every, setEvery] = useState(1000)
  const [at, setAt] = useState<number | null>(null)
  const found = useCurves(job.id, rank, span, !over, span === 600 ? every : every && Math.max(every, 30_000))
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  const items = data?.items ?? []
  const last = items.length > 0 ? Date.parse(items[items.length - 1]?.at ?? '') : NaN
  const to = over && Number.isFinite(last) ? last : Math.max(found.dataUpdatedAt || Date.now(), Number.isFinite(last) ? last : 0)
  const from = to - span * 1000
  const gap = (data?.step_s ?? 1) * 5000
  const times = items.map((p) => Date.parse(p.at))
  const line = (name: Value, title: string) => ({ name: title, ...banded<Values>(items, (_, i) => times[i] ?? 0, (p) => p[name]) })
  const common = { from, to, gap, at, onAt: setAt, limitTitle: t('chart.limit') }
  const rate = (v: number) => t('chart.perSecond', { amount: formatBytes(v) })
  return (
    <section aria-label={t('job.curves')}>
      <div className="tools">
        <RankPicker job={job} rank={rank} onRank={setRank} />
        <Select aria-label={t('chart.span')} value={span} onChange={setSpan} options={spans.map((s) => ({ value: s, label: t(s === 600 ? 'chart.tenMinutes' : 'chart.day') }))} />
        {!over && <IntervalPicker value={every} onChange={setEvery} />}
        <span className="muted num" role="status">{found.dataUpdatedAt > 0 && t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
      </div>
      <div className="charts">
        <Chart {...common} title={t('chart.cpu')} limit={data?.limits.cpus} series={[line('cpus', t('chart.cpu'))]} format={(v) => t('chart.cores', { n: n(v, 2) })} tick={(v) => n(v, 2)} />
        <Chart {...common} title={t('chart.memory')} limit={data?.limits.memory} series={[line('memory', t('chart.memory'))]} format={formatBytes} binary />
        {items.some((p) => p.accelerator !== null) && <Chart {...common} title={t('chart.accelerator')} limit={data?.limits.accelerators} formatLimit={(v) => n(v, 2)} series={[line('accelerator', t('chart.accelerator'))]} format={(v) => t('chart.cards', { n: n(v, 2) })} tick={(v) => n(v, 2)} />}
        {items.some((p) => p.accelerator_memory !== null) && <Chart {...common} title={t('chart.acceleratorMemory')} series={[line('accelerator_memory', t('chart.acceleratorMemory'))]} format={formatBytes} binary />}
        <Chart {...common} title={t('chart.network')} series={[line('net_rx', t('chart.received')), line('net_tx', t('chart.sent'))]} format={rate} binary />
        <Chart {...common} title={t('chart.disk')} limit={data?.limits.disk} series={[line('disk', t('chart.disk'))]} format={formatBytes} binary />
      </div>
    </section>
  )
}
