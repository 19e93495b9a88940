import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { AnnotationType } from '../../canvas'
import { ErrorState } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n, type I18n, type Key } from '../../i18n'
import { MoreRows } from '../objects/MoreRows'
import type { Place } from './journal'
import { loadLines, type Line, type Lines } from './past'

/** "Li moved box 3 (car)". */
export function sentenceOf(line: Line, { t, n }: I18n): string {
  const { did, shape, by, from, to } = line
  const what = shape ? t(shape.label ? 'bench.shapeLabelled' : 'bench.shapeNumbered', { type: t(`shape.${shape.type}`), n: n(shape.n), label: shape.label ?? '' }) : t('bench.someShape')
  const goal = did === 'state' ? t(`sampleState.${line.state}`) : (to || t('bench.nothingThere'))
  return t(`bench.did.${did}` as Key, { name: by ?? t('bench.platform'), shape: what, from: from || t('bench.nothingThere'), to: goal.length > 80 ? `${goal.slice(0, 80)}…` : goal })
}

/** The newest first, a page at a time; what comes while it is shown is added at the top. `stamp` changes when there may be some. */
function useLines({ path, sample, layer }: Place, type: AnnotationType, stamp: number) {
  const client = useQueryClient()
  const place = useMemo<Place>(() => ({ path, sample, ...(layer !== undefined && { layer }) }), [path, sample, layer])
  const key = useMemo(() => ['sample-past', path, sample, layer ?? 0], [path, sample, layer])
  const list = useInfiniteQuery({
    queryKey: key, staleTime: 0, gcTime: 0, retry: false,
    queryFn: ({ pageParam, signal }) => loadLines(place, type, { before: pageParam }, signal),
    initialPageParam: Number.MAX_SAFE_INTEGER,
    getNextPageParam: (last: Lines) => last.next !== null && last.next > 1 ? last.next : undefined,
    refetchOnWindowFocus: false,
  })
  const newest = list.data?.pages.flatMap((p) => p.lines)[0]?.revision
  useEffect(() => {
    if (newest === undefined) return
    const stop = new AbortController()
    // A hand draws several shapes in a second.
    const timer = setTimeout(() => loadLines(place, type, { after: newest }, stop.signal).then((fresh) => {
      if (stop.signal.aborted || fresh.lines.length === 0) return
      if (fresh.next !== null) return void client.resetQueries({ queryKey: key })
      client.setQueryData<InfiniteData<Lines, number>>(key, (old) => {
        const [first, ...rest] = old?.pages ?? []
        return old && first ? { ...old, pages: [{ ...first, lines: [...fresh.lines, ...first.lines] }, ...rest] } : old
      })
    }, () => undefined), 300)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [stamp, newest, place, type, key, client])
  return list
}

interface Props {
  place: Place
  type: AnnotationType
  stamp: number
  /** The revision that is shown instead of the newest. */
  picked: number | null
  onPick: (line: Line | null) => void
}

/** Who did what to a sample, and when. A line shows the sample as it was after it. */
export function HistoryList({ place, type, stamp, picked, onPick }: Props) {
  const i18n = useI18n()
  const { t } = i18n
  const list = useLines(place, type, stamp)
  const lines = list.data?.pages.flatMap((p) => p.lines) ?? []
  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  return (
    <>
      {list.data && lines.length === 0 && <p className="muted">{t('sample.noHistory')}</p>}
      <ol className="past" aria-label={t('sample.history')} aria-busy={list.isPending}>
        {lines.map((line, i) => (
          <li key={line.revision}>
            <button type="button" aria-pressed={picked === line.revision} onClick={() => onPick(i === 0 || picked === line.revision ? null : line)}>
              <span>{sentenceOf(line, i18n)}</span>
              <span className="muted"><Time at={line.at} /></span>
            </button>
          </li>
        ))}
      </ol>
      <MoreRows list={list} />
    </>
  )
}
