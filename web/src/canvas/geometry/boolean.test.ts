import { describe, expect, it } from 'vitest'
import { cleaned, crossesItself, cut, difference, intersection, pieces, regionArea, union, unionAll, type Region } from './boolean'
import { inRing } from './ring'

const square = (x: number, y: number, size: number): number[] => [x, y, x + size, y, x + size, y + size, x, y + size]
const inside = (r: Region, x: number, y: number): boolean => r.rings.some((ring) => inRing(ring, x, y)) && !(r.holes ?? []).some((ring) => inRing(ring, x, y))

/** Repeatable chance. */
function chance(seed: number): () => number {
  let s = seed
  return () => {
    s = (s * 1103515245 + 12345) % 2147483648
    return s / 2147483648
  }
}

describe('two squares', () => {
  const a = { rings: [square(0, 0, 10)] }
  const b = { rings: [square(5, 5, 10)] }
  it('are joined, met and subtracted', () => {
    expect(regionArea(union(a, b))).toBe(175)
    expect(regionArea(intersection(a, b))).toBe(25)
    expect(regionArea(difference(a, b))).toBe(75)
    expect(union(a, b).rings).toHaveLength(1)
    expect(union(a, b).rings[0]).toHaveLength(16)
  })
  it('that share an edge become one without the edge', () => {
    const joined = union(a, { rings: [square(10, 0, 10)] })
    expect(joined.rings).toHaveLength(1)
    expect(regionArea(joined)).toBe(200)
  })
  it('that touch at a corner stay two rings', () => {
    expect(regionArea(union(a, { rings: [square(10, 10, 10)] }))).toBe(200)
  })
  it('one within the other becomes a hole', () => {
    const ring = difference(a, { rings: [square(2, 2, 4)] })
    expect(ring.holes).toHaveLength(1)
    expect(regionArea(ring)).toBe(84)
    expect(pieces(ring)).toHaveLength(1)
  })
  it('an island in a hole stays, the hole is opened', () => {
    const island = union(difference(a, { rings: [square(2, 2, 6)] }), { rings: [square(4, 4, 2)] })
    expect(regionArea(island)).toBe(68)
    expect([inside(island, 1, 1), inside(island, 3, 5), inside(island, 5, 5)]).toEqual([true, false, true])
  })
  it('the same twice is itself; without itself nothing', () => {
    expect(regionArea(union(a, a))).toBe(100)
    expect(difference(a, a).rings).toEqual([])
  })
  it('rings of either direction are a union', () => {
    expect(regionArea(cleaned({ rings: [square(0, 0, 10), [...square(5, 5, 10)].reverse()] }))).toBeGreaterThan(0)
    expect(regionArea(cleaned({ rings: [square(0, 0, 10), [5, 5, 5, 15, 15, 15, 15, 5]] }))).toBe(175)
  })
})

describe('cutting', () => {
  it('a square into two', () => {
    const parts = cut({ rings: [square(0, 0, 10)] }, [-5, 5, 15, 5])
    expect(parts.map(regionArea)).toEqual([50, 50])
  })
  it('only where the line goes: one arm of a U', () => {
    const u = { rings: [[0, 0, 10, 0, 10, 20, 20, 20, 20, 0, 30, 0, 30, 30, 0, 30]] }
    const parts = cut(u, [-5, 10, 15, 10])
    expect(parts.map(regionArea).sort((p, q) => p - q)).toEqual([100, 600])
  })
  it('not by a line that ends inside', () => {
    expect(cut({ rings: [square(0, 0, 10)] }, [-5, 5, 5, 5])).toHaveLength(1)
  })
  it('through a hole', () => {
    const parts = cut({ rings: [square(0, 0, 10)], holes: [square(3, 3, 4)] }, [-5, 5, 15, 5])
    expect(parts.map(regionArea)).toEqual([42, 42])
    expect(parts.every((p) => p.holes === undefined)).toBe(true)
  })
  it('by a line with corners', () => {
    const parts = cut({ rings: [square(0, 0, 10)] }, [5, -5, 5, 5, 15, 5])
    expect(parts.map(regionArea).sort((p, q) => p - q)).toEqual([25, 75])
  })
})

describe('crossing', () => {
  it('is found and mended', () => {
    const bow = [0, 0, 10, 10, 10, 0, 0, 10]
    expect(crossesItself(bow)).toBe(true)
    expect(crossesItself(square(0, 0, 10))).toBe(false)
    expect(regionArea(cleaned({ rings: [bow] }))).toBe(50)
  })
  it('an edge that runs back on itself is crossing', () => {
    expect(crossesItself([0, 0, 10, 0, 10, 10, 10, 0, 0, 10])).toBe(true)
  })
})

describe('any polygons', () => {
  it('agree with testing points one by one', () => {
    const next = chance(7)
    for (let round = 0; round < 60; round += 1) {
      // Coordinates of few values, so that points, edges and corners often coincide.
      const coarse = round % 2 === 0
      const some = (): number[] => Array.from({ length: 2 * (3 + Math.floor(next() * 9)) }, () => (coarse ? Math.floor(next() * 8) * 10 : Math.round(next() * 8000) / 100))
      const a = cleaned({ rings: [some()] })
      const b = cleaned({ rings: [some(), some()] })
      const results = [union(a, b), intersection(a, b), difference(a, b)] as const
      let wrong = 0
      for (let i = 0; i < 200; i += 1) {
        const [x, y] = [next() * 80, next() * 80]
        const [p, q] = [inside(a, x, y), inside(b, x, y)]
        const wanted = [p || q, p && q, p && !q]
        wrong += results.filter((r, k) => inside(r, x, y) !== wanted[k]).length
      }
      // A point may lie within the rounding of an edge.
      expect(wrong, `round ${round}`).toBeLessThanOrEqual(1)
      expect(Math.abs(regionArea(union(a, b)) - regionArea(a) - regionArea(b) + regionArea(intersection(a, b)))).toBeLessThan(3)
    }
  })
  it('cut, the pieces are the whole', () => {
    const next = chance(3)
    for (let round = 0; round < 40; round += 1) {
      const a = cleaned({ rings: [Array.from({ length: 24 }, () => next() * 100)] })
      const parts = cut(a, Array.from({ length: 8 }, () => next() * 140 - 20))
      expect(Math.abs(parts.reduce((s, p) => s + regionArea(p), 0) - regionArea(a))).toBeLessThan(2)
    }
  })
  it('20,000 points are no trouble', () => {
    const ring = Array.from({ length: 20_000 }, (_, i) => [500 + Math.cos(i / 3183.1) * (400 + (i % 2)), 500 + Math.sin(i / 3183.1) * (400 + (i % 2))]).flat()
    const joined = unionAll([{ rings: [ring] }, { rings: [square(0, 0, 500)] }])
    expect(regionArea(joined)).toBeGreaterThan(500_000)
  })
  it('NaN and endless numbers are left out', () => {
    expect(union({ rings: [[NaN, 0, 1, 1, Infinity, 3]] }, { rings: [square(0, 0, 10)] }).rings).toHaveLength(1)
  })
})
