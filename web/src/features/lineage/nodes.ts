import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Kind } from '../../api/kinds'
import { childUrl, itemUrl, lineageUrl, versionUrl } from '../../app/links'

export type Graph = Schema<'Lineage'>
export type GraphNode = Graph['nodes'][number]

export function useGraph(kind: string, id: number) {
  return useQuery({
    queryKey: ['objects', kind, 'graph', id],
    queryFn: ({ signal }) => request<Graph>('/lineage', { query: { kind, id }, signal }),
  })
}

/** The page of a node, where there is one, with its own lineage open; else the page of its lineage alone. */
export function nodeUrl(node: GraphNode, kind: (name: string) => Kind | undefined): string | null {
  const project = node.project ?? null
  const own = kind(node.kind)
  const id = node.id
  if (!node.visible || id === undefined || !project?.name || node.kind === 'user') return null
  const place = { id: project.id, name: project.name }
  const parent = own?.parent ? kind(own.parent) : undefined
  const number = Number(/^v(\d+)$/.exec(node.name ?? '')?.[1])
  if (own && parent && node.of) {
    const page = childUrl(own, id, parent, node.of.id, place)
    if (page) return `${page}?tab=lineage`
    if (['dataset', 'algorithm_set', 'model_set'].includes(parent.name) && number) return `${versionUrl(parent, node.of.id, number, place)}?tab=lineage`
    if (parent.name === 'service') return `${itemUrl(parent, node.of.id, place) ?? ''}?tab=lineage&version=${id}`
  }
  if (own?.name === 'label_task') return `${itemUrl(own, id, place) ?? ''}?tab=lineage`
  if (own?.name === 'environment') return itemUrl(own, id, place)
  return lineageUrl(place.name, node.kind, id)
}
