import { useQuery } from '@tanstack/react-query'
import { Problem, request, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'

export type Access = Schema<'EnvironmentAccess'>
export type Tool = Access['tools'][number]

/** How a running environment is reached. Tools start after the container: asked again until all have. */
export function useAccess(item: Item) {
  const running = item['state'] === 'running'
  return useQuery({
    queryKey: ['objects', 'environment', 'access', item.id],
    queryFn: ({ signal }) => request<Access>(`/environments/${item.id}/access`, { signal }),
    enabled: running,
    refetchInterval: (query) => (query.state.data && query.state.data.ssh && query.state.data.tools.every((tool) => tool.state !== 'starting') ? 20_000 : 1500),
  })
}

export interface Folder {
  /** Below /workspace. */
  path: string
  mounted: boolean
}

/** The folders in a folder of its /workspace; none where there is no such folder. */
export function useFolders(item: Item, folder: string, wanted: boolean): Folder[] {
  const found = useQuery({
    queryKey: ['objects', 'environment', 'folders', item.id, folder],
    queryFn: async ({ signal }) => {
      try {
        return (await request<Schema<'EnvironmentFolders'>>(`/environments/${item.id}/folders`, { query: { folder: folder || undefined }, signal })).items
      } catch (error) {
        if (error instanceof Problem && error.status === 422) return []
        throw error
      }
    },
    enabled: wanted,
    retry: false,
  })
  return wanted ? (found.data ?? []).map(({ name, mounted }) => ({ path: folder ? `${folder}/${name}` : name, mounted })) : []
}
