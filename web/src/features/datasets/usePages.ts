import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { knownCount, learn, noStarts, pageSize, span, startOf, type Start, type Starts } from './window'
import { keepMatches } from '../../api/matches'
import { listSamples, type Sample, type SampleFilter, type SamplePage } from './samples'

export interface Pages {
  /** Cells of the grid; it grows while the number of matches is not known. */
  count: number
  /** Whether that is the number of matches. */
  exact: boolean
  at: (index: number) => Sample | undefined
  /** Where a sample that was seen stands. */
  indexOf: (id: number) => number | undefined
  idAt: (index: number) => number | undefined
  /** The samples from one cell to another, whichever comes first. Those that were never drawn are asked for. */
  idsOf: (from: number, to: number) => Promise<number[]>
  pending: boolean
  error: Error | null
  retry: () => void
}

/** Which sample stands in which cell, of all that were drawn or asked for. */
class Seen {
  private readonly cells = new Map<number, { id: number; position: number }>()
  private readonly indices = new Map<number, number>()
  constructor(readonly key: string) {}

  add(page: number, items: readonly Sample[]): void {
    items.forEach(({ id, position }, k) => {
      this.cells.set(page * pageSize + k, { id, position })
      this.indices.set(id, page * pageSize + k)
    })
  }

  at(index: number): { id: number; position: number } | undefined {
    return this.cells.get(index)
  }

  indexOf(id: number): number | undefined {
    return this.indices.get(id)
  }
}

/** The samples of the pages from one to another. Only these and those just left are kept. `total` is known without filters:
 * then every part can be reached at once; with filters pages follow each other. */
export function usePages(version: number, path: string, filter: SampleFilter, total: number | null, density: number, from: number, to: number): Pages {
  const key = JSON.stringify([version, filter])
  const [state, setState] = useState<{ key: string; starts: Starts; ended: { page: number; items: number } | null }>({ key, starts: noStarts, ended: null })
  const seen = useRef(new Seen(key))
  if (seen.current.key !== key) seen.current = new Seen(key)
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
    keepMatches(result.data)
    const items = until === undefined ? result.data.items : result.data.items.filter((s) => s.position <= until)
    byPage.set(want.page, items)
    if (!result.isPlaceholderData) seen.current.add(want.page, items)
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
  const idsOf = useCallback(async (from: number, to: number) => {
    const known = seen.current
    const cells = span(from, to)
    if (cells.every((index) => known.at(index))) return cells.flatMap((index) => known.at(index)?.id ?? [])
    const { starts } = latest.current.fresh
    const end = async (index: number) => {
      const page = Math.floor(index / pageSize)
      const start = startOf(starts, page, density)
      if (!known.at(index)) known.add(page, (await listSamples(path, filter, start.after, pageSize)).items.filter((s) => start.until === undefined || s.position <= start.until))
      return known.at(index)
    }
    const first = await end(cells[0] ?? from)
    const last = await end(cells.at(-1) ?? to)
    if (!first || !last) return []
    // Between its ends the order of positions holds, wherever cells were only guessed to be.
    const ids = [first.id]
    for (let after: number | null = first.position; after !== null && after < last.position;) {
      const page: SamplePage = await listSamples(path, filter, after, 1000)
      ids.push(...page.items.filter((s) => s.position <= last.position).map((s) => s.id))
      after = page.next
    }
    return ids
  }, [path, filter, density])
  const error = results.find((r) => r.error && !r.data)?.error ?? null
  const count = total ?? knownCount(fresh.starts, fresh.ended)
  const exact = total !== null || fresh.ended !== null
  return useMemo<Pages>(
    () => ({
      count,
      exact,
      at: (index) => byPage.get(Math.floor(index / pageSize))?.[index % pageSize],
      indexOf: (id) => seen.current.indexOf(id),
      idAt: (index) => seen.current.at(index)?.id,
      idsOf,
      pending: results.length > 0 && results.every((r) => r.isPending),
      error,
      retry: () => results.forEach((r) => void r.refetch()),
    }),
    // Results change with every answer; the rest follows from them.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [results, count, exact, error, idsOf],
  )
}
