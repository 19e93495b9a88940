// Putting points onto corners and edges of neighbours, and finding corners that several polygons share.
import type { Ring, Shape } from '../model'
import { distance, type Point } from './point'
import { corners } from './box'
import { count, flat, nearestEdge, pointOf } from './ring'

export interface Snapped {
  readonly point: Point
  readonly kind: 'vertex' | 'edge'
  readonly shape: string
}

/** Where one corner of a polygon is. */
export interface Corner {
  readonly shape: string
  readonly part: 'rings' | 'holes'
  readonly ring: number
  readonly index: number
}

export function outlines(shape: Shape): readonly Ring[] {
  if (shape.type === 'polygon') return [...shape.rings, ...(shape.holes ?? [])]
  return shape.type === 'box' ? [flat(corners(shape))] : []
}

/** Corners win over edges, the nearest of each wins; null when nothing is within reach. */
export function snapTo(p: Point, reach: number, neighbours: readonly Shape[]): Snapped | null {
  let vertex: Snapped | null = null
  let edge: Snapped | null = null
  let [toVertex, toEdge] = [reach, reach]
  for (const shape of neighbours) {
    for (const ring of outlines(shape)) {
      for (let i = 0; i < count(ring); i += 1) {
        const at = pointOf(ring, i)
        const d = distance(p, at)
        if (d > toVertex) continue
        toVertex = d
        vertex = { point: at, kind: 'vertex', shape: shape.id }
      }
      const near = nearestEdge(ring, p)
      if (!near || near.distance > toEdge) continue
      toEdge = near.distance
      edge = { point: near.point, kind: 'edge', shape: shape.id }
    }
  }
  return vertex ?? edge
}

/** All corners at the same place: a border that neighbours share is moved for all of them. */
export function sharedCorners(at: Point, shapes: readonly Shape[]): Corner[] {
  const found: Corner[] = []
  for (const shape of shapes) {
    if (shape.type !== 'polygon') continue
    for (const part of ['rings', 'holes'] as const) {
      (shape[part] ?? []).forEach((ring, r) => {
        for (let i = 0; i < count(ring); i += 1) {
          const p = pointOf(ring, i)
          if (Math.abs(p.x - at.x) < 0.015 && Math.abs(p.y - at.y) < 0.015) found.push({ shape: shape.id, part, ring: r, index: i })
        }
      })
    }
  }
  return found
}
