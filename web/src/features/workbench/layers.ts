// What several people made of one sample, side by side for its reviewer: the layers of its seats, where they agree and where
// they do not, and what is taken of them into the sample's own annotation. Free of React.
import { compare, likeness, type Annotation, type Change, type Difference, type Layer, type Shape } from '../../canvas'
import type { Person } from './wire'

export interface SeatLayer {
  readonly id: number
  readonly user: Person | null
  /** It came after the lease was lost. */
  readonly late: boolean
  readonly annotation: Annotation
  readonly color: string
  readonly dash: readonly number[]
  readonly differing: ReadonlyMap<string, Difference>
  /** Labels that not all of them have. */
  readonly ownLabels: ReadonlySet<string>
}

export interface Picked {
  readonly layer: number
  readonly shape: string
}

export interface Layers {
  readonly list: readonly SeatLayer[]
  readonly hidden: ReadonlySet<number>
  readonly picked: Picked | null
}

export const noLayers: Layers = { list: [], hidden: new Set(), picked: null }

const colors = ['#1e88e5', '#f4511e', '#43a047', '#8e24aa', '#fdd835', '#00acc1', '#d81b60', '#6d4c41', '#7cb342']
const dashes: readonly (readonly number[])[] = [[], [9, 5], [2, 4], [12, 4, 2, 4], [5, 3]]
/** Two shapes that have less in common are different things. */
const related = 0.4

export function layersOf(found: readonly Pick<SeatLayer, 'id' | 'user' | 'late' | 'annotation'>[]): Layers {
  const differing = compare(found.map((l) => l.annotation.shapes ?? []))
  const list = found.map((layer, i): SeatLayer => ({
    ...layer,
    color: colors[i % colors.length] ?? '#1e88e5',
    dash: dashes[i % dashes.length] ?? [],
    differing: differing[i] ?? new Map(),
    ownLabels: new Set((layer.annotation.labels ?? []).filter((name) => found.some((other) => !other.annotation.labels?.includes(name)))),
  }))
  return { list, hidden: new Set(), picked: null }
}

export const differences = ({ list }: Layers): number => list.reduce((n, l) => n + l.differing.size + l.ownLabels.size, 0)

export function shapeOf({ list }: Layers, picked: Picked | null): Shape | undefined {
  return picked ? list.find((l) => l.id === picked.layer)?.annotation.shapes?.find((s) => s.id === picked.shape) : undefined
}

/** As the canvas draws them: those that are shown. */
export function drawn({ list, hidden, picked }: Layers): Layer[] {
  return list.filter((l) => !hidden.has(l.id)).map((l) => ({
    id: l.id, name: l.user?.name ?? '', color: l.color, dash: l.dash, shapes: l.annotation.shapes ?? [],
    differing: new Set(l.differing.keys()), picked: picked?.layer === l.id ? picked.shape : null,
  }))
}

/** All, then each alone, then none, then all again. */
export function inTurn({ list, hidden }: Layers): ReadonlySet<number> {
  const ids = list.map((l) => l.id)
  if (hidden.size === 0) return new Set(ids.slice(1))
  if (hidden.size === ids.length) return new Set()
  const at = ids.findIndex((id) => !hidden.has(id))
  return at + 1 < ids.length ? new Set(ids.filter((_, i) => i !== at + 1)) : new Set(ids)
}

function place(shape: Shape): [y: number, x: number] {
  if (shape.type === 'box') return [shape.y, shape.x]
  const flat = shape.type === 'keypoints' ? shape.points.flatMap(([x, y, v]) => (v ? [x, y] : [])) : (shape.type === 'polygon' ? shape.rings.flat() : [])
  const side = (odd: number) => flat.reduce((least, v, i) => (i % 2 === odd ? Math.min(least, v) : least), Infinity)
  return [side(1), side(0)]
}

/** The next shape that is not agreed on, from above to below: versions of one thing come after each other. */
export function nextDifference({ list, hidden, picked }: Layers, by: 1 | -1): Picked | null {
  const all = list.filter((l) => !hidden.has(l.id)).flatMap((l) => (l.annotation.shapes ?? []).filter((s) => l.differing.has(s.id)).map((shape) => ({ layer: l.id, shape, at: place(shape) })))
  all.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || a.layer - b.layer)
  const now = all.findIndex((one) => one.layer === picked?.layer && one.shape.id === picked.shape)
  const next = all[now < 0 ? (by === 1 ? 0 : all.length - 1) : (now + by + all.length) % all.length]
  return next ? { layer: next.layer, shape: next.shape.id } : null
}

/** Takes a shape: what was taken before of the same thing from somebody else makes way. */
export function takeShape({ list }: Layers, { layer, shape: id }: Picked, own: readonly Shape[]): Change[] {
  const shape = list.find((l) => l.id === layer)?.annotation.shapes?.find((s) => s.id === id)
  if (!shape) return []
  const others = new Set(list.filter((l) => l.id !== layer).flatMap((l) => (l.annotation.shapes ?? []).map((s) => s.id)))
  const away = own.filter((s) => s.id !== id && others.has(s.id) && likeness(s, shape) >= related)
  return [...away.map((s): Change => ({ op: 'remove', shape: s.id })), { op: 'put', shape }]
}
