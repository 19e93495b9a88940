// Which part of a long grid is drawn, and how its pages are found by positions. Pure: no React, no network.
export const pageSize = 100

/** Browsers draw nothing higher than 17.8 (Firefox) or 33 million pixels (Chromium). A grid of more rows is no higher
 * than this, and its rows stand higher than they would by an offset (see offsetOf). */
const highest = 16_000_000

export interface View {
  /** How far the grid's top has gone above the scroller's top; negative while it is below. */
  above: number
  /** Of the scroller. */
  height: number
  rows: number
  rowHeight: number
  spare: number
  offset: number
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

/** The rows in sight and the spare ones around them. */
export function windowOf({ above, height, rows, rowHeight, spare, offset }: View): Window {
  const row = Math.floor((Math.max(0, above) + offset) / rowHeight)
  const first = clamp(row - spare, 0, Math.max(0, rows - 1))
  return { first, last: Math.min(rows, first + windowRows(height, rowHeight, spare)), top: first * rowHeight - offset, total: Math.min(rows * rowHeight, highest) }
}

/** How many rows a window has at most. */
export function windowRows(height: number, rowHeight: number, spare: number): number {
  return Math.ceil(height / rowHeight) + 1 + 2 * spare
}

/** The offset at a new place. From near by it stays, so that scrolling moves rows pixel by pixel and nothing has to be drawn
 * again; a jump goes to the same share of the rows as of the scroll bar. Toward both ends it becomes what it must be there. */
export function offsetOf(view: Omit<View, 'offset'>, before: { above: number; offset: number }): number {
  const rest = view.rows * view.rowHeight - highest
  if (rest <= 0) return 0
  const end = highest - view.height
  const above = clamp(view.above, 0, end)
  const slope = Math.max(1, (2 * rest) / end)
  const near = Math.abs(above - before.above) <= 2 * view.height
  return Math.round(clamp(near ? before.offset : (above / end) * rest, Math.max(0, rest - (end - above) * slope), Math.min(rest, above * slope)))
}

/** How far to scroll to bring a row into sight; null when it is in sight already. What covers the scroller's top hides rows. */
export function scrollFor(row: number, view: View, covered = 0): number | null {
  const { above, height, rowHeight, offset } = view
  const top = row * rowHeight - offset - covered
  const bottom = (row + 1) * rowHeight - offset - height
  const to = top < above ? top : bottom > above ? bottom : null
  const rest = view.rows * rowHeight - highest
  if (to === null || rest <= 0 || Math.abs(to - above) <= 2 * height) return to
  return ((to + offset) * (highest - height)) / (highest - height + rest)
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
