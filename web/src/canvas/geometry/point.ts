// Points, segments and rectangles in pixels of the picture: x goes right, y goes down.
export interface Point {
  readonly x: number
  readonly y: number
}

export interface Rect {
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

export const nowhere: Rect = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity }

export const isEmpty = (r: Rect): boolean => !(r.minX <= r.maxX && r.minY <= r.maxY)
export const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y)
export const clamp = (v: number, low: number, high: number): number => Math.max(low, Math.min(high, v))
/** Hundredths of a pixel: finer than a hand, and few bytes. */
export const round = (v: number): number => Math.round(v * 100) / 100 + 0

export function rectOf(a: Point, b: Point): Rect {
  return { minX: Math.min(a.x, b.x), minY: Math.min(a.y, b.y), maxX: Math.max(a.x, b.x), maxY: Math.max(a.y, b.y) }
}

export function join(a: Rect, b: Rect): Rect {
  return { minX: Math.min(a.minX, b.minX), minY: Math.min(a.minY, b.minY), maxX: Math.max(a.maxX, b.maxX), maxY: Math.max(a.maxY, b.maxY) }
}

export function grow(r: Rect, by: number): Rect {
  return { minX: r.minX - by, minY: r.minY - by, maxX: r.maxX + by, maxY: r.maxY + by }
}

export const overlap = (a: Rect, b: Rect): boolean => a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY
export const covers = (outer: Rect, inner: Rect): boolean =>
  outer.minX <= inner.minX && outer.minY <= inner.minY && outer.maxX >= inner.maxX && outer.maxY >= inner.maxY

/** The point turned by degrees clockwise (on the screen) about another. */
export function turn(p: Point, about: Point, degrees: number): Point {
  if (degrees === 0) return p
  const a = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(a), Math.sin(a)]
  const [dx, dy] = [p.x - about.x, p.y - about.y]
  return { x: about.x + dx * cos - dy * sin, y: about.y + dx * sin + dy * cos }
}

/** The point of the segment nearest to p. */
export function nearestOn(p: Point, a: Point, b: Point): Point {
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  const long = dx * dx + dy * dy
  if (!(long > 0)) return a
  const t = clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / long, 0, 1)
  return { x: a.x + t * dx, y: a.y + t * dy }
}

export const toSegment = (p: Point, a: Point, b: Point): number => distance(p, nearestOn(p, a, b))
