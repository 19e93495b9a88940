import { useCallback, useEffect, useRef, useState } from 'react'
import type { Pages } from './usePages'

type Ids = ReadonlySet<number>

/** So many samples can be selected by one move. */
export const longest = 10_000

export interface Selection {
  ids: Ids
  /** The cell that keys act on; -1 is none. */
  active: number
  setActive: (index: number) => void
  clear: () => void
  /** One cell: in or out. With `range`, all from the cell picked last, added to what is selected. */
  pick: (index: number, range: boolean) => void
  /** Keys go to a cell; with `range`, what is selected becomes all from the cell they came from. */
  move: (index: number, range: boolean) => void
  /** What is selected, or else the active sample, once all asked for is known. */
  chosen: () => Promise<number[]>
}

/** What is selected in a grid whose samples come late: cells are picked at once, their samples follow in the order of the picks.
 * It begins anew with another `key`. */
export function useSelection(key: string, pages: Pages, onFail: (error: unknown) => void, onLong: () => void): Selection {
  const [ids, show] = useState<Ids>(new Set())
  const [active, setActive] = useState(-1)
  const now = useRef({ key, ids, anchor: -1, queue: Promise.resolve() })
  const set = useCallback((next: Ids) => {
    now.current.ids = next
    show(next)
  }, [])
  useEffect(() => {
    now.current = { key, ids: new Set(), anchor: -1, queue: Promise.resolve() }
    show(new Set())
    setActive(-1)
  }, [key])

  const choose = (from: number, to: number, combine: (old: Ids, found: number[]) => Ids) => {
    if (Math.abs(to - from) >= longest) return onLong()
    const mine = now.current
    mine.queue = mine.queue.then(async () => {
      const found = await pages.idsOf(from, to)
      if (mine === now.current) set(combine(mine.ids, found))
    }).catch(onFail)
  }
  return {
    ids,
    active,
    setActive,
    clear: () => {
      now.current.queue = now.current.queue.then(() => set(new Set()))
    },
    pick: (index, range) => {
      const { anchor } = now.current
      if (range && anchor >= 0) choose(anchor, index, (old, found) => new Set([...old, ...found]))
      else choose(index, index, (old, found) => toggled(old, found))
      if (!range) now.current.anchor = index
      setActive(index)
    },
    move: (index, range) => {
      if (!range) now.current.anchor = index
      else {
        if (now.current.anchor < 0) now.current.anchor = Math.max(0, active)
        choose(now.current.anchor, index, (_, found) => new Set(found))
      }
      setActive(index)
    },
    chosen: async () => {
      await now.current.queue
      return now.current.ids.size > 0 ? [...now.current.ids] : active < 0 ? [] : pages.idsOf(active, active)
    },
  }
}

function toggled(old: Ids, found: readonly number[]): Ids {
  const next = new Set(old)
  for (const id of found) if (!next.delete(id)) next.add(id)
  return next
}
