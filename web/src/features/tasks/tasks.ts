import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Item, Page, Ref } from '../../api/kinds'
import type { Language } from '../../app/prefs'
import { isRef } from '../../components/names'

export interface Task extends Item {
  name: string
  type: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'
  done: number | null
  total: number | null
  problems: number | null
  message: string | null
  message_zh: string | null
  name_zh: string | null
  subject: number | null
  subject_kind: string | null
  result: Record<string, unknown> | null
  report: string | null
  output: string | null
  output_name: string | null
  started_at: string | null
  ended_at: string | null
}

export function isOver(task: Pick<Task, 'state'>): boolean {
  return task.state !== 'waiting' && task.state !== 'running'
}

/** What a task made, as its result tells it. */
export type Made = Schema<'LineageVersion'> & { set: Ref; version: Ref }

export function isMade(value: unknown): value is Made {
  return typeof value === 'object' && value !== null && 'kind' in value && 'set' in value && isRef(value.set) && 'version' in value && isRef(value.version)
}

/** A task, watched until it is over. Events tell of changes at once; the timer is there for those that are lost. */
export function useTask(id: number | null) {
  return useQuery({
    queryKey: ['objects', 'task', 'item', id],
    queryFn: ({ signal }) => request<Task>(`/tasks/${id}`, { signal }),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : 1000),
  })
}

export function useTasks(project: number, filter: string, limit: number, busy: boolean, mine = false) {
  return useQuery({
    queryKey: ['objects', 'task', 'some', project, filter, limit, mine],
    queryFn: async ({ signal }) => (await request<Page>('/tasks', { query: { project, filter: filter || undefined, limit, mine: mine || undefined }, signal })).items as Task[],
    refetchInterval: ({ state }) => (busy && state.data?.some((task) => !isOver(task)) ? 1500 : false),
  })
}

export interface Progress {
  /** 0 to 1; null while it cannot be told. */
  share: number | null
  /** Seconds; null while they cannot be told. */
  left: number | null
  perSecond: number | null
}

export function progressOf(done: number, total: number, seconds: number): Progress {
  const share = total > 0 ? Math.min(1, done / total) : null
  const perSecond = seconds > 0.5 && done > 0 ? done / seconds : null
  return { share, perSecond, left: perSecond !== null && total > done ? (total - done) / perSecond : null }
}

/** What the task is called in the reader's language. */
export function taskName(name: unknown, zh: unknown, language: Language): string {
  if (language === 'zh' && typeof zh === 'string' && zh !== '') return zh
  return typeof name === 'string' ? name : ''
}

export type Line = Schema<'TaskProblem'>

/** The report of a task: one JSON object per line. Lines that are cut off are left out. */
export function parseReport(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return []
    try {
      const value = JSON.parse(line) as Partial<Line>
      return [{ file: value.file ?? '', position: value.position ?? null, reason: value.reason ?? '', ...(value.reason_zh ? { reason_zh: value.reason_zh } : {}) }]
    } catch {
      return []
    }
  })
}
