import type { Item } from '../../api/kinds'
import type { Schema } from '../../api/client'

export type Latency = NonNullable<Schema<'Evaluation'>['latency']>

export function latencyOf(item: Item): Latency | null {
  const latency = item['latency'] as Latency | null | undefined
  return latency && typeof latency.p50 === 'number' ? latency : null
}
