import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
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
