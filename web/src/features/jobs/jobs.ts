import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { apiUrl, request, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'
import { serverBack } from '../../api/reach'
import type { I18n } from '../../i18n'
import type { LogAnswer, LogLine, LogSearchAnswer, LogSource } from './logStore'

export type JobEvent = Schema<'JobEvents'>['items'][number]
export type JobState = JobEvent['state']
export type Curves = Schema<'JobCurves'>
export type CurvePoint = Curves['items'][number]

export function isOver(state: unknown): boolean {
  return state === 'completed' || state === 'failed' || state === 'stopped'
}

/** Why it is in its state, in the reader's language. */
export function reasonOf(item: Item, { language }: I18n): string {
  const zh = item['reason_zh']
  const en = item['reason']
  const text = language === 'zh' && typeof zh === 'string' && zh !== '' ? zh : en
  return typeof text === 'string' ? text : ''
}

/** The key begins with the job's, so that a change of the job fetches its events as well. */
export function useJobEvents(job: number) {
  return useQuery({
    queryKey: ['objects', 'job', 'events', job],
    queryFn: async ({ signal }) => (await request<Schema<'JobEvents'>>(`/jobs/${job}/events`, { signal })).items,
  })
}

export function useCurves(job: number, rank: number, span: number, live: boolean, every: number) {
  return useQuery({
    queryKey: ['curves', job, rank, span, live],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<Curves>(`/jobs/${job}/curves`, { query: { rank, span }, signal }),
    refetchInterval: live && every > 0 ? every : false,
  })
}

export function useForecast(project: number | undefined, spec: number | null, nodes: number, priority: number) {
  return useQuery({
    queryKey: ['forecast', project, spec, nodes, priority],
    queryFn: ({ signal }) => request<Schema<'Forecast'>>(`/projects/${project ?? 0}/forecast`, { query: { spec, nodes, priority }, signal }),
    enabled: project !== undefined && spec !== null,
    staleTime: 2000,
    retry: false,
  })
}

/** The log of one container: rank and attempt. */
export function logSource(job: number, rank: number, attempt: number): LogSource {
  const query = { rank, attempt }
  return {
    read: (from, signal) => request<LogAnswer>(`/jobs/${job}/log`, { query: { ...query, ...from }, signal }),
    search: (text, line, signal) => request<LogSearchAnswer>(`/jobs/${job}/log/search`, { query: { ...query, q: text, line, limit: 1000, ignore_case: 1 }, signal }),
    follow: (after, onLines, onEnd) => {
      let next = after
      const gone = new AbortController()
      let timer: number | undefined
      let source: EventSource | null = null
      const open = () => {
        source = new EventSource(apiUrl(`/jobs/${job}/log/follow`, { ...query, after: next }))
        source.addEventListener('lines', (event: MessageEvent<string>) => {
          next = Number(event.lastEventId) || next
          onLines(JSON.parse(event.data) as LogLine[], next)
        })
        source.addEventListener('end', () => {
          gone.abort()
          source?.close()
          onEnd()
        })
        source.addEventListener('error', () => {
          // A new connection goes on from where this one was.
          source?.close()
          serverBack(gone.signal).then(() => {
            timer = window.setTimeout(open, 1000)
          }, () => undefined)
        })
      }
      open()
      return () => {
        gone.abort()
        window.clearTimeout(timer)
        source?.close()
      }
    },
  }
}
