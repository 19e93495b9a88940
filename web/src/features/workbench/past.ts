// What was done to a sample, in plain words, and how it becomes again what it was. Free of React.
import { request, type Schema } from '../../api/client'
import { createDocument, hasOneLabel, same, type Annotation, type AnnotationType, type CanvasDocument, type Change, type Shape } from '../../canvas'
import type { Place } from './journal'
import type { SampleState } from './surface'

/** What made a revision; those of no client are imports, submits, restores by the API. */
export type Item = Omit<Schema<'OperationList'>['items'][number], 'operation'> & { operation: Change | { op: 'create'; annotation: Annotation } | { op: 'state' } }

/** Verbs of the catalogue, `bench.did.*`. */
export type Did =
  | 'added' | 'removed' | 'relabelled' | 'wrote' | 'moved' | 'turned' | 'reshaped' | 'described' | 'ordered'
  | 'labelled' | 'unlabelled' | 'text' | 'attribute' | 'replaced' | 'renamed' | 'created' | 'state'

export interface Line {
  revision: number
  at: string
  by: string | null
  state: SampleState
  did: Did
  /** The shape: its type, its place in the order counted from 1, its label. */
  shape?: { type: Shape['type']; n: number; label?: string }
  from?: string
  to?: string
}

const numbersOf = (s: Shape): readonly number[] => {
  switch (s.type) {
    case 'box': return [s.x, s.y, s.x + s.w, s.y + s.h]
    case 'polygon': return [...s.rings, ...(s.holes ?? [])].flat()
    case 'keypoints': return s.points.flatMap(([x, y]) => [x, y])
    case 'mask': return []
  }
}

/** Everything went the same way: no point of it otherwise than the others. */
function shifted(was: Shape, now: Shape): boolean {
  const [a, b] = [numbersOf(was), numbersOf(now)]
  if (a.length !== b.length || a.length < 2) return false
  const by = b.map((v, i) => v - (a[i] ?? 0))
  return by.every((d, i) => Math.abs(d - (by[i % 2] ?? 0)) < 0.02) && by.some((d) => d !== 0)
}

/** Members that say where a shape is. */
const places = ['x', 'y', 'w', 'h', 'angle', 'rings', 'holes', 'points', 'size', 'counts', 'box'] as const
const outline = (s: Shape) => { const all: Record<string, unknown> = { ...s }; return places.map((name) => all[name] ?? null) }
const angleOf = (s: Shape) => (s.type === 'box' ? (s.angle ?? 0) : 0)

/** What one may do to a shape; the first that holds is told. */
const verbs: readonly [Did, (was: Shape, now: Shape) => boolean][] = [
  ['relabelled', (was, now) => was.label !== now.label],
  ['wrote', (was, now) => was.text !== now.text],
  ['moved', (was, now) => shifted(was, now) && angleOf(was) === angleOf(now)],
  ['turned', (was, now) => angleOf(was) !== angleOf(now)],
  ['reshaped', (was, now) => !same(outline(was), outline(now))],
  ['described', (was, now) => !same(was, now)],
  ['ordered', () => true],
]

function namedShape(document: CanvasDocument, shape: Shape, at: number): Pick<Line, 'shape'> {
  return { shape: { type: shape.type, n: (at < 0 ? document.shapes.length : at) + 1, ...(shape.label !== undefined && { label: shape.label }) } }
}

/** What the operation does to the document, which has not heard of it yet. */
function toldOf(document: CanvasDocument, operation: Item['operation'], state: SampleState): Pick<Line, 'did' | 'shape' | 'from' | 'to'> {
  switch (operation.op) {
    case 'put': {
      const { shape, at } = operation
      const was = document.shape(shape.id)
      if (!was) return { did: 'added', ...namedShape(document, shape, at ?? -1) }
      const did = verbs.find(([, holds]) => holds(was, shape))?.[0] ?? 'ordered'
      return {
        did, ...namedShape(document, did === 'relabelled' ? was : shape, document.indexOf(shape.id)),
        ...(did === 'relabelled' && { from: was.label ?? '', to: shape.label ?? '' }), ...(did === 'wrote' && { to: shape.text ?? '' }),
      }
    }
    case 'remove': {
      const was = document.shape(operation.shape)
      return { did: 'removed', ...(was && namedShape(document, was, document.indexOf(was.id))) }
    }
    case 'label': return { did: operation.on ? 'labelled' : 'unlabelled', to: operation.label }
    case 'text': return { did: 'text', to: operation.text ?? '' }
    case 'attribute': return { did: 'attribute', from: operation.name, to: typeof operation.value === 'string' ? operation.value : JSON.stringify(operation.value ?? null) }
    case 'replace': return { did: 'replaced' }
    case 'relabel': return { did: 'renamed', from: Object.keys(operation.labels).join(', '), to: [...new Set(Object.values(operation.labels))].join(', ') }
    case 'create': return { did: 'created' }
    case 'state': return { did: 'state', to: state }
  }
}

/** Lines for what was done, the oldest first, from the state before it on. */
export function linesOf(type: AnnotationType, before: Annotation, items: readonly Item[]): Line[] {
  const document = createDocument({ annotation: before, type, width: 0, height: 0 })
  return items.map(({ revision, at, by, state, operation }) => {
    const told = toldOf(document, operation, state)
    if (operation.op === 'create') document.receive({ op: 'replace', annotation: operation.annotation })
    else if (operation.op !== 'state') document.receive(operation)
    return { revision, at, by: by.name, state, ...told }
  })
}

const pageSize = 50

export interface Lines {
  /** The newest first. */
  lines: Line[]
  /** Older ones are before this revision; null: there are none. */
  next: number | null
}

const pathOf = ({ path, sample }: Place) => `${path}/samples/${sample}`

/** The annotation as it was after a revision. */
export async function stateAt(place: Place, revision: number, signal?: AbortSignal): Promise<Annotation> {
  if (revision < 1) return {}
  return (await request<{ annotation: Annotation }>(`${pathOf(place)}/at`, { query: { revision, layer: place.layer }, signal })).annotation
}

/** A page of what was done before a revision, or all since one (at most a page). */
export async function loadLines(place: Place, type: AnnotationType, from: { before: number } | { after: number }, signal?: AbortSignal): Promise<Lines> {
  const query = { ...from, limit: pageSize, whole: true, layer: place.layer }
  const { items, next } = await request<{ items: Item[]; next: number | null }>(`${pathOf(place)}/operations`, { query, signal })
  const oldestFirst = 'before' in from ? items.toReversed() : items
  const first = oldestFirst[0]
  if (!first) return { lines: [], next: null }
  return { lines: linesOf(type, await stateAt(place, first.revision - 1, signal), oldestFirst).reverse(), next }
}

/** More changes than this become one, which replaces everything. */
const mostChanges = 200

/** What makes an annotation of the document, shape by shape, so that undo and other people's work stand beside it. */
export function restoring(document: CanvasDocument, then: Annotation): Change[] {
  const { shapes = [], labels = [], text, attributes = {}, ...rest } = then
  const restNow = Object.fromEntries(Object.entries(document.annotation()).filter(([name]) => !['shapes', 'labels', 'text', 'attributes'].includes(name)))
  const whole: Change[] = [{ op: 'replace', annotation: then }]
  if (!same(rest, restNow) || shapes.some((s) => !s.id)) return whole
  const wanted = new Set(shapes.map((s) => s.id))
  const order = document.shapes.map((s) => s.id).filter((id) => wanted.has(id))
  const changes: Change[] = document.shapes.filter((s) => !wanted.has(s.id)).map((s) => ({ op: 'remove', shape: s.id }))
  shapes.forEach((shape, at) => {
    if (order[at] === shape.id) {
      if (!same(document.shape(shape.id), shape)) changes.push({ op: 'put', shape })
      return
    }
    const from = order.indexOf(shape.id)
    if (from >= 0) order.splice(from, 1)
    order.splice(at, 0, shape.id)
    changes.push({ op: 'put', shape, at })
  })
  const gone = document.labels.filter((l) => !labels.includes(l))
  if (!hasOneLabel(document.type) || labels.length === 0) changes.push(...gone.map((label): Change => ({ op: 'label', label, on: false })))
  changes.push(...labels.filter((l) => !document.labels.includes(l)).map((label): Change => ({ op: 'label', label, on: true })))
  if ((text ?? null) !== document.text) changes.push({ op: 'text', text: text ?? null })
  for (const name of new Set([...Object.keys(attributes), ...Object.keys(document.attributes)])) {
    if (!same(attributes[name] ?? null, document.attributes[name] ?? null)) changes.push({ op: 'attribute', name, value: attributes[name] ?? null })
  }
  return changes.length > mostChanges ? whole : changes
}
