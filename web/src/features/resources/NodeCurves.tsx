import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { Chart, clock } from '../../components/Chart'
import { banded } from '../../components/chart'
import { formatBytes } from '../../components/format'
import { useRefresh } from '../../components/Refresh'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { spans } from '../jobs/Curves'
import type { SpecialProps } from '../objects/special'

type Curves = Schema<'NodeCurves'>
type Values = Curves['items'][number]['low']

/** What all that runs on a node uses. */
export function NodeCurves({ item: node }: SpecialProps) {
  const { t, n, language } = useI18n()
  const [span, setSpan] = useState<number>(600)
  const every = useRefresh()
  const [at, setAt] = useState<number | null>(null)
  const found = useQuery({
    queryKey: ['node-curves', node.id, span],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<Curves>(`/nodes/${node.id}/curves`, { query: { span }, signal }),
    refetchInterval: every > 0 ? (span === 600 ? every : Math.max(every, 30_000)) : false,
  })
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const items = found.data?.items ?? []
  const limits = found.data?.limits
  const times = items.map((p) => Date.parse(p.at))
  const to = Math.max(found.dataUpdatedAt || Date.now(), times[times.length - 1] ?? 0)
  const line = (name: keyof Values, title: string) => [{ name: title, ...banded<Values>(items, (_, i) => times[i] ?? 0, (p) => p[name]) }]
  const common = { from: to - span * 1000, to, gap: (found.data?.step_s ?? 1) * 5000, at, onAt: setAt, limitTitle: t('chart.limit') }
  return (
    <section className="node-curves" aria-label={t('job.curves')}>
      <h2>{t('job.curves')}</h2>
      <div className="tools">
        <Select aria-label={t('chart.span')} value={span} onChange={setSpan} options={spans.map((s) => ({ value: s, label: t(s === 600 ? 'chart.tenMinutes' : 'chart.day') }))} />
        <span className="muted num" role="status">{found.dataUpdatedAt > 0 && t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
      </div>
      <div className="charts">
        <Chart {...common} title={t('chart.cpu')} limit={limits?.cpus ?? null} series={line('cpus', t('chart.cpu'))} format={(v) => t('chart.cores', { n: n(v, 2) })} tick={(v) => n(v, 2)} />
        <Chart {...common} title={t('chart.memory')} limit={limits?.memory ?? null} series={line('memory', t('chart.memory'))} format={formatBytes} binary />
        <Chart {...common} title={t('chart.disk')} limit={limits?.disk ?? null} series={line('disk', t('chart.disk'))} format={formatBytes} binary />
      </div>
    </section>
  )
}
