// Where a workbench's samples come from: a version, or the batch of a task.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { request } from '../../api/client'
import { listSamples, type Sample, type SampleFilter, type Version } from '../datasets/samples'
import { usePages } from '../datasets/usePages'
import { pageSize } from '../datasets/window'
import type { Film } from './surface'
import type { Assignment } from './work'

export interface Opened {
  sample: Sample
  assignment: Assignment | null
}

export interface Source {
  film: Film
  /** Changes when the film has news. */
  news: unknown
  /** A sample that is there already, null when it has to be loaded. */
  known(id: number): Opened | null
  load(id: number): Promise<Opened>
  first(): Promise<number | null>
  at(index: number): Promise<number | null>
  /** The sample before or after one that the film does not know. */
  near(sample: Sample, by: 1 | -1): Promise<number | null>
  /** The next one of a state. */
  find(state: 'unannotated' | 'rejected', sample: Sample): Promise<number | null>
}

/** All samples of a version, under the gallery's filter. */
export function useVersionSource(version: Version, filter: SampleFilter): Source {
  const filtered = Object.keys(filter).length > 0
  const samples = Number(version.item['samples'])
  const cleaned = Number(version.item['cleaned'])
  const [wanted, setWanted] = useState({ from: 0, to: 0 })
  const pages = usePages(version.item.id, version.path, filter, filtered ? null : samples, samples > 0 ? (samples + cleaned) / samples : 1, wanted.from, wanted.to)
  const latest = useRef(pages)
  latest.current = pages
  const film = useMemo((): Film => ({
    get count() { return latest.current.count },
    get exact() { return latest.current.exact },
    at: (index) => latest.current.at(index),
    indexOf: (id) => latest.current.indexOf(id),
    want: (from, to) => setWanted((old) => {
      const next = { from: Math.floor(Math.max(0, from) / pageSize), to: Math.floor(Math.max(0, to - 1) / pageSize) }
      return old.from === next.from && old.to === next.to ? old : next
    }),
  }), [])
  const { path } = version
  return useMemo((): Source => {
    const one = async (query: SampleFilter, after: number) => (await listSamples(path, query, after, 1)).items[0]?.id ?? null
    const known = (id: number): Opened | null => {
      const index = film.indexOf(id)
      const sample = index === undefined ? undefined : film.at(index)
      return sample?.id === id ? { sample, assignment: null } : null
    }
    return {
      film, news: pages, known,
      load: async (id) => known(id) ?? { sample: await request<Sample>(`${path}/samples/${id}`), assignment: null },
      first: () => one(filter, 0),
      at: async (index) => (index < 0 || index >= film.count ? null : ((await latest.current.idsOf(index, index))[0] ?? null)),
      near: async (sample, by) => {
        if (by === 1) return one(filter, sample.position)
        const page = await listSamples(path, filter, Math.max(0, sample.position - 101), 100)
        return page.items.filter((s) => s.position < sample.position).at(-1)?.id ?? null
      },
      find: async (state, sample) => (await one({ ...filter, state }, sample.position)) ?? one({ ...filter, state }, 0),
    }
  }, [film, pages, path, filter])
}

/** A batch of a task. */
export function useBatchSource(batch: readonly Assignment[]): Source {
  const latest = useRef(batch)
  latest.current = batch
  const film = useMemo((): Film => ({
    get count() { return latest.current.length },
    exact: true,
    at: (index) => latest.current[index]?.sample,
    indexOf: (id) => {
      const index = latest.current.findIndex((a) => a.sample.id === id)
      return index < 0 ? undefined : index
    },
    want: () => undefined,
  }), [])
  return useMemo((): Source => ({
    film, news: batch,
    known: (id) => {
      const assignment = latest.current.find((a) => a.sample.id === id)
      return assignment ? { sample: assignment.sample, assignment } : null
    },
    load: async (id) => {
      const assignment = batch.find((a) => a.sample.id === id) ?? batch[0]
      if (!assignment) throw new Error('no samples')
      return { sample: assignment.sample, assignment }
    },
    first: async () => (batch.find((a) => a.state === 'leased') ?? batch[0])?.sample.id ?? null,
    at: async (index) => batch[index]?.sample.id ?? null,
    near: async () => null,
    find: async (state, sample) => {
      const from = batch.findIndex((a) => a.sample.id === sample.id)
      const fits = (a: Assignment) => (state === 'rejected' ? a.rejections.length > 0 && a.state === 'leased' : a.state === 'leased' && a.sample.state === 'unannotated')
      return (batch.slice(from + 1).find(fits) ?? batch.slice(0, from).find(fits))?.sample.id ?? null
    },
  }), [film, batch])
}

/** Calls back at most once at a time and only while the page is there. */
export function useEvery(ms: number, run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  const tick = useCallback(() => latest.current(), [])
  useEffect(() => {
    const timer = window.setInterval(tick, ms)
    return () => window.clearInterval(timer)
  }, [ms, tick])
}
