import { useQuery } from '@tanstack/react-query'
import { apiUrl, request, type Schema } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import type { Stage, Work } from './model'

// Requests of the pages about labelling tasks.
export type Progress = Schema<'LabelProgress'>
export type MemberFigures = Progress['members'][number]
export type AssignmentRow = Schema<'AssignmentRows'>['items'][number]
export type Note = Schema<'LabelNote'>

const path = (task: number) => `/label-tasks/${task}`

export function useWork(task: number, enabled = true) {
  return useQuery({ queryKey: ['objects', 'label_task', 'work', task], queryFn: ({ signal }) => request<Work>(`${path(task)}/work`, { signal }), enabled })
}

export function fetchWork(task: number, signal?: AbortSignal): Promise<Work> {
  return request<Work>(`${path(task)}/work`, { signal })
}

export function useProgress(task: number, from: Date, to: Date) {
  const span = { from: from.toISOString(), to: to.toISOString() }
  return useQuery({ queryKey: ['objects', 'label_task', 'progress', task, span], queryFn: ({ signal }) => request<Progress>(`${path(task)}/progress`, { query: span, signal }) })
}

export function progressCsvUrl(task: number, from: Date, to: Date): string {
  return apiUrl(`${path(task)}/progress.csv`, { from: from.toISOString(), to: to.toISOString() })
}

export function fetchAssignments(task: number, query: { state?: string; user?: number; after?: number }, signal?: AbortSignal) {
  return request<Schema<'AssignmentRows'>>(`${path(task)}/samples`, { query: { ...query, limit: 100 }, signal })
}

export function useNotes(task: number) {
  return useQuery({ queryKey: ['objects', 'label_task', 'notes', task], queryFn: async ({ signal }) => (await request<Schema<'LabelNotes'>>(`${path(task)}/threads`, { signal })).items })
}

export function addNote(task: number, sample: number, text: string): Promise<Note> {
  return request<Note>(`${path(task)}/threads`, { method: 'POST', query: { sample }, body: { text } })
}

export function endNote(task: number, note: number): Promise<Note> {
  return request<Note>(`${path(task)}/threads/${note}/done`, { method: 'POST', body: {} })
}

export function runAction(task: number, action: string, body: Record<string, unknown> = {}): Promise<unknown> {
  return request<unknown>(`${path(task)}/${action}`, { method: 'POST', body })
}

/** Where a stage of a task is worked on. */
export function benchUrl(taskUrl: string, stage: Stage): string {
  return `${taskUrl}/${stage}`
}

export function refsOf(value: unknown): Ref[] {
  return Array.isArray(value) ? (value as Ref[]) : []
}

export function versionRef(task: Item): Ref | null {
  return (task['version'] as Ref | null) ?? null
}
