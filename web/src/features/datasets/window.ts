// Which part of a long grid is drawn, and how its pages are found by positions. Pure: no React, no network.
export const pageSize = 100

/** Browsers draw no element higher than about 33 million pixels; past this the scroll bar is scaled. */
const highest = 24_000_000

export interface View {
  /** How far the grid's top has gone above the scroller's top; negative while it is below. */
  above: number
  height: number
  rows: number
  rowHeight: number
  spare: number
}

export interface Window {
  first: number
  /** One past the last row. */
  last: number
  /** Where the first row stands, from the grid's top. */
  top: number
  /** The grid's height. */
  total: number
}

export function windowOf({ above, height, rows, rowHeight, spare }: View): Window {
  const real = rows * rowHeight
  const total = Math.min(real, highest)
  const seen = Math.max(0, above)
  const visible = Math.ceil(height / rowHeight) + 1
  if (real <= highest) {
    const first = clamp(Math.floor(seen / rowHeight) - spare, 0, Math.max(0, rows - 1))
    return { first, last: Math.min(rows, first + visible + 2 * spare), top: first * rowHeight, total }
  }
  const share = Math.min(1, seen / Math.max(1, total - height))
  const at = share * (real - height)
  const row = Math.floor(at / rowHeight)
  const first = clamp(row - spare, 0, rows - 1)
  return { first, last: Math.min(rows, row + visible + spare), top: seen - (at - first * rowHeight), total }
}

/** The scroll offset that brings a row into sight; null when it is in sight already. */
export function scrollFor(row: number, view: View): number | null {
  const real = view.rows * view.rowHeight
  const scale = real <= highest ? 1 : (highest - view.height) / (real - view.height)
  const top = row * view.rowHeight * scale
  if (top < view.above) return top
  const bottom = (row * view.rowHeight + view.rowHeight - view.height) * scale
  return bottom > view.above ? bottom : null
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value))
}

/** A page of samples: those whose position lies after `after`, and not after `until` where that is known. */
export interface Start {
  after: number
  until?: number
}

/** Page number to where it begins. Page 0 begins at 0; others are learned from the page before. */
export type Starts = ReadonlyMap<number, Start>

export const noStarts: Starts = new Map([[0, { after: 0 }]])

/** Where a page begins: known, or found backward from the next one, or guessed from how dense positions are.
 * Backward pages hold all samples of a hundred positions, so that none is left out or shown twice. */
export function startOf(starts: Starts, page: number, density: number): Start {
  const known = starts.get(page)
  if (known) return known
  const next = starts.get(page + 1)
  if (next) return { after: Math.max(0, next.after - pageSize), until: next.after }
  return { after: Math.round(page * pageSize * density) }
}

/** What a loaded page tells: where it began and where the next one does. Later guesses that disagree are forgotten. */
export function learn(starts: Starts, page: number, start: Start, next: number | null): Starts {
  const following = start.until ?? next
  const same = (a: Start | undefined, b: Start) => a !== undefined && a.after === b.after && a.until === b.until
  const fits = same(starts.get(page), start) && (following === null ? !starts.has(page + 1) : starts.get(page + 1)?.after === following)
  if (fits) return starts
  const result = new Map<number, Start>()
  const keep = following !== null && starts.get(page + 1)?.after === following
  for (const [n, s] of starts) if (n <= page || keep) result.set(n, s)
  result.set(page, start)
  if (following !== null && !keep) result.set(page + 1, { after: following })
  return result
}

/** How many cells the grid has while the number of matches is not known: the pages found so far. */
export function knownCount(starts: Starts, ended: { page: number; items: number } | null): number {
  if (ended) return ended.page * pageSize + ended.items
  return (Math.max(...starts.keys()) + 1) * pageSize
}

/** Cells from one to another, whichever comes first. */
export function span(from: number, to: number): number[] {
  const low = Math.min(from, to)
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => low + i)
}
