// Lines that differ between two texts (Myers' algorithm), and the parts of them worth showing.
export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
  /** Numbers of the line before and after, from 1. */
  before: number | null
  after: number | null
}

/** Past this many differences the texts are shown as replaced as a whole. */
const most = 2000

export function diffLines(before: string, after: string): DiffLine[] {
  const a = split(before)
  const b = split(after)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  const kinds = [...Array<DiffLine['kind']>(head).fill('same'), ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)), ...Array<DiffLine['kind']>(tail).fill('same')]
  let i = 0
  let k = 0
  return kinds.map((kind): DiffLine => {
    if (kind === 'removed') return { kind, text: a[i] ?? '', before: (i += 1), after: null }
    if (kind === 'added') return { kind, text: b[k] ?? '', before: null, after: (k += 1) }
    return { kind, text: a[i] ?? '', before: (i += 1), after: (k += 1) }
  })
}

function split(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function middle(a: string[], b: string[]): DiffLine['kind'][] {
  const replaced = () => [...Array<DiffLine['kind']>(a.length).fill('removed'), ...Array<DiffLine['kind']>(b.length).fill('added')]
  if (a.length === 0 || b.length === 0) return replaced()
  const trace: Map<number, number>[] = []
  let v = new Map<number, number>([[1, 0]])
  for (let d = 0; d <= Math.min(a.length + b.length, most); d += 1) {
    trace.push(v)
    const next = new Map(v)
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? (v.get(k + 1) ?? 0) : (v.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length)
    }
    v = next
    if (d * d > 4_000_000) break
  }
  return replaced()
}

function walkBack(trace: Map<number, number>[], n: number, m: number): DiffLine['kind'][] {
  const result: DiffLine['kind'][] = []
  let x = n
  let y = m
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const v = trace[d] ?? new Map<number, number>()
    const k = x - y
    const from = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? k + 1 : k - 1
    const px = v.get(from) ?? 0
    const py = px - from
    while (x > px && y > py && x > 0 && y > 0) {
      result.push('same')
      x -= 1
      y -= 1
    }
    if (d > 0) result.push(x === px ? 'added' : 'removed')
    x = px
    y = py
  }
  return result.reverse()
}

export type Part = { lines: DiffLine[] } | { skipped: number }

/** Long runs of equal lines become gaps. */
export function parts(lines: readonly DiffLine[], around = 3): Part[] {
  const shown = new Set<number>()
  lines.forEach((line, i) => {
    if (line.kind !== 'same') for (let k = Math.max(0, i - around); k <= Math.min(lines.length - 1, i + around); k += 1) shown.add(k)
  })
  const result: Part[] = []
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i]
    const last = result.at(-1)
    if (!line) continue
    if (shown.has(i)) {
      if (last && 'lines' in last) last.lines.push(line)
      else result.push({ lines: [line] })
    } else if (last && 'skipped' in last) last.skipped += 1
    else result.push({ skipped: 1 })
  }
  return result
}

/** Whether bytes look like text, and which. */
export function textOf(bytes: ArrayBuffer): string | null {
  const some = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, 8192))
  if (some.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
