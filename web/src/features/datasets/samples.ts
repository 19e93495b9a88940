import { useQuery } from '@tanstack/react-query'
import { apiUrl, request, send, type Schema } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { listPage } from '../../api/objects'
import { normalize, palette } from '../label-sets/model'

export type Shape = Schema<'AnnotationShape'>
export type Annotation = Schema<'Annotation'>
export type Sample = Schema<'Sample'>
export type SamplePage = Schema<'SampleList'>
export type SampleState = Sample['state']

export const sampleStates = ['unannotated', 'annotated', 'machine', 'review', 'accepted', 'rejected', 'cleaned'] as const satisfies readonly SampleState[]

export interface SampleFilter {
  q?: string
  state?: string
  label?: string
}

/** A version of a dataset, an algorithm or a model, with where it is. */
export interface Version {
  kind: Kind
  parentKind: Kind
  parent: Item
  item: Item
  /** Of the API: /datasets/3/versions/7. */
  path: string
  /** Whether this person may change it, and it can be changed at all. */
  open: boolean
  /** Whether this person may work on it: what changes no sample (measures, record files) can be done after publishing too. */
  may: boolean
}

export function listSamples(path: string, filter: SampleFilter, after: number, limit: number, signal?: AbortSignal) {
  return request<SamplePage>(`${path}/samples`, { query: { ...filter, after, limit }, signal })
}

export function thumbnailUrl(path: string, sample: { id: number; digest?: string }, side: number): string {
  // The digest is there for the browser's cache only: other bytes, another address.
  return apiUrl(`${path}/samples/${sample.id}/thumbnail`, { side, v: sample.digest?.slice(0, 12) })
}

export function contentUrl(path: string, sample: { id: number; digest: string }): string {
  return apiUrl(`${path}/samples/${sample.id}/content`, { v: sample.digest.slice(0, 12) })
}

/** How a text begins: at most so many bytes of it. */
export async function textBegin(path: string, sample: Sample, bytes: number, signal?: AbortSignal): Promise<string> {
  if (sample.size === 0) return ''
  const answer = await send(contentUrl(path, sample), { signal, headers: { Range: `bytes=0-${bytes - 1}` } })
  if (!answer.ok) throw new Error(String(answer.status))
  // The last character may have been cut in two.
  return new TextDecoder().decode(await answer.arrayBuffer(), { stream: sample.size > bytes })
}

export function useVersionNumber(kind: Kind | undefined, parentKind: Kind | undefined, parent: number, number: number) {
  return useQuery({
    queryKey: ['objects', kind?.name ?? '', 'number', parent, number],
    queryFn: async ({ signal }) => {
      if (!kind || !parentKind) return null
      const page = await listPage(kind, { parent: { kind: parentKind, id: parent } }, { filter: `number = ${number}`, limit: 1 }, signal)
      return page.items[0] ?? null
    },
    enabled: kind !== undefined && parentKind !== undefined && Number.isSafeInteger(parent) && Number.isSafeInteger(number),
  })
}

export type Statistics = Schema<'DatasetStatistics'>

export function useStatistics(version: Version) {
  return useQuery({
    queryKey: ['objects', 'dataset_version', 'statistics', version.item.id],
    queryFn: ({ signal }) => request<Statistics>(`${version.path}/statistics`, { signal }),
  })
}

export type Splits = Schema<'DatasetSplits'>

export function useSplits(version: Version) {
  return useQuery({
    queryKey: ['objects', 'dataset_version', 'splits', version.item.id],
    queryFn: ({ signal }) => request<Splits>(`${version.path}/splits`, { signal }),
  })
}

export type ColorOf = (label: string | undefined) => string

/** Colours of labels: those of the label set, else always the same one for the same name. */
export function colorsOf(labels: unknown): ColorOf {
  const known = new Map(normalize(labels).flatMap((l) => [l, ...(l.children ?? [])]).map((l) => [l.name, l.color]))
  return (label) => {
    if (!label) return '#00a2c7'
    let hash = 0
    for (const c of label) hash = (hash * 31 + (c.codePointAt(0) ?? 0)) >>> 0
    return known.get(label) ?? palette[hash % 14] ?? '#00a2c7'
  }
}

/** Every label of an annotation with how often it is used. */
export function labelCounts(annotation: Annotation): [string, number][] {
  const counts = new Map<string, number>()
  const add = (label: string | undefined) => label && counts.set(label, (counts.get(label) ?? 0) + 1)
  annotation.labels?.forEach(add)
  for (const list of [annotation.shapes, annotation.spans, annotation.segments]) list?.forEach((x) => add(x.label))
  return [...counts]
}
