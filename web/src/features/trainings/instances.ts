import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'

/** Points are step, time in microseconds, value. */
export type MetricSeries = Schema<'TrainingMetrics'>['series'][number]
export type Lineage = Schema<'TrainingLineage'>
export type LineageVersion = Schema<'LineageVersion'>

export function useMetrics(path: string, id: number, live: boolean, every: number) {
  return useQuery({
    queryKey: ['metrics', id, live],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await request<Schema<'TrainingMetrics'>>(`${path}/metrics`, { query: { points: 1000 }, signal })).series,
    refetchInterval: live && every > 0 ? every : false,
  })
}

export function useLineage(path: string, id: number, enabled = true) {
  return useQuery({
    queryKey: ['objects', 'training_instance', 'lineage', id],
    queryFn: ({ signal }) => request<Lineage>(`${path}/lineage`, { signal }),
    enabled,
  })
}
