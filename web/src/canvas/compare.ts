// Where what several people drew on one picture agrees, and where it does not.
import RBush from 'rbush'
import { intersection, regionArea, untangled, type Region } from './geometry/boolean'
import { corners } from './geometry/box'
import { distance, isEmpty, type Rect } from './geometry/point'
import { count, flat } from './geometry/ring'
import { bounds } from './geometry/shape'
import type { KeypointsShape, Shape } from './model'

/** Why a shape is not what the others have: nobody else drew it, or they drew it elsewhere, called or wrote it otherwise. */
export type Difference = 'place' | 'text' | 'label' | 'alone'

/** So much in common is the same thing; so much is the same thing drawn carelessly. */
const alike = 0.8
const related = 0.4
/** Joints nearer than this share of the skeleton's size are the same. */
const joint = 0.05
/** Beyond so many points the bounds decide: exact areas would hold the page up. */
const mostPoints = 2_000
const graver: readonly (Difference | null)[] = [null, 'place', 'text', 'label', 'alone']

const areaOf = (r: Rect): number => Math.max(0, r.maxX - r.minX) * Math.max(0, r.maxY - r.minY)

function ofBounds(a: Rect, b: Rect): number {
  if (isEmpty(a) || isEmpty(b)) return 0
  const both = areaOf({ minX: Math.max(a.minX, b.minX), minY: Math.max(a.minY, b.minY), maxX: Math.min(a.maxX, b.maxX), maxY: Math.min(a.maxY, b.maxY) })
  const either = areaOf(a) + areaOf(b) - both
  return either > 0 ? both / either : 0
}

function regionOf(shape: Shape): Region | null {
  if (shape.type === 'box') return { rings: [flat(corners(shape))] }
  return shape.type === 'polygon' ? shape : null
}

function ofRegions(a: Region, b: Region): number | null {
  const points = [...a.rings, ...(a.holes ?? []), ...b.rings, ...(b.holes ?? [])].reduce((n, ring) => n + count(ring), 0)
  const both = points > mostPoints ? null : untangled(() => regionArea(intersection(a, b)))
  if (both === null) return null
  const either = regionArea(a) + regionArea(b) - both
  return either > 0 ? both / either : 0
}

function ofJoints(a: KeypointsShape, b: KeypointsShape): number {
  const r = bounds(a)
  const reach = Math.max(2, joint * Math.hypot(r.maxX - r.minX, r.maxY - r.minY))
  let [set, common] = [0, 0]
  for (let i = 0; i < Math.max(a.points.length, b.points.length); i += 1) {
    const [p, q] = [a.points[i], b.points[i]]
    if (!p?.[2] && !q?.[2]) continue
    set += 1
    if (p?.[2] && q?.[2] && distance({ x: p[0], y: p[1] }, { x: q[0], y: q[1] }) <= reach) common += 1
  }
  return set > 0 ? common / set : 0
}

/** How much two shapes have in common, 0 to 1: of areas the intersection over the union, of skeletons the joints at one place. */
export function likeness(a: Shape, b: Shape): number {
  if (a.type === 'keypoints' && b.type === 'keypoints') return ofJoints(a, b)
  if (a.type === 'mask' && b.type === 'mask' && a.counts === b.counts) return 1
  const straight = (s: Shape) => s.type === 'box' && !s.angle
  const [x, y] = [regionOf(a), regionOf(b)]
  const exact = x && y && !(straight(a) && straight(b)) ? ofRegions(x, y) : null
  return exact ?? ofBounds(bounds(a), bounds(b))
}

interface Item extends Rect {
  readonly shape: Shape
}

/** How one shape stands to those of another person; what was found to be the same is not found again. */
function against(shape: Shape, tree: RBush<Item>, taken: Set<string>): Difference | null {
  let [best, most]: [Shape | null, number] = [null, 0]
  for (const { shape: other } of tree.search(bounds(shape))) {
    if (taken.has(other.id)) continue
    // Of two that lie equally well, the one with the same label is meant.
    const n = likeness(shape, other) + (other.label === shape.label ? 1e-3 : 0)
    if (n > most) [best, most] = [other, n]
  }
  if (!best || most < related) return 'alone'
  taken.add(best.id)
  if (best.label !== shape.label) return 'label'
  if ((best.text ?? '') !== (shape.text ?? '')) return 'text'
  return most >= alike ? null : 'place'
}

/** Of each list, the shapes that not all others have, and why. */
export function compare(lists: readonly (readonly Shape[])[]): Map<string, Difference>[] {
  const trees = lists.map((shapes) => {
    const items = shapes.flatMap((shape): Item[] => {
      const r = bounds(shape)
      return isEmpty(r) ? [] : [{ ...r, shape }]
    })
    return new RBush<Item>().load(items)
  })
  return lists.map((shapes, i) => {
    const found = new Map<string, Difference>()
    trees.forEach((tree, j) => {
      const taken = new Set<string>()
      if (i === j) return
      for (const shape of shapes) {
        const now = against(shape, tree, taken)
        if (now && graver.indexOf(now) > graver.indexOf(found.get(shape.id) ?? null)) found.set(shape.id, now)
      }
    })
    return found
  })
}
