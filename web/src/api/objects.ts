import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
  type InvalidateQueryFilters,
  type Query,
  type QueryClient,
} from '@tanstack/react-query'
import { Problem, request } from './client'
import type { Item, Kind, Page } from './kinds'
import { keepMatches } from './matches'

/** Where objects of a kind live: the project for project kinds, the parent object for children. */
export interface Place {
  project?: number
  parent?: { kind: Kind; id: number }
}

export interface ListParams {
  q?: string
  filter?: string
  sort?: string
  mine?: boolean
}

export const pageSize = 50

export function collectionPath(kind: Kind, place: Place): string {
  return place.parent ? `/${place.parent.kind.plural}/${place.parent.id}/${kind.plural}` : `/${kind.plural}`
}

export function itemPath(kind: Kind, place: Place, id: number): string {
  return `${collectionPath(kind, place)}/${id}`
}

function placeQuery(kind: Kind, place: Place): { project?: number } {
  return kind.scope === 'project' ? { project: place.project } : {}
}

export function listPage(kind: Kind, place: Place, params: ListParams & { limit?: number; cursor?: string; count?: boolean }, signal?: AbortSignal) {
  return request<Page>(collectionPath(kind, place), {
    query: {
      ...placeQuery(kind, place),
      q: params.q,
      filter: params.filter,
      sort: params.sort,
      mine: params.mine ? true : undefined,
      limit: params.limit ?? pageSize,
      cursor: params.cursor,
      count: params.count ? true : undefined,
    },
    signal,
  })
}

const retry = (count: number, error: Error) =>
  count < 2 && (!(error instanceof Problem) || error.status === 0 || error.status >= 502)

export function listKey(kind: Kind, place: Place, params: ListParams) {
  return ['objects', kind.name, 'list', place.project ?? 0, place.parent?.id ?? 0, params] as const
}

export function useList(kind: Kind, place: Place, params: ListParams) {
  return useInfiniteQuery({
    queryKey: listKey(kind, place, params),
    queryFn: ({ pageParam, signal }) =>
      listPage(kind, place, { ...params, cursor: pageParam ?? undefined, count: pageParam === null }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
    retry,
  })
}

export function allItems(data: InfiniteData<Page> | undefined): Item[] {
  return data?.pages.flatMap((page) => keepMatches(page).items) ?? []
}

export function useCount(kind: Kind, place: Place, enabled = true) {
  return useQuery({
    queryKey: ['objects', kind.name, 'count', place.project ?? 0, place.parent?.id ?? 0],
    queryFn: async ({ signal }) => (await listPage(kind, place, { limit: 1, count: true }, signal)).total ?? 0,
    enabled,
    retry,
  })
}

export function itemKey(kind: Kind, id: number) {
  return ['objects', kind.name, 'item', id] as const
}

export function useItem(kind: Kind | undefined, place: Place, id: number, enabled = true) {
  return useQuery({
    queryKey: ['objects', kind?.name ?? '', 'item', id],
    queryFn: ({ signal }) => request<Item>(itemPath(kind as Kind, place, id), { signal }),
    enabled: enabled && kind !== undefined && Number.isSafeInteger(id),
    retry,
  })
}

/** What takes a page away: that nothing came, or that the object is gone or forbidden. A refresh that fails does not, nor
 * what was typed into the page. */
export function lasting({ error, data }: { error: Error | null; data: unknown }): Error | null {
  const over = error instanceof Problem && (error.status === 403 || error.status === 404)
  return data === undefined || over ? error : null
}

export interface Saved {
  values: Record<string, unknown>
  id?: number
  revision?: number
}

export function useSave(kind: Kind, place: Place) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ values, id, revision }: Saved) =>
      id === undefined
        ? request<Item>(collectionPath(kind, place), {
            method: 'POST',
            body: kind.scope === 'project' ? { ...values, project: place.project } : values,
          })
        : request<Item>(itemPath(kind, place, id), { method: 'PATCH', body: values, revision }),
    onSuccess: (item) => {
      client.setQueryData(itemKey(kind, item.id), item)
      return invalidate(client, kind.name)
    },
  })
}

export function useDelete(kind: Kind, place: Place) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (item: Item) => request<undefined>(itemPath(kind, place, item.id), { method: 'DELETE' }),
    onSuccess: (_, item) => {
      deleted.add(`${kind.name} ${item.id}`)
      return invalidate(client, kind.name, true)
    },
  })
}

// What was deleted here: its page is still shown until the lists are fresh, and must not be told meanwhile that it is gone.
const deleted = new Set<string>()

function isDeleted({ queryKey: [, kind, what, id], state }: Query): boolean {
  if (what !== 'item' && what !== 'number') return false
  const shown = what === 'item' ? id : (state.data as Item | null | undefined)?.id
  return deleted.has(`${String(kind)} ${String(shown)}`)
}

/** Fetches anew what is on the screen. A first fetch that is under way may have been answered before the change, and is not
 * begun anew by the library: it is followed by another. */
async function refresh(client: QueryClient, filters: InvalidateQueryFilters): Promise<void> {
  const wanted = { ...filters, predicate: (query: Query) => !isDeleted(query) && (filters.predicate?.(query) ?? true) }
  const first = new Set(client.getQueryCache().findAll({ ...wanted, fetchStatus: 'fetching' }).filter((query) => query.state.data === undefined))
  await client.invalidateQueries(wanted)
  if (first.size > 0) await client.invalidateQueries({ predicate: (query) => first.has(query) })
}

export function invalidate(client: QueryClient, kind: string, listsOnly = false): Promise<void> {
  return refresh(client, { queryKey: ['objects', kind], predicate: (query) => !listsOnly || (query.queryKey[2] !== 'item' && query.queryKey[2] !== 'number') })
}

/** Now changes are told of; those before now may have been missed by all that has been answered. */
export function refreshAnswered(client: QueryClient): void {
  void refresh(client, { queryKey: ['objects'], predicate: (query) => query.state.data !== undefined })
}

// A list that was scrolled far is not loaded again page by page because of somebody's change.
const fewPages = 4

/** After changes by others: refreshes what is on the screen; long lists only learn that they are out of date. */
export function refreshKind(client: QueryClient, kind: string): void {
  for (const query of client.getQueryCache().findAll({ queryKey: ['objects', kind] })) {
    const pages = (query.state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0
    if (pages > fewPages) query.invalidate()
    else void refresh(client, { queryKey: query.queryKey, exact: true })
  }
}
