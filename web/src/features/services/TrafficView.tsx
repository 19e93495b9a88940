import { Select } from 'antd'
import { useState } from 'react'
import type { Item } from '../../api/kinds'
import { Chart, clock } from '../../components/Chart'
import { banded } from '../../components/chart'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'
import { useTraffic, type TrafficPoint } from './services'

type Means = TrafficPoint['low']

const spans = [600, 7200, 86_400, 604_800] as const

function wrong(p: TrafficPoint): number {
  return (p.classes['error'] ?? 0) + (p.classes['failed'] ?? 0) + (p.classes['timeout'] ?? 0)
}

/** Requests, errors and times of production and canary on one axis each. */
export function TrafficView({ service, versions }: { service: number; versions: Item[] }) {
  const { t, n, language } = useI18n()
  const [span, setSpan] = useState<number>(600)
  const [every, setEvery] = useState(1000)
  const [at, setAt] = useState<number | null>(null)
  const found = useTraffic(service, span, span === 600 ? every : every && Math.max(every, 5000))
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const to = found.dataUpdatedAt || Date.now()
  const step = found.data?.step_s ?? 1
  const name = (id: number) => {
    const version = versions.find((one) => one.id === id)
    const role = version?.['role']
    return version ? `${String(version['name'])}${role === 'production' || role === 'canary' ? ` ${t(`service.role.${role}`)}` : ''}` : `#${id}`
  }
  // Production first, so that it keeps its colour.
  const place = (id: number) => ['production', 'canary'].indexOf(String(versions.find((one) => one.id === id)?.['role'])) >>> 0
  const shown = (found.data?.versions ?? []).filter((v) => v.points.length > 0).sort((a, b) => place(a.version) - place(b.version))
  const lines = (value: (p: TrafficPoint) => number | null) => shown.map((v) => ({ name: name(v.version), points: v.points.map((p) => [Date.parse(p.at), value(p)] as const) }))
  const means = (of: keyof Means) => shown.map((v) => {
    const times = v.points.map((p) => Date.parse(p.at))
    return { name: name(v.version), ...banded<Means>(v.points, (_, i) => times[i] ?? 0, (p) => p[of]) }
  })
  const common = { from: to - span * 1000, to, gap: step * 5000, at, onAt: setAt }
  const ms = (v: number) => `${n(v, 2)} ms`
  const spanNames = { 600: 'chart.tenMinutes', 7200: 'service.twoHours', 86_400: 'chart.day', 604_800: 'service.week' } as const
  return (
    <section aria-label={t('service.traffic')}>
      <div className="tools">
        <Select aria-label={t('chart.span')} value={span} onChange={setSpan} options={spans.map((s) => ({ value: s, label: t(spanNames[s]) }))} />
        <IntervalPicker value={every} onChange={setEvery} />
        <span className="muted num" role="status">{found.dataUpdatedAt > 0 && t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
      </div>
      <div className="charts">
        <Chart {...common} title={t('service.requests')} series={means('per_second')} format={(v) => t('service.perSecond', { n: n(v, 1) })} tick={(v) => n(v, 2)} />
        <Chart {...common} title={t('service.errors')} series={lines((p) => (p.requests > 0 ? (100 * wrong(p)) / p.requests : null))} format={(v) => `${n(v, 2)} %`} />
        <Chart {...common} title={t('service.p50')} series={means('p50_ms')} format={ms} />
        <Chart {...common} title={t('service.p95')} series={means('p95_ms')} format={ms} />
      </div>
    </section>
  )
}
