import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Page } from '../../api/kinds'

export type ToolRow = Schema<'Tool'>

/** Whether a tool is installed on the server, and what it takes. While it is being installed the task is watched; then this. */
export function useTool(name: string, wanted = true) {
  return useQuery({
    queryKey: ['objects', 'tool', 'some', name],
    queryFn: async ({ signal }) => ((await request<Page>('/tools', { query: { filter: `name = "${name}"` }, signal })).items[0] ?? null) as unknown as ToolRow | null,
    enabled: wanted,
    refetchInterval: ({ state }) => (state.data?.state === 'fetching' ? 2000 : false),
  })
}
