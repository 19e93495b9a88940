// Edges of several groups of rings, split wherever they meet, on a grid of hundredths of a pixel.
import RBush from 'rbush'
import type { Ring } from '../model'
import { clamp } from './point'

export interface Line {
  readonly ring: Ring
  readonly closed: boolean
}

export interface Edge {
  /** Numbers of vertices; a comes before b by x, then y. */
  readonly a: number
  readonly b: number
  /** How often each group runs from a to b, less how often from b to a. */
  readonly winding: number[]
  /** Part of an open line. */
  knife: boolean
}

export interface Arrangement {
  readonly edges: Edge[]
  /** Vertices, in hundredths of a pixel. */
  readonly xs: number[]
  readonly ys: number[]
  /** Vertices that were points of the input. */
  readonly given: ReadonlySet<number>
  /** Whether any edge had to be split. */
  readonly split: boolean
}

interface Segment {
  a: number
  b: number
  group: number
  knife: boolean
  minX: number
  minY: number
  maxX: number
  maxY: number
}

/** 83,886 pixels: beyond, products of differences would no longer be exact. */
const limit = 2 ** 23
/** Splitting moves edges by up to half a grid step and can make them meet anew; more rounds than this were never seen. */
const mostRounds = 20

/** Pairs of edges that are looked at in one round: a part of a second. Scribbles of thousands of points have more. */
const mostPairs = 600_000

/** The lines cross each other too often to be sorted out while somebody waits. */
export class Tangled extends Error {}

export function arrange(groups: readonly (readonly Line[])[]): Arrangement {
  const xs: number[] = []
  const ys: number[] = []
  const known = new Map<number, number>()
  const vertex = (x: number, y: number): number => {
    const key = (x + limit) * (2 * limit + 1) + (y + limit)
    const found = known.get(key)
    if (found !== undefined) return found
    known.set(key, xs.length)
    xs.push(x)
    ys.push(y)
    return xs.length - 1
  }
  const grid = (v: number): number => clamp(Math.round(v * 100), -limit, limit) + 0
  const make = (a: number, b: number, group: number, knife: boolean): Segment => {
    const [ax, ay, bx, by] = [xs[a] as number, ys[a] as number, xs[b] as number, ys[b] as number]
    return { a, b, group, knife, minX: Math.min(ax, bx), minY: Math.min(ay, by), maxX: Math.max(ax, bx), maxY: Math.max(ay, by) }
  }

  let segments: Segment[] = []
  groups.forEach((lines, group) => {
    for (const { ring, closed } of lines) {
      const all: number[] = []
      for (let i = 0; i + 1 < ring.length; i += 2) {
        const [x, y] = [ring[i] as number, ring[i + 1] as number]
        if (Number.isFinite(x) && Number.isFinite(y)) all.push(vertex(grid(x), grid(y)))
      }
      for (let i = closed ? 0 : 1; i < all.length; i += 1) {
        const [a, b] = [all[(i + all.length - 1) % all.length] as number, all[i] as number]
        if (a !== b) segments.push(make(a, b, group, !closed))
      }
    }
  })
  const given = new Set(xs.keys())
  let split = false
  for (let round = 0; round < mostRounds; round += 1) {
    const at = meetings(segments, xs, ys, vertex)
    if (at.size === 0) break
    split = true
    segments = segments.flatMap((s, i) => {
      const stops = at.get(i)
      if (!stops) return [s]
      const far = (v: number): number => ((xs[v] as number) - (xs[s.a] as number)) ** 2 + ((ys[v] as number) - (ys[s.a] as number)) ** 2
      const chain = [s.a, ...[...stops].sort((p, q) => far(p) - far(q)), s.b]
      return chain.slice(1).flatMap((v, k) => (v === chain[k] ? [] : [make(chain[k] as number, v, s.group, s.knife)]))
    })
  }
  return { edges: merge(segments, xs, ys, groups.length), xs, ys, given, split }
}

/** For each segment the vertices at which it has to be split. */
function meetings(segments: readonly Segment[], xs: number[], ys: number[], vertex: (x: number, y: number) => number): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>()
  const stop = (i: number, v: number): void => {
    const s = segments[i] as Segment
    if (v === s.a || v === s.b) return
    const set = found.get(i)
    if (set) set.add(v)
    else found.set(i, new Set([v]))
  }
  const side = (a: number, b: number, c: number): number =>
    ((xs[b] as number) - (xs[a] as number)) * ((ys[c] as number) - (ys[a] as number)) - ((ys[b] as number) - (ys[a] as number)) * ((xs[c] as number) - (xs[a] as number))
  const within = (s: Segment, v: number): boolean => (xs[v] as number) >= s.minX && (xs[v] as number) <= s.maxX && (ys[v] as number) >= s.minY && (ys[v] as number) <= s.maxY
  const tree = new RBush<Segment & { i: number }>()
  tree.load(segments.map((s, i) => ({ ...s, i })))
  let pairs = 0
  segments.forEach((s, i) => {
    const near = tree.search(s)
    pairs += near.length
    if (pairs > mostPairs) throw new Tangled()
    for (const t of near) {
      if (t.i <= i) continue
      const [sa, sb] = [side(t.a, t.b, s.a), side(t.a, t.b, s.b)]
      const [ta, tb] = [side(s.a, s.b, t.a), side(s.a, s.b, t.b)]
      if (ta === 0 && within(s, t.a)) stop(i, t.a)
      if (tb === 0 && within(s, t.b)) stop(i, t.b)
      if (sa === 0 && within(t, s.a)) stop(t.i, s.a)
      if (sb === 0 && within(t, s.b)) stop(t.i, s.b)
      if (sa * sb < 0 && ta * tb < 0) {
        const k = ta / (ta - tb)
        const v = vertex(Math.round((xs[t.a] as number) + k * ((xs[t.b] as number) - (xs[t.a] as number))) + 0, Math.round((ys[t.a] as number) + k * ((ys[t.b] as number) - (ys[t.a] as number))) + 0)
        stop(i, v)
        stop(t.i, v)
      }
    }
  })
  return found
}

/** One edge for all segments between the same vertices. */
function merge(segments: readonly Segment[], xs: readonly number[], ys: readonly number[], groups: number): Edge[] {
  const edges = new Map<number, Edge>()
  for (const s of segments) {
    const forward = (xs[s.a] as number) < (xs[s.b] as number) || (xs[s.a] === xs[s.b] && (ys[s.a] as number) < (ys[s.b] as number))
    const [a, b] = forward ? [s.a, s.b] : [s.b, s.a]
    const key = a * xs.length + b
    let edge = edges.get(key)
    if (!edge) edges.set(key, (edge = { a, b, winding: new Array<number>(groups).fill(0), knife: false }))
    if (s.knife) edge.knife = true
    else edge.winding[s.group] = (edge.winding[s.group] ?? 0) + (forward ? 1 : -1)
  }
  return [...edges.values()]
}

/**
 * How often the groups wind round a point just left and just right of an edge's middle (seen along the edge, y upwards),
 * counted along a ray from the middle: after splitting no other edge passes through it, so all tests are exact.
 */
export function sidesOf(edges: readonly Edge[], xs: readonly number[], ys: readonly number[]): (edge: Edge) => [number[], number[]] {
  const tree = new RBush<{ minX: number; minY: number; maxX: number; maxY: number; edge: Edge }>()
  const [x, y] = [(v: number) => 2 * (xs[v] as number), (v: number) => 2 * (ys[v] as number)]
  tree.load(edges.filter((e) => e.winding.some((w) => w !== 0)).map((edge) => ({
    minX: Math.min(x(edge.a), x(edge.b)), minY: Math.min(y(edge.a), y(edge.b)), maxX: Math.max(x(edge.a), x(edge.b)), maxY: Math.max(y(edge.a), y(edge.b)), edge,
  })))
  return (edge) => {
    const mx = (x(edge.a) + x(edge.b)) / 2
    const my = (y(edge.a) + y(edge.b)) / 2
    const level = y(edge.a) === y(edge.b)
    const beyond = edge.winding.map(() => 0)
    const ray = level ? { minX: mx, maxX: mx, minY: my, maxY: Infinity } : { minX: mx, maxX: Infinity, minY: my, maxY: my }
    for (const { edge: other } of tree.search(ray)) {
      if (other === edge) continue
      const [ax, ay, bx, by] = [x(other.a), y(other.a), x(other.b), y(other.b)]
      const [from, to, line] = level ? [ax, bx, mx] : [ay, by, my]
      if (from <= line === to <= line) continue
      const side = (bx - ax) * (my - ay) - (by - ay) * (mx - ax)
      // The middle lies before the other edge on the ray when it is on the hand from which the edge looks upward or leftward.
      const left = side > 0
      const rising = level ? to < from : to > from
      if (left !== rising) continue
      other.winding.forEach((w, g) => (beyond[g] = (beyond[g] as number) + (rising ? w : -w)))
    }
    const rising = level ? x(edge.b) < x(edge.a) : y(edge.b) > y(edge.a)
    const before = beyond.map((w, g) => w + (edge.winding[g] as number) * (rising ? 1 : -1))
    // The ray starts on the right of a rising edge.
    return rising ? [before, beyond] : [beyond, before]
  }
}
