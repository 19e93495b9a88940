import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client'
import type { Item, Words } from '../../api/kinds'

export interface Tool {
  name: string
  title: Words
  state: 'starting' | 'ready' | 'missing'
  url: string | null
  reason?: string | null
  reason_zh?: string | null
}

export interface Access {
  tools: Tool[]
  ssh: { host: string; port: number; user: string; command: string; password?: string | null } | null
  idle_s: number | null
}

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
