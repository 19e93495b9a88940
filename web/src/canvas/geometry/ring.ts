// Closed lines as flat lists of numbers. A ring of n points has 2n numbers; wrong lengths are cut to whole points.
import type { Ring } from '../model'
import { nearestOn, nowhere, distance, type Point, type Rect } from './point'

export const count = (ring: Ring): number => ring.length >> 1

/** Point i, also of i below 0 or beyond the end: the line is closed. */
export function pointOf(ring: Ring, i: number): Point {
  const n = count(ring)
  const k = (((i % n) + n) % n) * 2
  return { x: ring[k] as number, y: ring[k + 1] as number }
}

export function flat(points: readonly Point[]): number[] {
  const ring: number[] = []
  for (const p of points) ring.push(p.x, p.y)
  return ring
}

export function points(ring: Ring): Point[] {
  return Array.from({ length: count(ring) }, (_, i) => pointOf(ring, i))
}

/** All NaN when one of the numbers is none or endless. */
export function ringBounds(ring: Ring): Rect {
  let { minX, minY, maxX, maxY } = nowhere
  for (let i = 0; i + 1 < ring.length; i += 2) {
    const x = ring[i] as number
    const y = ring[i + 1] as number
    if (!Number.isFinite(x + y)) return { minX: NaN, minY: NaN, maxX: NaN, maxY: NaN }
    if (x < minX) minX = x
    if (x > maxX) maxX = x
    if (y < minY) minY = y
    if (y > maxY) maxY = y
  }
  return { minX, minY, maxX, maxY }
}

/** Twice the area, positive when the points go clockwise on the screen. */
export function signedArea2(ring: Ring): number {
  const n = ring.length - (ring.length & 1)
  let sum = 0
  for (let i = 0, j = n - 2; i < n; j = i, i += 2) {
    sum += (ring[j] as number) * (ring[i + 1] as number) - (ring[i] as number) * (ring[j + 1] as number)
  }
  return sum
}

export const ringArea = (ring: Ring): number => Math.abs(signedArea2(ring)) / 2

export function reversed(ring: Ring): number[] {
  const out: number[] = []
  for (let i = count(ring) - 1; i >= 0; i -= 1) out.push(ring[i * 2] as number, ring[i * 2 + 1] as number)
  return out
}

/** Whether the point is inside; where the ring crosses itself, wherever it goes round at all. */
export function inRing(ring: Ring, x: number, y: number): boolean {
  const n = ring.length - (ring.length & 1)
  let winding = 0
  for (let i = 0, j = n - 2; i < n; j = i, i += 2) {
    const [ax, ay, bx, by] = [ring[j] as number, ring[j + 1] as number, ring[i] as number, ring[i + 1] as number]
    if (ay <= y === by <= y) continue
    const side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    if (by > ay ? side > 0 : side < 0) winding += by > ay ? 1 : -1
  }
  return winding !== 0
}

export interface OnEdge {
  /** The edge from point `index` to the next. */
  readonly index: number
  readonly point: Point
  readonly distance: number
}

export function nearestEdge(ring: Ring, p: Point): OnEdge | null {
  let best: OnEdge | null = null
  for (let i = 0; i < count(ring); i += 1) {
    const point = nearestOn(p, pointOf(ring, i), pointOf(ring, i + 1))
    const d = distance(p, point)
    if (!best || d < best.distance) best = { index: i, point, distance: d }
  }
  return best
}

export function nearestPoint(ring: Ring, p: Point): { index: number; distance: number } | null {
  let best: { index: number; distance: number } | null = null
  for (let i = 0; i < count(ring); i += 1) {
    const d = distance(p, pointOf(ring, i))
    if (!best || d < best.distance) best = { index: i, distance: d }
  }
  return best
}

/** A new point on the edge that follows point `after`. */
export const withPoint = (ring: Ring, after: number, p: Point): number[] => [...ring.slice(0, after * 2 + 2), p.x, p.y, ...ring.slice(after * 2 + 2)]

export const withMoved = (ring: Ring, i: number, p: Point): number[] => [...ring.slice(0, i * 2), p.x, p.y, ...ring.slice(i * 2 + 2)]

/** Null when fewer than three points are left. */
export function withoutPoint(ring: Ring, i: number): number[] | null {
  return count(ring) <= 3 ? null : [...ring.slice(0, i * 2), ...ring.slice(i * 2 + 2)]
}

export const shifted = (ring: Ring, dx: number, dy: number): number[] => ring.map((v, i) => v + (i % 2 === 0 ? dx : dy))

/** Without points that repeat the one before. */
export function withoutRepeats(ring: Ring): number[] {
  const out: number[] = []
  for (let i = 0; i + 1 < ring.length; i += 2) {
    const [x, y] = [ring[i] as number, ring[i + 1] as number]
    if (out.length === 0 || out.at(-2) !== x || out.at(-1) !== y) out.push(x, y)
  }
  while (out.length > 2 && out.at(-2) === out[0] && out.at(-1) === out[1]) out.length -= 2
  return out
}
