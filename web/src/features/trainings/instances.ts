import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request } from '../../api/client'
import type { Ref } from '../../api/kinds'

export interface MetricSeries {
  name: string
  /** Step, time in microseconds, value. */
  points: [step: number, at: number, value: number][]
}

export function useMetrics(path: string, id: number, live: boolean, every: number) {
  return useQuery({
    queryKey: ['metrics', id, live],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await request<{ series: MetricSeries[] }>(`${path}/metrics`, { signal })).series,
    refetchInterval: live && every > 0 ? every : false,
  })
}

export interface LineageVersion {
  kind: string
  set: Ref
  version: Ref
  digest?: string
}

export interface Lineage {
  training?: Ref | null
  run?: string
  instance?: number
  job?: number
  data?: (LineageVersion | null)[]
  code?: LineageVersion | null
  base_model?: LineageVersion | null
  resumed_from?: Ref | null
  spec?: Ref | null
  image?: string
  command?: string
  env?: Record<string, string>
  nodes?: number
  model_version?: LineageVersion | null
}

export function useLineage(path: string, id: number) {
  return useQuery({
    queryKey: ['objects', 'training_instance', 'lineage', id],
    queryFn: ({ signal }) => request<Lineage>(`${path}/lineage`, { signal }),
  })
}
