import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'
import { Chart, clock } from '../../components/Chart'
import { banded } from '../../components/chart'
import { formatBytes } from '../../components/format'
import { RefreshPicker, useRefetch } from '../../components/Refresh'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { Meters } from './Meter'

type Values = Schema<'ProjectOverview'>['curves']['items'][number]['low']

const day = 86_400_000

function useOverview(project: number) {
  const every = useRefetch()
  return useQuery({
    queryKey: ['overview', project],
    queryFn: ({ signal }) => request<Schema<'ProjectOverview'>>(`/projects/${project}/overview`, { query: { points: 480 }, signal }),
    refetchInterval: every,
  })
}

/** What the project may use and uses, now and over the last day. */
export function ProjectUse({ item }: { item: Item }) {
  const found = useOverview(item.id)
  const { t, language } = useI18n()
  const data = found.data
  if (found.error && !data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  return (
    <>
      <section className="block">
        <div className="section-head">
          <h2>{t('project.quota')}</h2>
          <span className="grow" />
          {found.dataUpdatedAt > 0 && <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>}
          <RefreshPicker />
        </div>
        <Meters most={data?.quota} reserved={data?.reserved} used={data?.used} />
      </section>
      {data && <DayCurves overview={data} now={found.dataUpdatedAt} />}
    </>
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
        <Chart {...common} title={t('meter.cpu')} limit={overview.quota.cpus} series={line('cpus', (p) => p.cpus)} format={(v) => t('chart.cores', { n: n(v, 2) })} tick={(v) => n(v, 2)} />
        <Chart {...common} title={t('meter.memory')} limit={overview.quota.memory} series={line('memory', (p) => p.memory)} format={formatBytes} binary />
        {kinds.map((kind) => <Chart key={kind} {...common} title={kind} limit={overview.quota.accelerators?.[kind]} series={line(kind, (p) => p.accelerators?.[kind] ?? null)} format={(v) => n(v, 2)} />)}
      </div>
    </section>
  )
}
