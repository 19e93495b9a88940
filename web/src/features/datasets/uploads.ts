// Uploads go on while one looks at other pages, so they live outside of them. tus-js-client comes with the first one.
import { useSyncExternalStore } from 'react'
import { Problem, request } from '../../api/client'
import { sessionAgain } from '../../api/lost'
import { addPoint, retryDelays, type Point } from './uploadModel'
import type { Task } from '../tasks/tasks'

export interface ImportOptions {
  format?: string
  every?: number
  per_second?: number
  replace?: boolean
}

export interface Entry {
  /** With its folders. */
  name: string
  file: File
  sent: number
  state: 'waiting' | 'sending' | 'done' | 'failed'
  upload: string | null
}

export interface Batch {
  id: number
  /** The version's address in the API and on the pages. */
  path: string
  url: string
  title: string
  project: number
  entries: Entry[]
  options: ImportOptions
  /** What the import is asked with; all uploads and the options when there is none. */
  body?: (entries: readonly Entry[]) => Record<string, unknown>
  state: 'sending' | 'paused' | 'failed' | 'starting' | 'started'
  error: unknown
  points: Point[]
  task: number | null
}

// Uploads of few bytes are made anew sooner than looked up.
const remembered = 1 << 20
const atOnce = 3
/** One import takes this many files. */
const most = 1000

const paused = new Error('paused')

let batches: readonly Batch[] = []
const listeners = new Set<() => void>()
const running = new Map<Entry, { abort: () => Promise<void> }>()
let counter = 0
let timer: number | undefined

function told(): void {
  batches = [...batches]
  if (timer !== undefined) return
  timer = window.setTimeout(() => {
    timer = undefined
    for (const listener of listeners) listener()
  }, 100)
}

export function useBatches(): readonly Batch[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, () => batches)
}

export function begin(into: Pick<Batch, 'path' | 'url' | 'title' | 'project' | 'options' | 'body'>, files: { name: string; file: File }[]): void {
  for (let i = 0; i < files.length; i += most) {
    counter += 1
    const entries = files.slice(i, i + most).map((f): Entry => ({ ...f, sent: 0, state: 'waiting', upload: null }))
    const batch: Batch = { ...into, id: counter, entries, state: 'sending', error: null, points: [], task: null }
    batches = [...batches, batch]
    void go(batch)
  }
  told()
  window.addEventListener('beforeunload', warn)
}

/** Leaving the page stops uploads; they go on when the same files are given again. */
function warn(event: BeforeUnloadEvent): void {
  if (batches.some((b) => b.state === 'sending' || b.state === 'starting')) event.preventDefault()
}

export function pause(batch: Batch): void {
  batch.state = 'paused'
  for (const entry of batch.entries) {
    const upload = running.get(entry)
    running.delete(entry)
    if (entry.state === 'sending') entry.state = 'waiting'
    if (upload) void upload.abort()
  }
  batch.points = []
  told()
}

/** Goes on with what is paused or has failed. */
export function resume(batch: Batch): void {
  for (const entry of batch.entries) if (entry.state === 'failed') entry.state = 'waiting'
  batch.state = 'sending'
  batch.error = null
  batch.points = []
  told()
  void go(batch)
}

export function dismiss(batch: Batch): void {
  if (batch.state === 'sending') pause(batch)
  batches = batches.filter((b) => b !== batch)
  told()
}

async function go(batch: Batch): Promise<void> {
  const worker = async () => {
    while (batch.state === 'sending') {
      const entry = batch.entries.find((e) => e.state === 'waiting')
      if (!entry) return
      entry.state = 'sending'
      try {
        await send(batch, entry)
        entry.state = 'done'
        entry.sent = entry.file.size
      } catch (error) {
        // Who pauses may have gone on again before this is known.
        if (error === paused || batch.state !== 'sending') return
        entry.state = 'failed'
        batch.state = 'failed'
        batch.error = error
      }
      told()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (batch.state === 'sending' && batch.entries.every((e) => e.state === 'done')) await start(batch)
}

async function send(batch: Batch, entry: Entry): Promise<void> {
  if (entry.upload) return
  let stopped = false
  const fetching = { abort: async () => { stopped = true; return Promise.resolve() } }
  running.set(entry, fetching)
  const tus = await import('tus-js-client')
  if (stopped) throw paused
  await new Promise<void>((resolve, reject) => {
    const upload = new tus.Upload(entry.file, {
      endpoint: `/api/v1/uploads?project=${batch.project}`,
      retryDelays,
      chunkSize: 64 << 20,
      storeFingerprintForResuming: entry.file.size >= remembered,
      removeFingerprintOnSuccess: true,
      onProgress: (sent) => {
        entry.sent = sent
        batch.points = addPoint(batch.points, { at: Date.now(), bytes: batch.entries.reduce((sum, e) => sum + e.sent, 0) })
        told()
      },
      onError: (error) => {
        const problem = problemOf(error)
        const again = problem instanceof Problem && problem.status === 401 ? sessionAgain() : Promise.resolve(false)
        void again.then((signedIn) => {
          if (signedIn && running.has(entry)) return upload.start()
          running.delete(entry)
          reject(problem)
        })
      },
      onSuccess: () => {
        running.delete(entry)
        entry.upload = upload.url?.split('/').at(-1) ?? null
        resolve()
      },
    })
    running.set(entry, { abort: async () => { await upload.abort(); reject(paused) } })
    const found = entry.file.size >= remembered ? upload.findPreviousUploads() : Promise.resolve([])
    found.then((previous) => {
      if (previous[0]) upload.resumeFromPreviousUpload(previous[0])
      if (running.has(entry)) upload.start()
    }, reject)
  })
}

/** What the server said, or that it cannot be reached. */
function problemOf(error: unknown): unknown {
  const response = (error as { originalResponse?: { getStatus: () => number; getBody: () => string } | null }).originalResponse
  if (!response) return new Problem(0, { code: 'network' })
  try {
    return new Problem(response.getStatus(), JSON.parse(response.getBody()) as ConstructorParameters<typeof Problem>[1])
  } catch {
    return new Problem(response.getStatus(), { code: response.getStatus() >= 500 ? 'unavailable' : 'malformed' })
  }
}

async function start(batch: Batch): Promise<void> {
  batch.state = 'starting'
  told()
  try {
    const body = batch.body?.(batch.entries) ?? { uploads: batch.entries.map((e) => ({ upload: e.upload, name: e.name })), ...batch.options }
    const task = await request<Task>(`${batch.path}/import`, { method: 'POST', body })
    batch.task = task.id
    batch.state = 'started'
  } catch (error) {
    batch.state = 'failed'
    batch.error = error
  }
  told()
}
