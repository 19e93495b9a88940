import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import type { Values } from '../../components/merge'

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

/** What a run was started with, as values for the form of a new training. */
export function startedWith(training: Kind, run: Item): Values {
  const copied = training.fields.filter((field) => field.create && field.name !== 'name' && run[field.name] !== null && run[field.name] !== undefined)
  return Object.fromEntries(copied.map((field) => [field.name, run[field.name]]))
}
