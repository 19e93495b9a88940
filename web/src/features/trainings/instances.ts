import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'

/** Points are step, time in microseconds, value. */
export type MetricSeries = Schema<'TrainingMetrics'>['series'][number]
export type Lineage = Schema<'TrainingLineage'>
export type LineageVersion = Schema<'LineageVersion'>

export function useLineage(path: string, id: number, enabled = true) {
  return useQuery({
    queryKey: ['objects', 'training_instance', 'lineage', id],
    queryFn: ({ signal }) => request<Lineage>(`${path}/lineage`, { signal }),
    enabled,
  })
}
