// Union, intersection, difference and cutting of polygons. All points are put on a grid of 0.01 px and every test is made
// with whole numbers that a double holds exactly, so touching and overlapping edges need no tolerance:
// edges are split where they meet (arrangement.ts), each piece asks which sides of it belong to the result, and the pieces
// between inside and outside are joined to rings with the inside on one hand.
import type { Ring } from '../model'
import { arrange, sidesOf, Tangled } from './arrangement'
import { pointOf, count, inRing, ringArea, signedArea2, reversed, ringBounds } from './ring'

export interface Region {
  /** Their union ... */
  readonly rings: readonly Ring[]
  /** ... without these. */
  readonly holes?: readonly Ring[] | undefined
}

type Inside = (a: boolean, b: boolean) => boolean
/** Areas below this many square pixels are crumbs of rounding. */
const crumb = 0.02

/**
 * An island within a hole cannot be said by rings and holes, since holes are cut out of all rings. Such a hole is opened by
 * a straight line through it, which divides what surrounds it into rings that touch.
 */
function combine(a: Region, b: Region, inside: Inside): Region {
  const knives: number[][] = []
  let region = build(a, b, knives, inside)
  for (let round = 0; round < 3; round += 1) {
    const islands = (region.holes ?? []).filter((h) => region.rings.some((r) => ringArea(r) < ringArea(h) && holds(h, r))).map(ringBounds)
    if (islands.length === 0) break
    for (const { minX, maxX } of islands) knives.push([(minX + maxX) / 2, -80_000, (minX + maxX) / 2, 80_000])
    region = build(a, b, knives, inside)
  }
  return region
}

export const union = (a: Region, b: Region): Region => combine(a, b, (x, y) => x || y)
export const intersection = (a: Region, b: Region): Region => combine(a, b, (x, y) => x && y)
export const difference = (a: Region, b: Region): Region => combine(a, b, (x, y) => x && !y)
/** The same area by rings that neither cross nor overlap. */
export const cleaned = (a: Region): Region => combine(a, { rings: [] }, (x) => x)

/** Several at once; far quicker than one after the other. */
export function unionAll(all: readonly Region[]): Region {
  if (all.length <= 1) return cleaned(all[0] ?? { rings: [] })
  const half = all.length >> 1
  return union(unionAll(all.slice(0, half)), unionAll(all.slice(half)))
}

/** The pieces into which a line cuts the region; one piece when the line does not go right through. */
export function cut(a: Region, line: readonly number[]): Region[] {
  return pieces(build(a, { rings: [] }, [line], (x) => x))
}

/** Each connected part with its own holes. */
export function pieces(region: Region): Region[] {
  const outer = region.rings.map((ring) => ({ ring, area: ringArea(ring), holes: [] as Ring[] })).sort((p, q) => p.area - q.area)
  for (const hole of region.holes ?? []) {
    const owner = outer.find((o) => o.area > ringArea(hole) && holds(o.ring, hole))
    owner?.holes.push(hole)
  }
  return outer.map(({ ring, holes }) => (holes.length > 0 ? { rings: [ring], holes } : { rings: [ring] }))
}

/** Holes touch their outline at single points at most, so most of their edges' middles decide. */
function holds(outer: Ring, hole: Ring): boolean {
  let votes = 0
  const n = Math.min(count(hole), 9)
  for (let i = 0; i < n; i += 1) {
    const [p, q] = [pointOf(hole, i), pointOf(hole, i + 1)]
    votes += inRing(outer, (p.x + q.x) / 2, (p.y + q.y) / 2) ? 1 : -1
  }
  return votes > 0
}

export const regionArea = (r: Region): number => {
  const sum = (rings: readonly Ring[]): number => rings.reduce((s, ring) => s + ringArea(ring), 0)
  return sum(r.rings) - sum(r.holes ?? [])
}

/** What the work gives, or null when the lines cross too often for it. */
export function untangled<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Tangled) return null
    throw error
  }
}

/** Whether edges of the ring cross or touch each other other than at their common point. */
export function crossesItself(ring: Ring): boolean {
  const { edges, split } = arrange([[{ ring, closed: true }]])
  return split || edges.some((e) => Math.abs(e.winding[0] ?? 0) !== 1)
}

function build(a: Region, b: Region, knives: readonly (readonly number[])[], inside: Inside): Region {
  const oriented = (rings: readonly Ring[] | undefined) => (rings ?? []).filter((r) => count(r) >= 3).map((r) => ({ ring: signedArea2(r) < 0 ? reversed(r) : r, closed: true }))
  const { edges, xs, ys, given } = arrange([oriented(a.rings), oriented(a.holes), oriented(b.rings), oriented(b.holes), knives.map((ring) => ({ ring, closed: false }))])
  const kept: { from: number; to: number; knife: boolean }[] = []
  const ask = sidesOf(edges, xs, ys)
  for (const edge of edges) {
    const [left, right] = ask(edge).map((w) => inside(w[0] !== 0 && w[1] === 0, w[2] !== 0 && w[3] === 0)) as [boolean, boolean]
    if (left !== right) kept.push(left ? { from: edge.a, to: edge.b, knife: false } : { from: edge.b, to: edge.a, knife: false })
    else if (left && edge.knife) kept.push({ from: edge.a, to: edge.b, knife: true })
  }
  return toRegion(stitch(directed(kept), xs, ys), xs, ys, given)
}

/** Both directions of the knife's pieces, without those that end in the air. */
function directed(kept: readonly { from: number; to: number; knife: boolean }[]): [number, number][] {
  const degree = new Map<number, number>()
  const add = (v: number, by: number): void => void degree.set(v, (degree.get(v) ?? 0) + by)
  for (const e of kept) {
    add(e.from, 1)
    add(e.to, 1)
  }
  let blades = kept.filter((e) => e.knife)
  for (let before = -1; before !== blades.length; ) {
    before = blades.length
    blades = blades.filter((e) => {
      const loose = degree.get(e.from) === 1 || degree.get(e.to) === 1
      if (loose) {
        add(e.from, -1)
        add(e.to, -1)
      }
      return !loose
    })
  }
  return [...kept.filter((e) => !e.knife).map((e): [number, number] => [e.from, e.to]), ...blades.flatMap((e): [number, number][] => [[e.from, e.to], [e.to, e.from]])]
}

/** Rings of vertex numbers: at every vertex the way on is the one that keeps the smallest area on the inner hand. */
function stitch(edges: readonly [number, number][], xs: readonly number[], ys: readonly number[]): number[][] {
  const out = new Map<number, { to: number; angle: number; used: boolean }[]>()
  const angleOf = (a: number, b: number): number => Math.atan2((ys[b] as number) - (ys[a] as number), (xs[b] as number) - (xs[a] as number))
  for (const [from, to] of edges) {
    const list = out.get(from) ?? []
    list.push({ to, angle: angleOf(from, to), used: false })
    out.set(from, list)
  }
  const rings: number[][] = []
  for (const [from, list] of out) {
    for (const first of list) {
      const ring: number[] = []
      let at = from
      let edge: typeof first | undefined = first
      while (edge && !edge.used) {
        edge.used = true
        ring.push(at)
        const back = angleOf(edge.to, at)
        at = edge.to
        let best = Infinity
        let next: typeof first | undefined
        for (const option of out.get(at) ?? []) {
          // How far to turn from where we came: the first one met keeps to the inside. A full turn goes back the same way.
          const by = (((back - option.angle) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI) || 2 * Math.PI
          if (!option.used && by < best) {
            best = by
            next = option
          }
        }
        edge = next
      }
      if (ring.length >= 3) rings.push(ring)
    }
  }
  return rings
}

function toRegion(rings: readonly number[][], xs: readonly number[], ys: readonly number[], given: ReadonlySet<number>): Region {
  const result = { rings: [] as Ring[], holes: [] as Ring[] }
  for (const ring of rings) {
    const out: number[] = []
    for (let i = 0; i < ring.length; i += 1) {
      const [p, v, n] = [ring[(i + ring.length - 1) % ring.length] as number, ring[i] as number, ring[(i + 1) % ring.length] as number]
      const [dx1, dy1] = [(xs[v] as number) - (xs[p] as number), (ys[v] as number) - (ys[p] as number)]
      const [dx2, dy2] = [(xs[n] as number) - (xs[v] as number), (ys[n] as number) - (ys[v] as number)]
      // Points that only splitting made, in the middle of a straight edge, go again.
      if (given.has(v) || dx1 * dy2 !== dy1 * dx2) out.push((xs[v] as number) / 100, (ys[v] as number) / 100)
    }
    const area2 = signedArea2(out)
    if (Math.abs(area2) / 2 >= crumb) (area2 > 0 ? result.rings : result.holes).push(out)
  }
  return result.holes.length > 0 ? result : { rings: result.rings }
}
