import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { request, send, apiUrl, Problem, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'
import type { Annotation } from '../datasets/samples'

export type Traffic = Schema<'ServiceTraffic'>
export type TrafficPoint = Traffic['versions'][number]['points'][number]

export type Replica = Schema<'ServiceReplicas'>['items'][number]

/** What a model says of one input. */
export interface Prediction {
  annotation: Annotation & { embedding?: number[] }
  width?: number
  height?: number
  model?: string
  version?: string
  times_ms?: Partial<Record<'queue' | 'prepare' | 'run' | 'read', number>>
}

/** What the canary did on the golden dataset version, as the service's field says it. */
export interface GoldenResult {
  state: 'evaluating' | 'kept' | 'broken' | 'failed'
  production: number
  canary: number
  production_evaluation: number | null
  canary_evaluation: number | null
  figure?: string
  production_value?: number | null
  canary_value?: number | null
  samples?: number
  agree?: number
  reason?: string
  reason_zh?: string
}

export function goldenOf(service: Item): GoldenResult | null {
  return (service['golden_result'] as GoldenResult | null | undefined) ?? null
}

export function useReplicas(service: number) {
  return useQuery({
    queryKey: ['objects', 'service', 'replicas', service],
    queryFn: async ({ signal }) => (await request<Schema<'ServiceReplicas'>>(`/services/${service}/replicas`, { signal })).items,
    refetchInterval: 3000,
  })
}

/** What its model takes and answers; asked for only where a model answers. */
export function useServiceModel(service: number, enabled: boolean) {
  return useQuery({
    queryKey: ['objects', 'service', 'model', service],
    queryFn: ({ signal }) => request<Schema<'ServiceModel'>>(`/services/${service}/model`, { signal }),
    enabled,
  })
}

export function useServiceEvents(service: number) {
  return useQuery({
    queryKey: ['objects', 'service', 'events', service],
    queryFn: async ({ signal }) => (await request<Schema<'ServiceEvents'>>(`/services/${service}/events`, { signal })).items,
  })
}

/** The last `span` seconds, in about 240 steps. */
export function useTraffic(service: number, span: number, every: number) {
  return useQuery({
    queryKey: ['traffic', service, span],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const to = Date.now()
      return request<Traffic>(`/services/${service}/traffic`, { query: { from: new Date(to - span * 1000).toISOString(), to: new Date(to).toISOString(), points: 240 }, signal })
    },
    refetchInterval: every > 0 ? every : false,
  })
}

function joined(input: Blob, manifest: object): FormData {
  const parts = new FormData()
  parts.append('manifest', new Blob([JSON.stringify(manifest)], { type: 'application/json' }), 'ingot-model.json')
  parts.append('file', input, 'input')
  return parts
}

/** Sends one picture, text or sound as the body, with thresholds in place of the model's and the manifest that is to be followed where there are such; the milliseconds are those of the whole way. */
export async function predict(path: string, input: Blob, thresholds: Readonly<Record<string, number>> = {}, manifest?: object): Promise<{ answer: Prediction; text: string; ms: number }> {
  const begun = performance.now()
  const how = manifest ? { body: joined(input, manifest) } : { body: input, headers: { 'Content-Type': input.type || 'application/octet-stream' } }
  const options = new URLSearchParams(Object.entries(thresholds).map(([name, value]) => [name, String(value)])).toString()
  const answer = await send(`${apiUrl(path)}${options && (path.includes('?') ? '&' : '?')}${options}`, { method: 'POST', ...how })
  const text = await answer.text()
  const ms = performance.now() - begun
  if (!answer.ok) {
    const { error, ...problem } = parse(text)
    // What the model's server says has no code of the platform's.
    throw new Problem(answer.status, typeof error === 'string' ? { code: 'invalid', detail: error, field: typeof problem['field'] === 'string' ? problem['field'] : null } : (problem as ConstructorParameters<typeof Problem>[1]))
  }
  return { answer: parse(text) as unknown as Prediction, text, ms }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { code: 'unavailable' }
  }
}

/** What is left of a prediction above a threshold: shapes, spans and labels with lower scores go. */
export function above(annotation: Annotation, threshold: number): Annotation {
  const passes = (one: { score?: number }) => one.score === undefined || one.score >= threshold
  return { ...annotation, shapes: annotation.shapes?.filter(passes), spans: annotation.spans?.filter(passes) }
}

/** Labels with their scores, best first. */
export function ranking(annotation: Annotation, most: number): [label: string, score: number][] {
  const scores = Object.entries(annotation.scores ?? {}).flatMap(([label, score]) => (typeof score === 'number' ? [[label, score] as [string, number]] : []))
  return scores.sort((a, b) => b[1] - a[1]).slice(0, most)
}

/** Whole per cent and tenths: 100 thousandths are "10 %". */
export function shareText(thousandths: number): string {
  return `${thousandths / 10} %`
}

export function isServing(item: Item): boolean {
  return item['state'] === 'serving' || item['state'] === 'degraded'
}
