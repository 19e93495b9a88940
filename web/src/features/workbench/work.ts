// The work of a task: samples leased in batches, handed in, sent back, reviewed. One object per open task page.
import { request } from '../../api/client'
import type { Annotation } from '../../canvas'
import type { Sample } from './surface'
import type { Person } from './wire'
import type { Example } from '../label-sets/examples'

export interface Assignment {
  id: number
  task: { id: number; name: string }
  stage: 'label' | 'review'
  seat: number
  state: 'leased' | 'submitted' | 'skipped' | 'accepted' | 'rejected' | 'returned'
  until: string | null
  dataset: number
  version: number
  layer: number | null
  sample: Sample
  user: Person | null
  rejections: { by: Person | null; at: string; reason: string | null; shapes: { id: string; reason?: string }[] }[]
  for_review?: { annotator: Person | null; before: Annotation; layers?: { layer: number; user: Person | null; late?: boolean }[] } | null
}

/** What a worker's workbench needs to know of its task. */
export interface TaskBench {
  labels?: unknown
  examples?: Example[]
  annotation_type: string
  data_type: string
  instructions?: string | null
  dataset?: number
  version?: number
  require_attributes?: boolean
}

export interface Thread {
  id: number
  text: string
  shape?: string | null
  x?: number | null
  y?: number | null
  by: Person | null
  at: string
  done?: boolean
}

const act = <T>(task: number, action: string, body: unknown = {}): Promise<T> => request<T>(`/label-tasks/${task}/${action}`, { method: 'POST', body })

export const tasks = {
  bench: (task: number, signal?: AbortSignal) => request<TaskBench>(`/label-tasks/${task}/bench`, { signal }),
  next: (task: number, stage: 'label' | 'review') => act<{ items: Assignment[]; left: number }>(task, 'next', { stage }),
  heartbeat: (task: number, assignments: number[], seconds: number) => act<{ until: string }>(task, 'heartbeat', { assignments, active_seconds: seconds }),
  submit: (task: number, assignment: number, nothing: boolean, seconds: number) => act<Assignment>(task, 'submit', { assignment, nothing, active_seconds: seconds }),
  reopen: (task: number, assignment: number) => act<Assignment>(task, 'reopen', { assignment }),
  skip: (task: number, assignment: number, reason: string) => act<Assignment>(task, 'skip', { assignment, reason }),
  decide: (task: number, assignment: number, verdict: 'accept' | 'reject', reason: string | null, shapes: { id: string; reason: string }[]) =>
    act<Assignment>(task, 'decide', { assignment, verdict, ...(reason && { reason }), ...(shapes.length > 0 && { shapes }) }),
  threads: async (task: number, sample: number, signal?: AbortSignal) => (await request<{ items: Thread[] }>(`/label-tasks/${task}/threads`, { query: { sample }, signal })).items,
  ask: (task: number, sample: number, note: { text: string; shape?: string; x?: number; y?: number }) => request<Thread>(`/label-tasks/${task}/threads`, { method: 'POST', query: { sample }, body: note }),
  settle: (task: number, note: number) => request<Thread>(`/label-tasks/${task}/threads/${note}/done`, { method: 'POST', body: {} }),
}

/** Seconds of work since they were last taken: time in which something was done at least every 60 s. */
export function createActivity(now: () => number = () => performance.now()) {
  const pause = 60_000
  let last = now()
  let active = 0
  return {
    /** Something was done: a key, the mouse, a finger. */
    touch() {
      const at = now()
      if (at - last <= pause) active += at - last
      last = at
    },
    take(): number {
      const seconds = Math.floor(active / 1000)
      active -= seconds * 1000
      return seconds
    },
  }
}
