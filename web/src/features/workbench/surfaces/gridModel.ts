import { hasOneLabel, type Annotation, type AnnotationType, type Change } from '../../../canvas/model'

// A page of samples that are labelled together. Pure: no React, no network.
export const pageSize = 50

export interface Place {
  /** The cell one is at, of all samples. */
  cursor: number
  /** Where the selection began; the same as the cursor when only that is selected. */
  anchor: number
}

/** Where a key leads; null when it is none of the grid's. Pages are turned with what is asked for beyond their edge. */
export function moved(at: Place, key: string, shift: boolean, columns: number, count: number): Place | null {
  const by: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, PageDown: pageSize, PageUp: -pageSize, Home: -Infinity, End: Infinity }
  const step = by[key]
  if (step === undefined || count === 0) return null
  const page = pageOf(at.cursor)
  const to = step === -Infinity ? page * pageSize : step === Infinity ? (page + 1) * pageSize - 1 : at.cursor + step
  const cursor = Math.max(0, Math.min(count - 1, to))
  return { cursor, anchor: shift ? at.anchor : cursor }
}

export function pageOf(index: number): number {
  return Math.floor(index / pageSize)
}

/** The cells of a page. */
export function cellsOf(page: number, count: number): { from: number; to: number } {
  return { from: page * pageSize, to: Math.min(count, (page + 1) * pageSize) }
}

/** What is selected: from the anchor to the cursor, and what was picked one by one. */
export function selected({ cursor, anchor }: Place, picked: ReadonlySet<number>): number[] {
  const [low, high] = [Math.min(cursor, anchor), Math.max(cursor, anchor)]
  // Once something was picked by hand the cursor alone is only where one is.
  const range = picked.size > 0 && low === high ? [] : Array.from({ length: high - low + 1 }, (_, i) => low + i)
  return [...new Set([...picked, ...range])].sort((a, b) => a - b)
}

/** What a label does to each of several samples: it is set; when all have it already, it is taken away. Null: nothing to do. */
export function labelling(type: AnnotationType, annotations: readonly Annotation[], label: string): (Change[] | null)[] {
  const has = (a: Annotation) => a.labels?.includes(label) === true
  const off = annotations.length > 0 && annotations.every(has)
  return annotations.map((a) => {
    if (off) return [{ op: 'label', label, on: false }]
    if (has(a) && (!hasOneLabel(type) || a.labels?.length === 1)) return null
    return [{ op: 'label', label, on: true }]
  })
}
