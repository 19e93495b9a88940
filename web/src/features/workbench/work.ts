// The work of a task: samples leased in batches, handed in, sent back, reviewed. One object per open task page.
import { request, type Schema } from '../../api/client'

export type Assignment = Schema<'Assignment'>
/** What a worker's workbench needs to know of its task. */
export type TaskBench = Schema<'LabelBench'>
export type Thread = Schema<'LabelNote'>

/** Why it was sent back the last time: the newest stand first. */
export const lastRejection = ({ rejections }: Pick<Assignment, 'rejections'>) => rejections[0]

/** Its marks on the shapes. */
export function rejectedShapes(assignment: Pick<Assignment, 'rejections'>) {
  const last = lastRejection(assignment)
  return (last?.shapes ?? []).map((s) => ({ id: `rejected-${s.id}`, shape: s.id, kind: 'rejected' as const, text: s.reason || last?.reason || '' }))
}

const act = <T>(task: number, action: string, body: unknown = {}): Promise<T> => request<T>(`/label-tasks/${task}/${action}`, { method: 'POST', body })

export const tasks = {
  bench: (task: number, signal?: AbortSignal) => request<TaskBench>(`/label-tasks/${task}/bench`, { signal }),
  next: (task: number, stage: Assignment['stage']) => act<Schema<'AssignmentList'>>(task, 'next', { stage }),
  heartbeat: (task: number, assignments: number[], seconds: number) => act<Schema<'LabelLease'>>(task, 'heartbeat', { assignments, active_seconds: seconds }),
  submit: (task: number, assignment: number, nothing: boolean, seconds: number) => act<Assignment>(task, 'submit', { assignment, nothing, active_seconds: seconds }),
  reopen: (task: number, assignment: number) => act<Assignment>(task, 'reopen', { assignment }),
  skip: (task: number, assignment: number, reason: string) => act<Assignment>(task, 'skip', { assignment, reason }),
  decide: (task: number, assignment: number, verdict: 'accept' | 'reject', reason: string | null, shapes: { id: string; reason: string }[]) =>
    act<Assignment>(task, 'decide', { assignment, verdict, ...(reason && { reason }), ...(shapes.length > 0 && { shapes }) }),
  threads: async (task: number, sample: number, signal?: AbortSignal) => (await request<Schema<'LabelNotes'>>(`/label-tasks/${task}/threads`, { query: { sample }, signal })).items,
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
