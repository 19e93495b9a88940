// Taking hold of a part of a selected shape: a handle of a box, a corner of a polygon with all that share it, a joint.
import { angleTo, handles, resized, type HandleName } from '../geometry/box'
import { nearestKeypoint } from '../geometry/keypoints'
import { distance, grow, type Point } from '../geometry/point'
import { nearestEdge, nearestPoint, pointOf, withMoved, withPoint } from '../geometry/ring'
import { isSound } from '../geometry/shape'
import { sharedCorners, type Corner } from '../geometry/snap'
import type { BoxShape, Keypoint, KeypointsShape, PolygonShape, Shape } from '../model'
import type { Stage } from '../stage'
import type { Pointer } from './tool'

export interface Grip {
  readonly cursor: string
  /** The place taken hold of, and the corner for commands. */
  readonly at: Point
  readonly corner?: Corner
  /** The shapes as they would be with the grip drawn to p. */
  drawn(p: Pointer): Shape[]
}

const cursors: Readonly<Record<HandleName, string>> = {
  nw: 'nwse-resize', se: 'nwse-resize', ne: 'nesw-resize', sw: 'nesw-resize', n: 'ns-resize', s: 'ns-resize', e: 'ew-resize', w: 'ew-resize', turn: 'grab',
}
/** How far above the box its handle to turn stands, in screen pixels. */
export const turnReach = 24

/** What is under p of the one selected shape. */
export function gripAt(stage: Stage, p: Point, edges: boolean): Grip | null {
  const shapes = stage.selected()
  const shape = shapes[0]
  if (shapes.length !== 1 || !shape || !isSound(shape) || stage.readOnly || stage.isHidden(shape) || stage.isLocked(shape)) return null
  switch (shape.type) {
    case 'box': return boxGrip(stage, shape, p)
    case 'polygon': return cornerGrip(stage, shape, p) ?? (edges ? edgeGrip(stage, shape, p) : null)
    case 'keypoints': return jointGrip(stage, shape, p)
    case 'mask': return null
  }
}

export const turnable = (stage: Stage): boolean => stage.document.type === 'rotated-detection' || stage.document.type === 'ocr'

function boxGrip(stage: Stage, shape: BoxShape, p: Point): Grip | null {
  const near = stage.reach(8)
  const found = handles(shape, turnable(stage), stage.reach(turnReach)).map((h) => ({ ...h, d: distance(h.at, p) })).filter((h) => h.d <= near).sort((a, b) => a.d - b.d)[0]
  if (!found) return null
  const { name, at } = found
  if (name === 'turn') {
    return { cursor: cursors.turn, at, drawn: (q) => [{ ...shape, angle: angleTo(shape, q, q.shift) }] }
  }
  return { cursor: cursors[name], at, drawn: (q) => [{ ...shape, ...resized(shape, name, shape.angle ? q : stage.within(q), q.shift) }] }
}

/** The corners of neighbours at the same place go along, unless alt is held. */
function cornerGrip(stage: Stage, shape: PolygonShape, p: Point): Grip | null {
  const found = nearestCorner(shape, p)
  if (!found || found.distance > stage.reach(8)) return null
  const { corner } = found
  const at = pointOf(ringOf(shape, corner), corner.index)
  const shared = sharedCorners(at, stage.index.search(grow({ minX: at.x, minY: at.y, maxX: at.x, maxY: at.y }, 0.02)).filter((s) => !stage.isLocked(s) && !stage.isHidden(s)))
  return {
    cursor: 'move',
    at,
    corner,
    drawn(q) {
      const corners = q.alt ? [corner] : shared
      const ids = new Set(corners.map((c) => c.shape))
      const to = stage.snap(stage.within(q), ids).point
      return [...ids].map((id) => corners.filter((c) => c.shape === id).reduce((s, c) => moveCorner(s, c, to), stage.document.shape(id) as PolygonShape))
    },
  }
}

/** Drawing at an edge makes a new corner there. */
function edgeGrip(stage: Stage, shape: PolygonShape, p: Point): Grip | null {
  let best: { part: 'rings' | 'holes'; ring: number; index: number; point: Point; distance: number } | null = null
  for (const part of ['rings', 'holes'] as const) {
    (shape[part] ?? []).forEach((ring, r) => {
      const near = nearestEdge(ring, p)
      if (near && (!best || near.distance < best.distance)) best = { part, ring: r, ...near }
    })
  }
  const found = best as { part: 'rings' | 'holes'; ring: number; index: number; point: Point; distance: number } | null
  if (!found || found.distance > stage.reach(6)) return null
  const change = (to: Point): PolygonShape => ({ ...shape, [found.part]: (shape[found.part] ?? []).map((ring, r) => (r === found.ring ? withPoint(ring, found.index, to) : ring)) })
  return { cursor: 'copy', at: found.point, drawn: (q) => [change(stage.snap(stage.within(q), new Set([shape.id])).point)] }
}

function jointGrip(stage: Stage, shape: KeypointsShape, p: Point): Grip | null {
  const i = nearestKeypoint(shape.points, p, stage.reach(9))
  const joint = shape.points[i]
  if (!joint) return null
  return {
    cursor: 'move',
    at: { x: joint[0], y: joint[1] },
    corner: { shape: shape.id, part: 'rings', ring: 0, index: i },
    drawn(q) {
      const to = stage.within(q)
      return [{ ...shape, points: shape.points.map((k, n): Keypoint => (n === i ? [to.x, to.y, k[2]] : k)) }]
    },
  }
}

function nearestCorner(shape: PolygonShape, p: Point): { corner: Corner; distance: number } | null {
  let best: { corner: Corner; distance: number } | null = null
  for (const part of ['rings', 'holes'] as const) {
    for (const [r, ring] of (shape[part] ?? []).entries()) {
      const near = nearestPoint(ring, p)
      if (near && (!best || near.distance < best.distance)) best = { corner: { shape: shape.id, part, ring: r, index: near.index }, distance: near.distance }
    }
  }
  return best
}

const ringOf = (shape: PolygonShape, c: Corner): readonly number[] => (shape[c.part] ?? [])[c.ring] ?? []

function moveCorner(shape: PolygonShape, c: Corner, to: Point): PolygonShape {
  return { ...shape, [c.part]: (shape[c.part] ?? []).map((ring, r) => (r === c.ring ? withMoved(ring, c.index, to) : ring)) }
}
