// Examples of labels: small pictures that show how a label is meant, or how not.
import { apiUrl, request } from '../../api/client'
import type { LabelPath } from './model'

export interface Example {
  id: number
  label: string
  caption: string | null
  wrong: boolean
}

/** As its own page has it: one that may be changed. */
export interface OwnExample extends Example {
  revision: number
}

export interface ShownExample {
  url: string
  caption: string
  wrong: boolean
}

export const mostExamples = 8
export const mostBytes = 32 << 20

export const pictureOf = (set: number, example: number) => apiUrl(`/label-sets/${set}/examples/${example}/picture`)
export const pictureOfTask = (task: number, example: number) => apiUrl(`/label-tasks/${task}/examples/${example}`)

export async function listExamples(set: number, signal?: AbortSignal): Promise<OwnExample[]> {
  const all: OwnExample[] = []
  let cursor: string | undefined
  do {
    const page = await request<{ items: OwnExample[]; next?: string | null }>(`/label-sets/${set}/examples`, { query: { limit: 200, sort: 'id', cursor }, signal })
    all.push(...page.items)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return all
}

export const exampleKey = (set: number) => ['objects', 'label_example', set] as const

/** Those that name the label, in either of the ways that the platform takes. */
export const examplesOf = <T extends Example>(examples: readonly T[], { path, full }: LabelPath): T[] => examples.filter((e) => e.label === path || e.label === full)

/** Those of one label, the right ones first. */
export function shownOf(examples: readonly Example[], label: { name: string; parent?: string | null }, urlOf: (example: number) => string): ShownExample[] {
  const own = examples.filter((e) => e.label === label.name || (label.parent && e.label === `${label.parent}/${label.name}`))
  return own.toSorted((a, b) => Number(a.wrong) - Number(b.wrong)).map((e) => ({ url: urlOf(e.id), caption: e.caption ?? '', wrong: e.wrong }))
}

/** Sends a picture; the id of its upload. */
export async function sendPicture(project: number, file: File): Promise<string> {
  const tus = await import('tus-js-client')
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(file, {
      endpoint: `/api/v1/uploads?project=${project}`, retryDelays: [0, 1000, 3000], storeFingerprintForResuming: false,
      onError: reject, onSuccess: () => resolve(upload.url?.split('/').at(-1) ?? ''),
    })
    upload.start()
  })
}

export const addExample = (set: number, body: { label: string; caption: string; wrong: boolean } & ({ upload: string } | { version: number; sample: number })) =>
  request<Example>(`/label-sets/${set}/examples`, { method: 'POST', body })

export const changeExample = (set: number, { id, revision }: OwnExample, body: { caption: string; wrong: boolean }) =>
  request<OwnExample>(`/label-sets/${set}/examples/${id}`, { method: 'PATCH', body, revision })
