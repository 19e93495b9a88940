// Masks as docs/annotations.md spells them: run lengths of columns. They are drawn, hit and moved about in the order; the
// brush that paints them is not here.
import type { Rect } from './point'

/** Lengths of background and object in turn; null when the text is broken or does not fill the picture. */
export function runsOf(counts: string, width: number, height: number): number[] | null {
  const total = width * height
  const runs: number[] = []
  let sum = 0
  for (let i = 0; i < counts.length; ) {
    let value = 0
    let shift = 0
    for (;;) {
      const c = counts.charCodeAt(i) - 48
      i += 1
      if (!(c >= 0 && c < 64) || shift > 30) return null
      value |= (c & 31) << shift
      shift += 5
      if ((c & 32) === 0) {
        if (c & 16 && shift < 32) value |= -1 << shift
        break
      }
    }
    if (runs.length > 2) value += runs[runs.length - 2] as number
    if (value < 0) return null
    sum += value
    if (sum > total) return null
    runs.push(value)
  }
  return runs
}

export function maskBounds(runs: readonly number[], height: number): Rect {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
  let at = 0
  runs.forEach((run, i) => {
    if (i % 2 === 1 && run > 0) {
      const [first, last] = [at, at + run - 1]
      const [c0, c1] = [Math.floor(first / height), Math.floor(last / height)]
      minX = Math.min(minX, c0)
      maxX = Math.max(maxX, c1 + 1)
      // A run that goes on in the next column touches the lower and the upper edge.
      minY = Math.min(minY, c1 > c0 ? 0 : first % height)
      maxY = Math.max(maxY, c1 > c0 ? height : (last % height) + 1)
    }
    at += run
  })
  return { minX, minY, maxX, maxY }
}

export function inMask(runs: readonly number[], height: number, x: number, y: number): boolean {
  if (x < 0 || y < 0 || y >= height) return false
  const goal = Math.floor(x) * height + Math.floor(y)
  let at = 0
  for (let i = 0; i < runs.length; i += 1) {
    at += runs[i] as number
    if (at > goal) return i % 2 === 1
  }
  return false
}

/** Calls back for each part of a column: x, first y, one past the last y. */
export function eachRun(runs: readonly number[], height: number, fn: (x: number, from: number, to: number) => void): void {
  let at = 0
  runs.forEach((run, i) => {
    for (let p = at; i % 2 === 1 && p < at + run; ) {
      const x = Math.floor(p / height)
      const end = Math.min(at + run, (x + 1) * height)
      fn(x, p - x * height, end - x * height)
      p = end
    }
    at += run
  })
}
