import type { Kind, Ref } from '../api/kinds'

// Addresses of pages. Everything that links goes through here.
export function projectUrl(name: string): string {
  return `/p/${encodeURIComponent(name)}`
}

export function myTasksUrl(project: string): string {
  return `${projectUrl(project)}/my-tasks`
}

export function listUrl(kind: Kind, project: Ref | null): string | null {
  if (kind.scope === 'project') return project ? `${projectUrl(project.name)}/${kind.plural}` : null
  if (kind.scope === 'own') return `/profile/${kind.plural}`
  if (kind.scope === 'platform') return `/admin/${kind.plural}`
  return null
}

export function itemUrl(kind: Kind, id: number, project: Ref | null): string | null {
  const list = listUrl(kind, project)
  return list && kind.scope !== 'own' ? `${list}/${id}` : list
}

/** The page of a numbered version of a dataset, an algorithm or a model. */
export function versionUrl(parent: Kind, id: number, number: number, project: Ref | null): string {
  return `${itemUrl(parent, id, project) ?? ''}/v/${number}`
}

/** Children that have a page of their own besides versions. */
const pagesOfChildren = ['training_instance']

export function childUrl(kind: Kind, id: number, parent: Kind, parentId: number, project: Ref | null): string | null {
  const url = itemUrl(parent, parentId, project)
  return url && pagesOfChildren.includes(kind.name) ? `${url}/${kind.plural}/${id}` : null
}

/** All runs of a project's trainings; some of them beside each other. */
export function runsUrl(project: string): string {
  return `${projectUrl(project)}/runs`
}

export function compareRunsUrl(project: string, ids: readonly number[]): string {
  return `${runsUrl(project)}/compare?runs=${ids.join(',')}`
}

/** What made the answer with this X-Request-Id. */
export function requestUrl(project: string, id: string): string {
  return `${projectUrl(project)}/lineage/request/${encodeURIComponent(id)}`
}

/** Where something came from, of kinds whose page does not tell it. */
export function lineageUrl(project: string, kind: string, id: number): string {
  return `${projectUrl(project)}/lineage/${encodeURIComponent(kind)}/${id}`
}

/** Where to go after signing in: only pages of our own. */
export function safeNext(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) && !next.startsWith('/sign-in') ? next : '/'
}

/** The manuals of docs/. */
export type Manual =
  | 'algorithms' | 'annotations' | 'api' | 'built-in-models' | 'cli' | 'containers' | 'data' | 'demo' | 'environments' | 'evaluation' | 'gateway' | 'images' | 'inference'
  | 'jobs' | 'labelling' | 'learning' | 'lineage' | 'models' | 'operating' | 'record-format' | 'runtimes' | 'sdk' | 'serving' | 'sign-in' | 'training'

export function docsUrl(manual?: Manual, anchor?: string): string {
  return `/docs${manual ? `/${manual}` : ''}${anchor ? `#${anchor}` : ''}`
}

/** What to read about the objects of a kind. */
const manualOf: Partial<Record<string, readonly [Manual, string?]>> = {
  dataset: ['data'], label_set: ['labelling', 'labels-change'], label_task: ['labelling', 'tasks'], team: ['labelling', 'teams'], algorithm_set: ['algorithms'], model_set: ['models'],
  training: ['training'], environment: ['environments'], job: ['jobs'], service: ['serving'], evaluation: ['evaluation'], image: ['images'], runtime: ['runtimes'], tool: ['environments', 'tools'], spec: ['jobs', 'devices'],
  node: ['jobs', 'devices'], node_pool: ['jobs', 'who-runs-when'], token: ['sign-in', 'tokens'], session: ['sign-in', 'sessions'], role: ['sign-in', 'permissions'], user: ['sign-in'], group: ['sign-in', 'permissions'],
}

export function manualUrl(kind: string): string | null {
  const found = manualOf[kind]
  return found ? docsUrl(...found) : null
}

/** The reference of the API: a noun, an operation of it. */
export function referenceUrl(noun?: string, operation?: string): string {
  return `/docs/reference${noun ? `/${noun}` : ''}${operation ? `#${operation}` : ''}`
}
