// Keypoints with a skeleton: placing, mirroring, hits.
import type { Keypoint, Skeleton } from '../model'
import { distance, nowhere, join, type Point, type Rect } from './point'

export const unset: Keypoint = [0, 0, 0]

/** Around the points that are labelled; an empty rectangle when none is. */
export function pointsBounds(points: readonly Keypoint[]): Rect {
  return points.reduce((r, [x, y, v]) => (v > 0 ? join(r, { minX: x, minY: y, maxX: x, maxY: y }) : r), nowhere)
}

export function nearestKeypoint(points: readonly Keypoint[], p: Point, reach: number): number {
  let best = -1
  let least = reach
  points.forEach(([x, y, v], i) => {
    const d = distance(p, { x, y })
    if (v > 0 && d <= least) {
      best = i
      least = d
    }
  })
  return best
}

/** People of COCO, standing, in a box of 1 x 1. */
const standing: Readonly<Record<string, readonly [number, number]>> = {
  head: [0.5, 0], nose: [0.5, 0.06], neck: [0.5, 0.17], left_eye: [0.56, 0.03], right_eye: [0.44, 0.03], left_ear: [0.63, 0.05], right_ear: [0.37, 0.05],
  left_shoulder: [0.75, 0.2], right_shoulder: [0.25, 0.2], left_elbow: [0.9, 0.36], right_elbow: [0.1, 0.36], left_wrist: [1, 0.5], right_wrist: [0, 0.5],
  pelvis: [0.5, 0.52], left_hip: [0.66, 0.52], right_hip: [0.34, 0.52], left_knee: [0.68, 0.76], right_knee: [0.32, 0.76], left_ankle: [0.7, 1], right_ankle: [0.3, 1],
}

/** Where the joints are in a box of 1 x 1: as the label says, as people stand when all names are known, or round an ellipse. */
export function layoutOf(skeleton: Skeleton): (readonly [number, number])[] {
  const given = skeleton.layout
  if (given?.length === skeleton.keypoints.length) return [...given]
  const known = skeleton.keypoints.map((name) => standing[name.toLowerCase().replace(/[\s-]+/g, '_')])
  if (known.every((k) => k !== undefined)) return known as (readonly [number, number])[]
  const n = skeleton.keypoints.length
  return skeleton.keypoints.map((_, i) => [0.5 + 0.5 * Math.sin((2 * Math.PI * i) / n), 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / n)] as const)
}

/** The layout of points that are there, to be used again; null unless all are labelled. */
export function layoutFrom(points: readonly Keypoint[]): (readonly [number, number])[] | null {
  const r = pointsBounds(points)
  const [w, h] = [r.maxX - r.minX, r.maxY - r.minY]
  if (!(w > 0 && h > 0) || points.some(([, , v]) => v === 0)) return null
  return points.map(([x, y]) => [(x - r.minX) / w, (y - r.minY) / h] as const)
}

export function placed(layout: readonly (readonly [number, number])[], r: Rect): Keypoint[] {
  return layout.map(([x, y]) => [r.minX + x * (r.maxX - r.minX), r.minY + y * (r.maxY - r.minY), 2] as const)
}

const sides: readonly (readonly [RegExp, string])[] = [[/left/i, 'right'], [/right/i, 'left'], [/^l([_\s-])/i, 'r$1'], [/^r([_\s-])/i, 'l$1'], [/([_\s-])l$/i, '$1r'], [/([_\s-])r$/i, '$1l'], [/左/, '右'], [/右/, '左']]

/** For each joint the one of the other side by name, or itself. */
export function partners(names: readonly string[]): number[] {
  const lower = names.map((n) => n.toLowerCase())
  return lower.map((name, i) => {
    for (const [pattern, other] of sides) {
      if (!pattern.test(name)) continue
      const at = lower.indexOf(name.replace(pattern, other))
      return at >= 0 ? at : i
    }
    return i
  })
}

/** The picture of the pose in a mirror that stands in its middle: left becomes right. */
export function mirrored(points: readonly Keypoint[], names: readonly string[]): Keypoint[] {
  const r = pointsBounds(points)
  const other = partners(names)
  return points.map((_, i) => {
    const [x, y, v] = points[other[i] ?? i] ?? unset
    return v > 0 ? [r.minX + r.maxX - x, y, v] : unset
  })
}
