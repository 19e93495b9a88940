import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { knownCount, learn, noStarts, pageSize, startOf, type Start, type Starts } from './window'
import { listSamples, type Sample, type SampleFilter } from './samples'

export interface Pages {
  /** Cells of the grid; it grows while the number of matches is not known. */
  count: number
  at: (index: number) => Sample | undefined
  /** Where a sample that was seen stands. */
  indexOf: (id: number) => number | undefined
  idAt: (index: number) => number | undefined
  pending: boolean
  error: Error | null
  retry: () => void
}

/** The samples of the pages from one to another. Only these and those just left are kept. `total` is known without filters:
 * then every part can be reached at once; with filters pages follow each other. */
export function usePages(version: number, path: string, filter: SampleFilter, total: number | null, density: number, from: number, to: number): Pages {
  const key = JSON.stringify([version, filter])
  const [state, setState] = useState<{ key: string; starts: Starts; ended: { page: number; items: number } | null }>({ key, starts: noStarts, ended: null })
  const seen = useRef({ key, ids: new Map<number, number>(), indices: new Map<number, number>() })
  if (seen.current.key !== key) seen.current = { key, ids: new Map(), indices: new Map() }
  const fresh = state.key === key ? state : { key, starts: noStarts, ended: null }
  const wanted: { page: number; start: Start }[] = []
  for (let page = from; page <= to; page += 1) {
    if (total === null && !fresh.starts.has(page)) break
    wanted.push({ page, start: startOf(fresh.starts, page, density) })
  }
  const results = useQueries({
    queries: wanted.map(({ page, start }) => ({
      queryKey: ['objects', 'dataset_version', 'samples', version, filter, start.after],
      queryFn: ({ signal }: { signal: AbortSignal }) => listSamples(path, filter, start.after, pageSize, signal),
      // Under another filter what was there stays until the answer comes; another page is another page.
      placeholderData: page === 0 ? keepPreviousData : undefined,
      gcTime: 60_000,
      staleTime: 30_000,
    })),
  })
  const byPage = new Map<number, Sample[]>()
  results.forEach((result, i) => {
    const want = wanted[i]
    if (!want || !result.data) return
    const { until } = want.start
    const items = until === undefined ? result.data.items : result.data.items.filter((s) => s.position <= until)
    byPage.set(want.page, items)
    if (result.isPlaceholderData) return
    items.forEach((s, k) => {
      seen.current.ids.set(want.page * pageSize + k, s.id)
      seen.current.indices.set(s.id, want.page * pageSize + k)
    })
  })
  const loaded = results.map((r) => (r.data && !r.isPlaceholderData ? `${r.data.next}:${r.data.items.length}` : '')).join()
  const plan = wanted.map((x) => `${x.page}:${x.start.after}:${x.start.until ?? ''}`).join()
  const latest = useRef({ wanted, results, fresh })
  latest.current = { wanted, results, fresh }
  useEffect(() => {
    const { wanted: pages, results: answers, fresh: before } = latest.current
    let starts = before.starts
    let ended = before.ended
    pages.forEach(({ page, start }, i) => {
      const answer = answers[i]
      if (!answer?.data || answer.isPlaceholderData) return
      starts = learn(starts, page, start, answer.data.next)
      if (answer.data.next === null && start.until === undefined) ended = { page, items: answer.data.items.length }
      else if (ended && ended.page <= page) ended = null
    })
    if (starts !== before.starts || ended?.page !== before.ended?.page || ended?.items !== before.ended?.items || before.key !== key) setState({ key, starts, ended })
  }, [loaded, plan, key])
  const error = results.find((r) => r.error && !r.data)?.error ?? null
  const count = total ?? knownCount(fresh.starts, fresh.ended)
  return useMemo<Pages>(
    () => ({
      count,
      at: (index) => byPage.get(Math.floor(index / pageSize))?.[index % pageSize],
      indexOf: (id) => seen.current.indices.get(id),
      idAt: (index) => seen.current.ids.get(index),
      pending: results.length > 0 && results.every((r) => r.isPending),
      error,
      retry: () => results.forEach((r) => void r.refetch()),
    }),
    // Results change with every answer; the rest follows from them.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [results, count, error],
  )
}
