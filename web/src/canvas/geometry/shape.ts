// What can be asked of any shape, and done to it. Functions that change give a new shape.
import type { Keypoint, Ring, Shape } from '../model'
import { boxBounds, fromRect, inBox, toBox } from './box'
import { cleaned, crossesItself, intersection, regionArea, untangled } from './boolean'
import { nearestKeypoint, pointsBounds, unset } from './keypoints'
import { inMask, maskBounds, runsOf } from './mask'
import { clamp, distance, grow, isEmpty, join, nowhere, covers, overlap, round, type Point, type Rect } from './point'
import { count, inRing, nearestEdge, pointOf, ringBounds, shifted, withoutRepeats } from './ring'

const maskRuns = new WeakMap<Shape, readonly number[]>()

/** Run lengths of a mask, decoded once; empty when they are broken. */
export function runsFor(shape: Shape): readonly number[] {
  let runs = maskRuns.get(shape)
  if (!runs) {
    const [height, width] = 'size' in shape && shape.size ? shape.size : [0, 0]
    runs = 'counts' in shape && typeof shape.counts === 'string' && height > 0 && width > 0 ? (runsOf(shape.counts, width, height) ?? []) : []
    maskRuns.set(shape, runs)
  }
  return runs
}

/** An empty rectangle (see isEmpty) when the shape has no place: broken ones are neither drawn nor hit. */
export function bounds(shape: Shape): Rect {
  const r = roughBounds(shape)
  return Number.isFinite(r.minX) && Number.isFinite(r.minY) && Number.isFinite(r.maxX) && Number.isFinite(r.maxY) ? r : nowhere
}

/** Whether the shape has a place; one that has none can only be looked up and deleted. */
export const isSound = (shape: Shape): boolean => !isEmpty(bounds(shape))

function roughBounds(shape: Shape): Rect {
  switch (shape.type) {
    case 'box': return boxBounds(shape)
    case 'polygon': return (shape.rings ?? []).reduce((r, ring) => join(r, ringBounds(ring)), nowhere)
    case 'mask': return maskBounds(runsFor(shape), shape.size?.[0] ?? 0)
    case 'keypoints': return pointsBounds(shape.points ?? [])
    default: return nowhere
  }
}

export function inRings(rings: readonly Ring[], holes: readonly Ring[] | undefined, p: Point): boolean {
  return rings.some((r) => inRing(r, p.x, p.y)) && !(holes ?? []).some((r) => inRing(r, p.x, p.y))
}

export function inside(shape: Shape, p: Point): boolean {
  switch (shape.type) {
    case 'box': return inBox(shape, p)
    case 'polygon': return inRings(shape.rings, shape.holes, p)
    case 'mask': return inMask(runsFor(shape), shape.size[0], p.x, p.y)
    case 'keypoints': return false
  }
}

/** Distance to the outline or to the nearest joint or bone. */
export function toOutline(shape: Shape, p: Point, edges: readonly (readonly [number, number])[] = []): number {
  switch (shape.type) {
    case 'box': return toBox(shape, p)
    case 'polygon': return [...shape.rings, ...(shape.holes ?? [])].reduce((d, ring) => Math.min(d, nearestEdge(ring, p)?.distance ?? Infinity), Infinity)
    case 'mask': return Infinity
    case 'keypoints': {
      const near = nearestKeypoint(shape.points, p, Infinity)
      const joint = shape.points[near]
      const d = joint ? distance(p, { x: joint[0], y: joint[1] }) : Infinity
      return edges.reduce((least, [a, b]) => {
        const [p1, p2] = [shape.points[a], shape.points[b]]
        return p1?.[2] && p2?.[2] ? Math.min(least, nearestEdge([p1[0], p1[1], p2[0], p2[1]], p)?.distance ?? Infinity) : least
      }, d)
    }
  }
}

export function areaOf(shape: Shape): number {
  switch (shape.type) {
    case 'box': return shape.w * shape.h
    case 'polygon': return regionArea(shape)
    case 'mask': return runsFor(shape).reduce((s, run, i) => (i % 2 === 1 ? s + run : s), 0)
    case 'keypoints': {
      const r = bounds(shape)
      return isEmpty(r) ? 0 : (r.maxX - r.minX) * (r.maxY - r.minY)
    }
  }
}

/** Masks stay where they are: their pixels belong to the picture. */
export function moved(shape: Shape, dx: number, dy: number): Shape {
  switch (shape.type) {
    case 'box': return { ...shape, x: shape.x + dx, y: shape.y + dy }
    case 'polygon': return { ...shape, rings: shape.rings.map((r) => shifted(r, dx, dy)), ...(shape.holes && { holes: shape.holes.map((r) => shifted(r, dx, dy)) }) }
    case 'mask': return shape
    case 'keypoints': return { ...shape, points: shape.points.map(([x, y, v]): Keypoint => (v > 0 ? [x + dx, y + dy, v] : unset)), ...(shape.rings && { rings: shape.rings.map((r) => shifted(r, dx, dy)) }) }
  }
}

/** How far shapes may be moved so that their bounds stay in the picture. */
export function roomFor(r: Rect, dx: number, dy: number, width: number, height: number): Point {
  return {
    x: r.maxX - r.minX > width ? dx : clamp(dx, -r.minX, width - r.maxX),
    y: r.maxY - r.minY > height ? dy : clamp(dy, -r.minY, height - r.maxY),
  }
}

export type Refusal = 'outside' | 'too-small' | 'too-few-points' | 'too-many-points'
export interface Fitted {
  readonly shape: Shape
  readonly clipped: boolean
  readonly crossing: boolean
}

/** The model's own limits; what is over them, the server would refuse. */
export const mostPoints = 20_000
const leastSide = 0.5

/** The shape as it may be saved: within the picture, without crossings, in hundredths of a pixel; or why there is none. */
export function fitted(shape: Shape, width: number, height: number): Fitted | Refusal {
  const r = bounds(shape)
  if (isEmpty(r)) return shape.type === 'keypoints' ? 'too-few-points' : 'too-small'
  // What a file said about box and area is no longer true of a changed shape.
  const own = without(shape, 'box', 'area') as Shape
  const picture = { minX: 0, minY: 0, maxX: width, maxY: height }
  const known = width > 0 && height > 0
  if (known && !overlap(picture, r)) return 'outside'
  const clipped = known && !covers(picture, r)
  switch (own.type) {
    case 'box': return fittedBox(own, r, picture, clipped)
    case 'polygon': return untangled(() => fittedPolygon(own, picture, clipped)) ?? 'too-many-points'
    case 'keypoints': {
      const keep = ([x, y, v]: Keypoint): Keypoint => (v === 0 || (known && (x < 0 || y < 0 || x > width || y > height)) ? unset : [round(x), round(y), v])
      const points = own.points.map(keep)
      return points.some(([, , v]) => v > 0) ? { shape: { ...own, points }, clipped, crossing: false } : 'outside'
    }
    case 'mask': return { shape: own, clipped: false, crossing: false }
  }
}

function fittedBox(shape: Shape & { type: 'box' }, r: Rect, picture: Rect, clipped: boolean): Fitted | Refusal {
  const angle = round(shape.angle ?? 0)
  // A turned box cut at the edge would be none: it may stand out, only its middle must be in the picture.
  const cutHere = clipped && angle === 0
  const cutRect = { minX: Math.max(r.minX, picture.minX), minY: Math.max(r.minY, picture.minY), maxX: Math.min(r.maxX, picture.maxX), maxY: Math.min(r.maxY, picture.maxY) }
  const b = cutHere ? fromRect(cutRect) : shape
  if (!(b.w >= leastSide && b.h >= leastSide)) return 'too-small'
  const rest = without(shape, 'angle')
  return { shape: { ...rest, x: round(b.x), y: round(b.y), w: round(b.w), h: round(b.h), ...(angle !== 0 && { angle }) }, clipped: cutHere, crossing: false }
}

function fittedPolygon(shape: Shape & { type: 'polygon' }, picture: Rect, clipped: boolean): Fitted | Refusal {
  const tidy = (rings: readonly Ring[] | undefined): number[][] => (rings ?? []).map((ring) => withoutRepeats(ring.map(round))).filter((ring) => count(ring) >= 3)
  let region: { rings: readonly Ring[]; holes?: readonly Ring[] | undefined } = { rings: tidy(shape.rings), holes: tidy(shape.holes) }
  if (region.rings.length === 0) return 'too-few-points'
  if (region.rings.reduce((n, ring) => n + count(ring), 0) > mostPoints) return 'too-many-points'
  const crossing = [...region.rings, ...(region.holes ?? [])].some(crossesItself)
  if (crossing) region = cleaned(region)
  if (clipped) region = intersection(region, { rings: [[picture.minX, picture.minY, picture.maxX, picture.minY, picture.maxX, picture.maxY, picture.minX, picture.maxY]] })
  if (!(regionArea(region) >= leastSide * leastSide)) return region.rings.length === 0 && clipped ? 'outside' : 'too-small'
  const rest = without(shape, 'holes')
  return { shape: { ...rest, rings: region.rings, ...(region.holes?.length && { holes: region.holes }) }, clipped, crossing }
}

function without<T extends object>(from: T, ...names: string[]): T {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name))) as T
}

/** Whether a rubber band takes the shape: all of it, or any part when the band is drawn to the left. */
export function inBand(shape: Shape, band: Rect, anyPart: boolean): boolean {
  const r = bounds(shape)
  return !isEmpty(r) && (anyPart ? overlap(grow(band, 0), r) : covers(band, r))
}

export const firstPoint = (shape: Shape): Point | null => {
  if (shape.type === 'polygon' && shape.rings[0] && count(shape.rings[0]) > 0) return pointOf(shape.rings[0], 0)
  const r = bounds(shape)
  return isEmpty(r) ? null : { x: r.minX, y: r.minY }
}
