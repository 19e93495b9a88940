import { useQuery, useQueryClient } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Kind, Ref } from '../../api/kinds'
import { itemUrl, listUrl, versionUrl } from '../../app/links'
import { useRefetch } from '../../components/Refresh'

export type ProjectHome = Schema<'ProjectHome'>
export type PlatformHome = Schema<'PlatformHome'>
export type Thing = Schema<'HomeThing'>
export type Step = ProjectHome['steps'][number]
export type Figure = NonNullable<NonNullable<ProjectHome['newest']>[number]['figure']>
type Reference = Schema<'Reference'>

/* What changes is told by the events of the server (api/events.ts); the interval is for what nobody tells of, as the
 * requests of services. */

export function useProjectHome(project: number) {
  const every = useRefetch()
  return useQuery({ queryKey: ['objects', 'home', project], queryFn: ({ signal }) => request<ProjectHome>(`/projects/${project}/home`, { signal }), refetchInterval: every })
}

export function usePlatformHome() {
  const every = useRefetch()
  return useQuery({ queryKey: ['objects', 'home', 0], queryFn: ({ signal }) => request<PlatformHome>('/home', { signal }), refetchInterval: every })
}

/** A reference of an answer as links take it. */
export function refOf(value: Reference | null | undefined): Ref | null {
  return value && value.name !== null ? { id: value.id, name: value.name, ...(value.of?.name ? { of: { id: value.of.id, name: value.of.name } } : {}) } : null
}

/** The page where a step is done: that of what it is done with, or a form for what it begins with. */
export function stepUrl(step: Step, kind: (name: string) => Kind | undefined, project: Ref | null): string | null {
  const own = step.kind ? kind(step.kind) : undefined
  const parent = own?.parent ? kind(own.parent) : undefined
  const number = Number(/^v(\d+)$/.exec(step.with?.name ?? '')?.[1])
  if (step.name === 'evaluate' && step.with) return newUrl(kind('evaluation'), project)
  if (parent && step.with?.of && number) {
    const page = versionUrl(parent, step.with.of.id, number, project)
    return step.name === 'label' ? `${page}/label` : page
  }
  if (step.with && own) return itemUrl(own, step.with.id, project)
  return step.name === 'data' ? newUrl(kind('dataset'), project) : null
}

function newUrl(kind: Kind | undefined, project: Ref | null): string | null {
  const url = kind && listUrl(kind, project)
  return url ? `${url}?new=1` : null
}

interface Preferences {
  home?: { hidden?: number[] }
}

const preferencesKey = ['preferences'] as const
/** Projects whose steps somebody put away; the oldest are forgotten. */
const remembered = 200

/** Whether this person put the steps of the project away, kept on the server. Null: not known yet. */
export function useHiddenSteps(project: number): { hidden: boolean | null; hide: (on: boolean) => Promise<void> } {
  const client = useQueryClient()
  const found = useQuery({ queryKey: preferencesKey, queryFn: ({ signal }) => request<Preferences>('/profile/preferences', { signal }), staleTime: 300_000 })
  return {
    hidden: found.data ? (found.data.home?.hidden ?? []).includes(project) : null,
    hide: async (on) => {
      const now = await request<Preferences>('/profile/preferences')
      const others = (now.home?.hidden ?? []).filter((id) => id !== project)
      const all = { ...now, home: { ...now.home, hidden: on ? [...others, project].slice(-remembered) : others } }
      await request('/profile/preferences', { method: 'PUT', body: all })
      client.setQueryData(preferencesKey, all)
    },
  }
}
