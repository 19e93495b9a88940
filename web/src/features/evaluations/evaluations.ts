// What the pages of evaluations reckon with; the answers are those of docs/evaluation.md.
import type { Schema } from '../../api/client'

export type Report = Schema<'EvaluationReport'>
export type At = Schema<'EvaluationAt'>
export type EvaluatedSample = Schema<'EvaluationSamples'>['items'][number]
export type Comparison = Schema<'EvaluationComparison'>
export type Cell = NonNullable<Report['cells']>[number]
export type Figure = { value: number | null; low: number | null; high: number | null }

/** A figure in words: shares as percent; errors, of which less is better, may be more than 1. */
export function figureText(less: boolean, value: number | null | undefined, n: (value: number, digits?: number) => string): string {
  if (value === null || value === undefined) return '–'
  return less ? n(value, 3) : `${n(100 * value, 1)}%`
}

/** What is told of each label: how many there are, and figures. */
export const labelColumns = ['truths', 'precision', 'recall', 'f1', 'AP', 'IoU', 'AUC'] as const
export type Column = (typeof labelColumns)[number]

export interface Matrix {
  /** null: nothing. */
  rows: (string | null)[]
  columns: (string | null)[]
  count: (truth: string | null, found: string | null) => number
  /** Of a row, to tell shares by. */
  sum: (truth: string | null) => number
  /** Labels that did not find room. */
  more: number
}

/** The confusion of the labels that are mixed up or occur most, at most so many of them. */
export function matrixOf(cells: readonly Cell[], most: number): Matrix {
  const weight = new Map<string, number>()
  const counts = new Map<string, number>()
  const sums = new Map<string | null, number>()
  let [noTruth, noFound] = [false, false]
  for (const { truth, found, count } of cells) {
    counts.set(JSON.stringify([truth, found]), count)
    sums.set(truth, (sums.get(truth) ?? 0) + count)
    if (truth === null) noTruth = true
    if (found === null) noFound = true
    // What is mixed up counts more than what is right: it is what one looks for.
    for (const label of new Set([truth, found])) if (label !== null) weight.set(label, (weight.get(label) ?? 0) + (truth === found ? count : 10 * count))
  }
  const labels = [...weight.entries()].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([label]) => label)
  const shown = labels.slice(0, most).sort((a, b) => a.localeCompare(b))
  return {
    rows: noTruth ? [...shown, null] : shown,
    columns: noFound ? [...shown, null] : shown,
    count: (truth, found) => counts.get(JSON.stringify([truth, found])) ?? 0,
    sum: (truth) => sums.get(truth) ?? 0,
    more: labels.length - shown.length,
  }
}

/** A cell as the question for its samples takes it. */
export function cellName(truth: string | null, found: string | null): string {
  return `${truth ?? '-'},${found ?? '-'}`
}

/** Shapes are drawn, labels of a whole sample are told below it. */
export function hasShapes({ truth, found }: EvaluatedSample): boolean {
  return [truth, found].some((one) => (one as { shapes?: unknown }).shapes !== undefined)
}

/** The shapes of what was found that count at a score, and how each turned out. */
export function foundAt(sample: EvaluatedSample, score: number): { index: number; outcome: string }[] {
  return sample.matches.filter((m) => m.score >= score).map((m) => ({ index: m.found, outcome: m.outcome }))
}

/** Which true shapes nothing hit at a score. */
export function missedAt(sample: EvaluatedSample, score: number, truths: number): Set<number> {
  const hit = new Set(sample.matches.filter((m) => m.score >= score && m.outcome === 'hit' && m.truth !== null).map((m) => m.truth))
  return new Set(Array.from({ length: truths }, (_, i) => i).filter((i) => !hit.has(i)))
}
