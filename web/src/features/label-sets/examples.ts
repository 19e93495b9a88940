// Examples of labels: small pictures that show how a label is meant, or how not.
import { apiUrl, request } from '../../api/client'

export interface Example {
  id: number
  label: string
  caption: string | null
  wrong: boolean
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

export async function listExamples(set: number, signal?: AbortSignal): Promise<Example[]> {
  const all: Example[] = []
  let cursor: string | undefined
  do {
    const page = await request<{ items: Example[]; next?: string | null }>(`/label-sets/${set}/examples`, { query: { limit: 200, sort: 'id', cursor }, signal })
    all.push(...page.items)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return all
}

export const exampleKey = (set: number) => ['objects', 'label_example', set] as const

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
