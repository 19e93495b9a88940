import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { request } from './client'
import { leaveSession } from './lost'
import type { Item, Kind, Kinds, Verb } from './kinds'
import type { operations } from './schema'

type Answer<T extends keyof operations> = operations[T] extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : never

export type Session = Answer<'get_session'>
export type SignInWays = Answer<'get_sign_in'>

export const sessionKey = ['session'] as const

export function useSession() {
  return useQuery({
    queryKey: sessionKey,
    queryFn: () => request<Session>('/session'),
    staleTime: 60_000,
    retry: false,
  })
}

export function useKinds() {
  return useQuery({
    queryKey: ['kinds'],
    queryFn: () => request<Kinds>('/kinds'),
    staleTime: Infinity,
  })
}

/** A grant is a permission or a pattern of one: "*", "dataset.*", "*.read". */
export function grants(granted: readonly string[], wanted: string): boolean {
  const [kind, verb] = wanted.split('.')
  return granted.some(
    (g) => g === wanted || g === '*' || g === '*.*' || g === `${kind}.*` || g === `*.${verb}`,
  )
}

export function may(session: Session, permission: string | undefined, project?: number): boolean {
  if (!permission || session.user.administrator) return true
  if (grants(session.permissions, permission)) return true
  const own = session.projects.find((p) => p.id === project)
  return own !== undefined && grants(own.permissions, permission)
}

/** Labels and reviews what one is given, and sees nothing else of the project: "My tasks" is all there is. */
export function isWorker(session: Session, project: number | undefined): boolean {
  const has = (permission: string) => may(session, permission, project)
  return project !== undefined && (has('annotation.update') || has('review.update')) && !has('dataset.read')
}

/** Whether to offer a verb of a kind. The server decides in the end; this only keeps useless buttons away. */
export function offers(session: Session, kind: Kind, verb: Verb, project?: number, item?: Item): boolean {
  if (!kind.verbs.includes(verb)) return false
  if (kind.scope === 'own') return true
  // What others made may need more than what one made oneself.
  if (verb === 'delete' && item && item.created_by?.id !== session.user.id && kind.permissions.delete_any) return may(session, kind.permissions.delete_any, project)
  const name = kind.permissions[verb] ?? kind.permissions[verb === 'list' ? 'read' : verb]
  return may(session, name, project)
}

/** Leaves this user's pages for good, typed text and all. */
export function leaveFor(url: string): void {
  leaveSession()
  window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true, once: true })
  window.location.assign(url)
}

export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  return useCallback(async () => {
    await request('/session', { method: 'DELETE', quiet: true }).catch(() => undefined)
    client.clear()
    leaveFor('/sign-in')
  }, [client])
}
