// Upright and turned boxes. A turned one is given by its upright self and the angle about its middle.
import type { BoxShape } from '../model'
import { clamp, distance, turn, type Point, type Rect } from './point'

export type Box = Pick<BoxShape, 'x' | 'y' | 'w' | 'h' | 'angle'>
/** Compass names of what can be taken hold of; `turn` is the handle above the upper edge. */
export type HandleName = 'nw' | 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w' | 'turn'

/** Where each handle is: -1 left/top, 0 middle, 1 right/bottom. */
const sides: Readonly<Record<Exclude<HandleName, 'turn'>, readonly [number, number]>> = {
  nw: [-1, -1], n: [0, -1], ne: [1, -1], e: [1, 0], se: [1, 1], s: [0, 1], sw: [-1, 1], w: [-1, 0],
}
const names = Object.keys(sides) as Exclude<HandleName, 'turn'>[]

export const middle = (b: Box): Point => ({ x: b.x + b.w / 2, y: b.y + b.h / 2 })

/** Clockwise from the upper left one. */
export function corners(b: Box): Point[] {
  const m = middle(b)
  return [[b.x, b.y], [b.x + b.w, b.y], [b.x + b.w, b.y + b.h], [b.x, b.y + b.h]].map(([x, y]) => turn({ x: x as number, y: y as number }, m, b.angle ?? 0))
}

export function boxBounds(b: Box): Rect {
  if (!b.angle) return { minX: b.x, minY: b.y, maxX: b.x + b.w, maxY: b.y + b.h }
  const at = corners(b)
  const [xs, ys] = [at.map((p) => p.x), at.map((p) => p.y)]
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) }
}

export function inBox(b: Box, p: Point): boolean {
  const q = turn(p, middle(b), -(b.angle ?? 0))
  return q.x >= b.x && q.x <= b.x + b.w && q.y >= b.y && q.y <= b.y + b.h
}

/** Distance to the outline, from inside and outside. */
export function toBox(b: Box, p: Point): number {
  const q = turn(p, middle(b), -(b.angle ?? 0))
  const near = { x: clamp(q.x, b.x, b.x + b.w), y: clamp(q.y, b.y, b.y + b.h) }
  const outside = distance(q, near)
  return outside > 0 ? outside : Math.min(q.x - b.x, b.x + b.w - q.x, q.y - b.y, b.y + b.h - q.y)
}

/** Handles in the picture; the one to turn stands `reach` above the upper edge. */
export function handles(b: Box, turnable: boolean, reach: number): { name: HandleName; at: Point }[] {
  const m = middle(b)
  const place = (x: number, y: number): Point => turn({ x, y }, m, b.angle ?? 0)
  const all: { name: HandleName; at: Point }[] = names.map((name) => ({ name, at: place(m.x + (sides[name][0] * b.w) / 2, m.y + (sides[name][1] * b.h) / 2) }))
  if (turnable) all.push({ name: 'turn', at: place(m.x, b.y - reach) })
  return all
}

/** The box with the handle drawn to p; the opposite side stays where it is, also of turned boxes. */
export function resized(b: Box, handle: Exclude<HandleName, 'turn'>, p: Point, keepRatio = false): Box {
  const m = middle(b)
  const angle = b.angle ?? 0
  const q = turn(p, m, -angle)
  const [sx, sy] = sides[handle]
  // The corner (or side) that stays, in the box's own directions.
  const fixed = { x: m.x - (sx * b.w) / 2, y: m.y - (sy * b.h) / 2 }
  let w = sx === 0 ? b.w : Math.abs(q.x - fixed.x)
  let h = sy === 0 ? b.h : Math.abs(q.y - fixed.y)
  if (keepRatio && sx !== 0 && sy !== 0 && b.w > 0 && b.h > 0) {
    const k = Math.max(w / b.w, h / b.h)
    w = b.w * k
    h = b.h * k
  }
  const dx = sx === 0 ? 0 : q.x < fixed.x ? -1 : 1
  const dy = sy === 0 ? 0 : q.y < fixed.y ? -1 : 1
  const newMiddle = turn({ x: sx === 0 ? m.x : fixed.x + (dx * w) / 2, y: sy === 0 ? m.y : fixed.y + (dy * h) / 2 }, m, angle)
  return { x: newMiddle.x - w / 2, y: newMiddle.y - h / 2, w, h, ...(angle !== 0 && { angle }) }
}

/** -180 < angle <= 180. */
export function normalAngle(degrees: number): number {
  const a = ((degrees % 360) + 360) % 360
  return a > 180 ? a - 360 : a
}

/** The angle at which the handle above the box points to p; whole steps of 15 degrees when asked. */
export function angleTo(b: Box, p: Point, steps: boolean): number {
  const m = middle(b)
  const a = (Math.atan2(p.y - m.y, p.x - m.x) * 180) / Math.PI + 90
  return normalAngle(steps ? Math.round(a / 15) * 15 : a)
}

export const fromRect = (r: Rect): Box => ({ x: r.minX, y: r.minY, w: r.maxX - r.minX, h: r.maxY - r.minY })

/** The turned box whose first edge goes from a to b and whose other side passes through p. */
export function fromEdge(a: Point, b: Point, p: Point): Box {
  const w = distance(a, b)
  const angle = Math.atan2(b.y - a.y, b.x - a.x)
  const [nx, ny] = [-Math.sin(angle), Math.cos(angle)]
  const h = (p.x - a.x) * nx + (p.y - a.y) * ny
  const m = { x: (a.x + b.x) / 2 + (nx * h) / 2, y: (a.y + b.y) / 2 + (ny * h) / 2 }
  const tall = Math.abs(h)
  // The edge drawn first is the upper one of the box when p lies below it, the lower one otherwise.
  const degrees = normalAngle((angle * 180) / Math.PI + (h < 0 ? 180 : 0))
  return { x: m.x - w / 2, y: m.y - tall / 2, w, h: tall, ...(degrees !== 0 && { angle: degrees }) }
}
