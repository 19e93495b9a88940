import { useQuery } from '@tanstack/react-query'
import { useApp } from '../../app/context'
import { apiUrl, Problem, request } from '../../api/client'
import type { Page, Ref } from '../../api/kinds'
import { isRef } from '../../components/names'

/** Services of a project whose models are looked at. */
const most = 20

/** What a model does, as its manifest says it; null: it says nothing. */
async function taskOf(model: Ref, signal: AbortSignal): Promise<string | null> {
  const answer = await fetch(apiUrl(`/model-sets/${model.of?.id ?? 0}/versions/${model.id}/content`, { path: 'ingot-model.json' }), { signal })
  const manifest: unknown = answer.ok ? await answer.json().catch(() => null) : null
  const task = typeof manifest === 'object' && manifest !== null ? (manifest as { task?: unknown }).task : null
  return typeof task === 'string' ? task : null
}

/** The names of services whose production does what this model does; those that serve a version of the same model first. */
export function useSameTask(model: Ref | null, enabled: boolean): string[] {
  const { project, kind } = useApp()
  const versions = kind('service_version')
  const found = useQuery({
    queryKey: ['objects', 'service_version', 'same-task', project?.id ?? 0, model?.id ?? 0],
    queryFn: async ({ signal }) => {
      if (!model || !versions?.collection) return []
      const { items } = await request<Page>(`/${versions.collection}`, { query: { project: project?.id, filter: 'role = "production" and model_version != null', limit: most }, signal })
      const mine = await taskOf(model, signal)
      const same = await Promise.all(items.map(async (item) => {
        const [served, service] = [item['model_version'], item['service']]
        if (!isRef(served) || !isRef(service)) return []
        const sibling = served.of?.id === model.of?.id
        return sibling || (mine !== null && (await taskOf(served, signal)) === mine) ? [{ name: service.name, sibling }] : []
      }))
      return same.flat().sort((a, b) => Number(b.sibling) - Number(a.sibling) || a.name.localeCompare(b.name)).map((one) => one.name)
    },
    enabled: enabled && model !== null,
    retry: (count, error) => count < 2 && (!(error instanceof Problem) || error.status >= 502),
  })
  return found.data ?? []
}
