// Douglas-Peucker on closed and open lines.
import type { Ring } from '../model'
import { distance, toSegment, type Point } from './point'
import { count, flat, points } from './ring'

/** The points that are needed so that no left-out one is farther than the tolerance from the line. */
export function simplifyLine(line: readonly Point[], tolerance: number): Point[] {
  if (line.length < 3) return [...line]
  const keep = new Uint8Array(line.length)
  keep[0] = keep[line.length - 1] = 1
  // A list of ranges instead of recursion: 20,000 points on a spiral would go deep.
  const ranges: [number, number][] = [[0, line.length - 1]]
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [from, to] = range
    let worst = tolerance
    let at = -1
    for (let i = from + 1; i < to; i += 1) {
      const d = toSegment(line[i] as Point, line[from] as Point, line[to] as Point)
      if (d > worst) {
        worst = d
        at = i
      }
    }
    if (at < 0) continue
    keep[at] = 1
    ranges.push([from, at], [at, to])
  }
  return line.filter((_, i) => keep[i] === 1)
}

/** At least three points stay, whatever the tolerance. */
export function simplifyRing(ring: Ring, tolerance: number): number[] {
  if (count(ring) <= 3) return [...ring]
  const all = points(ring)
  const first = all[0] as Point
  let far = 0
  for (let i = 1; i < all.length; i += 1) if (distance(all[i] as Point, first) > distance(all[far] as Point, first)) far = i
  const there = simplifyLine(all.slice(0, far + 1), tolerance)
  const back = simplifyLine([...all.slice(far), first], tolerance)
  const out = [...there, ...back.slice(1, -1)]
  if (out.length >= 3) return flat(out)
  // All lies within the tolerance of one segment: keep the point that is farthest from it.
  const [a, b] = [first, all[far] as Point]
  const third = all.reduce((best, p) => (toSegment(p, a, b) > toSegment(best, a, b) ? p : best), a)
  const at = all.indexOf(third)
  return flat(at < far ? [a, third, b] : [a, b, third])
}
