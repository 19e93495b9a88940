// What the table of runs, their curves and their differences reckon with. Free of drawing.
import type { Item, Ref } from '../../api/kinds'
import type { Key } from '../../i18n'
import { bestPoint, smoothed, type Point, type Stretch } from '../../components/chart'
import { isRef } from '../../components/names'
import type { MetricSeries } from '../trainings/instances'

export interface Summary { last: number; last_step: number; best: number; best_step: number; points: number; lower: boolean }

export function metricsOf(run: Item): Record<string, Summary> {
  const summary = run['summary'] as { metrics?: Record<string, Summary> } | null | undefined
  return summary?.metrics ?? {}
}

/** What the run was started with and what its code told, by name. */
export function parametersOf(run: Item): Record<string, string | number> {
  return (run['logged'] as Record<string, string | number> | null | undefined) ?? {}
}

/** A column: a field, or `metric:loss`, `last:loss`, `parameter:lr`. */
export type Source = 'field' | 'metric' | 'last' | 'parameter'
export interface Column { key: string; source: Source; name: string }

const sources: readonly Source[] = ['metric', 'last', 'parameter']

export function columnOf(key: string): Column {
  const at = key.indexOf(':')
  const source = sources.find((s) => s === key.slice(0, Math.max(0, at)))
  return source ? { key, source, name: key.slice(at + 1) } : { key, source: 'field', name: key }
}

/** Fields that may be columns, in the order in which they are offered. */
export const factColumns = ['state', 'started_at', 'duration', 'datasets', 'algorithm', 'model_version', 'image', 'spec'] as const
const sortable = new Set(['state', 'started_at', 'duration', 'datasets', 'algorithm', 'model_version', 'image', 'number'])

/** Every column that these runs have something in: metrics in the server's order (the loss and the main one first). */
export function columnsIn(runs: readonly Item[]): Column[] {
  const metrics = new Set(runs.flatMap((run) => Object.keys(metricsOf(run))))
  const parameters = new Set(runs.flatMap((run) => Object.keys(parametersOf(run))))
  return [
    ...factColumns.map((name) => columnOf(name)),
    ...[...metrics].flatMap((name) => [columnOf(`metric:${name}`), columnOf(`last:${name}`)]),
    ...[...parameters].sort((a, b) => a.localeCompare(b)).map((name) => columnOf(`parameter:${name}`)),
  ]
}

const [fewMetrics, fewParameters] = [3, 4]

/** What is shown until somebody chooses: the loss and the main metrics, and parameters that differ. */
export function usualColumns(runs: readonly Item[]): string[] {
  const all = columnsIn(runs)
  const metrics = all.filter((c) => c.source === 'metric').slice(0, fewMetrics)
  const values = (name: string) => new Set(runs.map((run) => String(parametersOf(run)[name] ?? '')))
  const parameters = all.filter((c) => c.source === 'parameter' && values(c.name).size > 1).slice(0, fewParameters)
  return ['state', 'started_at', 'duration', ...metrics.map((c) => c.key), ...parameters.map((c) => c.key)]
}

/** How the server sorts by it; null: it does not. */
export function sortOf(column: Column, runs: readonly Item[]): string | null {
  if (column.source === 'field') return sortable.has(column.name) ? column.name : null
  if (column.source !== 'parameter') return column.key
  return `${runs.some((run) => typeof parametersOf(run)[column.name] === 'string') ? 'text' : 'parameter'}:${column.name}`
}

/** A condition of the address: column, operator and value, apart by spaces that names may have, too. */
export interface Condition { column: string; op: string; value: string }
export const operators = ['=', '!=', '<', '<=', '>', '>='] as const
const separator = '\u001f'

export function conditionText(c: Condition): string {
  return [c.column, c.op, c.value].join(separator)
}

export function conditionOf(text: string): Condition | null {
  const [column, op, value] = text.split(separator)
  return column && op && value !== undefined && (operators as readonly string[]).includes(op) ? { column, op, value } : null
}

const numbers = new Set(['duration', 'number'])
const references = new Set(['datasets', 'algorithm', 'model_version'])

/** The same in the filter language of the API. */
export function expressionOf({ column, op, value }: Condition): string {
  const { source, name } = columnOf(column)
  const field = source === 'field' ? name : `${source}:${JSON.stringify(name)}`
  const number = value.trim() !== '' && Number.isFinite(Number(value))
  const plain = source === 'field' ? numbers.has(name) || references.has(name) : source !== 'parameter' || number
  return `${field} ${op} ${value === '' ? 'null' : plain && number ? String(Number(value)) : JSON.stringify(value)}`
}

/** Versions that the runs name in a field. */
export function refsOf(run: Item, name: string): Ref[] {
  const value = run[name]
  return Array.isArray(value) ? value.filter(isRef) : isRef(value) ? [value] : []
}

export const refText = (ref: Ref) => (ref.of ? `${ref.of.name} ${ref.name}` : ref.name)

/** A row of what runs are made of: a text for each; whether they are all the same. */
export interface Row { key: string; title: string; values: (string | null)[]; same: boolean }

export function row(key: string, title: string, values: (string | null)[]): Row {
  return { key, title, values, same: values.every((value) => value === values[0]) }
}

export function parameterRows(runs: readonly Item[]): Row[] {
  const names = [...new Set(runs.flatMap((run) => Object.keys(parametersOf(run))))].sort((a, b) => a.localeCompare(b))
  return names.map((name) => row(name, name, runs.map((run) => { const value = parametersOf(run)[name]; return value === undefined ? null : String(value) })))
}

// --- curves ---

/** Thinned ones as means in their band, which ends with the newest point itself. */
export function drawn(s: MetricSeries, x: (p: readonly [number, number, ...number[]]) => number): { points: Point[]; band?: Stretch[] } {
  const points = s.points.map((p) => [x(p), p[2]] as const)
  const last = points[points.length - 1]
  if (!s.means || !last) return { points }
  return { points: [...s.means.map((p) => [x(p), p[2]] as const), last], band: s.means.map((p) => [x(p), p[3], p[4]] as const) }
}

/** A curve looks for its points by their place: steps that went backwards are put in order. */
function inOrder<P extends readonly [number, ...unknown[]]>(points: P[]): P[] {
  return points.every((p, i) => i === 0 || (points[i - 1]?.[0] ?? 0) <= p[0]) ? points : [...points].sort((a, b) => a[0] - b[0])
}

export interface Curve { points: readonly Point[]; band?: readonly Stretch[]; raw?: readonly Point[]; best: Point | null }

/** What a run counts or sets: more of it is neither good nor bad. */
const neutral = new Set(['lr', 'learning_rate', 'progress', 'epoch', 'step', 'iteration'])

/** The best one: by steps as the server kept it of all points; null of a name that is neither good nor bad, or never changes. */
function bestOf(s: MetricSeries, x: (p: readonly [number, number, ...number[]]) => number, by: 'step' | 'time', summary: Summary | undefined): Point | null {
  if (!summary || neutral.has(s.name.toLowerCase()) || s.points.length < 2 || s.points.every((p) => p[2] === s.points[0]?.[2])) return null
  return by === 'step' ? [summary.best_step, summary.best] : bestPoint(s.points.map((p) => [x(p), p[2]] as const), summary.lower)
}

/** What is drawn of one name of one run; alone: with the band of what its means are of. */
export function curveOf(s: MetricSeries, x: (p: readonly [number, number, ...number[]]) => number, look: { by: 'step' | 'time'; smooth: number }, summary: Summary | undefined, alone: boolean): Curve {
  const { points, band } = drawn(s, x)
  const ordered = inOrder(points)
  const best = bestOf(s, x, look.by, summary)
  if (look.smooth > 0) return { points: smoothed(ordered, look.smooth), raw: ordered, best }
  return { points: ordered, ...(band && alone && { band: inOrder([...band]) }), best }
}

/** Names in the order of their charts: those that a person moved to the front, then as the server has them. */
export function nameOrder(names: readonly string[], first: readonly string[]): string[] {
  return [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))]
}

/** At most four digits that matter. */
export function formatMetric(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2)
  return String(Number(value.toPrecision(4)))
}

/** The main metric of a run: the first that is no loss, else the first. */
export function mainMetric(run: Item): [string, Summary] | null {
  const all = Object.entries(metricsOf(run))
  return all.find(([, m]) => !m.lower) ?? all[0] ?? null
}

export const columnTitles: Partial<Record<Source, Key>> = { metric: 'runs.bestOf', last: 'runs.lastOf' }

/** Runs of one comparison: as many as there are colours. */
export const mostRuns = 10

export function idsOf(text: string | null): number[] {
  const ids = (text ?? '').split(',').map(Number).filter((id) => Number.isSafeInteger(id) && id > 0)
  return [...new Set(ids)].slice(0, mostRuns)
}
