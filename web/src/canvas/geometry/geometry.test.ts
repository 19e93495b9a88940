import { describe, expect, it } from 'vitest'
import type { KeypointsShape, MaskShape, PolygonShape, Shape } from '../model'
import { angleTo, boxBounds, corners, fromEdge, handles, inBox, normalAngle, resized, toBox } from './box'
import { layoutFrom, layoutOf, mirrored, nearestKeypoint, partners, placed } from './keypoints'
import { eachRun, inMask, maskBounds, runsOf } from './mask'
import { isEmpty, toSegment, turn } from './point'
import { inRing, nearestEdge, ringArea, withMoved, withPoint, withoutPoint, withoutRepeats } from './ring'
import { areaOf, bounds, fitted, inBand, inside, moved, toOutline } from './shape'
import { simplifyLine, simplifyRing } from './simplify'
import { sharedCorners, snapTo } from './snap'

const square = (x: number, y: number, size: number): number[] => [x, y, x + size, y, x + size, y + size, x, y + size]
const polygon = (id: string, ...rings: number[][]): PolygonShape => ({ id, type: 'polygon', rings })
const good = (f: ReturnType<typeof fitted>): Shape => {
  expect(f).toBeTypeOf('object')
  return (f as { shape: Shape }).shape
}

describe('boxes', () => {
  const b = { x: 10, y: 20, w: 40, h: 20 }
  it('turn about their middle', () => {
    expect(boxBounds({ ...b, angle: 90 }).minX).toBeCloseTo(20)
    expect(corners({ ...b, angle: 90 })[0]?.x).toBeCloseTo(40)
    expect(inBox({ ...b, angle: 90 }, { x: 30, y: 12 })).toBe(true)
    expect(inBox(b, { x: 30, y: 12 })).toBe(false)
    expect(toBox(b, { x: 30, y: 22 })).toBe(2)
    expect(toBox(b, { x: 30, y: 15 })).toBe(5)
  })
  it('are resized with the other side held, also turned and over it', () => {
    expect(resized(b, 'se', { x: 60, y: 50 })).toEqual({ x: 10, y: 20, w: 50, h: 30 })
    expect(resized(b, 'e', { x: 0, y: 99 })).toEqual({ x: 0, y: 20, w: 10, h: 20 })
    expect(resized(b, 'se', { x: 90, y: 30 }, true)).toEqual({ x: 10, y: 20, w: 80, h: 40 })
    const turned = { ...b, angle: 30 }
    const before = corners(turned)[0]
    const after = corners(resized(turned, 'se', { x: 80, y: 70 }))[0]
    expect(after?.x).toBeCloseTo(before?.x ?? NaN)
    expect(after?.y).toBeCloseTo(before?.y ?? NaN)
  })
  it('have handles and angles', () => {
    expect(handles(b, true, 5).find((h) => h.name === 'turn')?.at).toEqual({ x: 30, y: 15 })
    expect(handles(b, false, 5)).toHaveLength(8)
    expect(angleTo(b, { x: 100, y: 30 }, false)).toBe(90)
    expect(angleTo(b, { x: 31, y: 0 }, true)).toBe(0)
    expect([normalAngle(270), normalAngle(-180), normalAngle(540)]).toEqual([-90, 180, 180])
  })
  it('come from an edge', () => {
    const made = fromEdge({ x: 0, y: 0 }, { x: 10, y: 10 }, { x: 0, y: 10 })
    expect(made.angle).toBeCloseTo(45)
    expect(made.w).toBeCloseTo(Math.hypot(10, 10))
    expect(made.h).toBeCloseTo(Math.hypot(5, 5))
    expect(fromEdge({ x: 10, y: 10 }, { x: 0, y: 10 }, { x: 5, y: 20 })).toMatchObject({ w: 10, h: 10, y: 10 })
  })
})

describe('rings', () => {
  const ring = square(0, 0, 10)
  it('know area, inside and nearest edge', () => {
    expect(ringArea(ring)).toBe(100)
    expect([inRing(ring, 5, 5), inRing(ring, 15, 5), inRing([0, 0, 10, 10, 10, 0, 0, 10], 8, 5)]).toEqual([true, false, true])
    expect(nearestEdge(ring, { x: 12, y: 5 })).toEqual({ index: 1, point: { x: 10, y: 5 }, distance: 2 })
    expect(toSegment({ x: 0, y: 5 }, { x: 1, y: 1 }, { x: 1, y: 1 })).toBeCloseTo(Math.hypot(1, 4))
  })
  it('get, move and lose points', () => {
    expect(withPoint(ring, 3, { x: 0, y: 5 })).toEqual([...ring, 0, 5])
    expect(withMoved(ring, 0, { x: 1, y: 2 }).slice(0, 4)).toEqual([1, 2, 10, 0])
    expect(withoutPoint(ring, 0)).toEqual([10, 0, 10, 10, 0, 10])
    expect(withoutPoint([0, 0, 1, 1, 2, 0], 0)).toBeNull()
    expect(withoutRepeats([0, 0, 0, 0, 5, 5, 0, 5, 0, 0])).toEqual([0, 0, 5, 5, 0, 5])
  })
  it('turn points', () => {
    const p = turn({ x: 1, y: 0 }, { x: 0, y: 0 }, 90)
    expect(p.x).toBeCloseTo(0)
    expect(p.y).toBeCloseTo(1)
  })
})

describe('simplifying', () => {
  it('keeps corners', () => {
    expect(simplifyRing([0, 0, 5, 0.1, 10, 0, 10, 10, 0, 10], 0.5)).toEqual([0, 0, 10, 0, 10, 10, 0, 10])
    expect(simplifyLine([{ x: 0, y: 0 }, { x: 5, y: 0 }, { x: 10, y: 0 }], 0.1)).toHaveLength(2)
  })
  it('keeps three points whatever the tolerance', () => {
    expect(simplifyRing([0, 0, 5, 3, 10, 0, 5, -1], 100)).toHaveLength(6)
  })
  it('takes 20,000 points', () => {
    const ring = Array.from({ length: 20_000 }, (_, i) => [Math.cos(i / 3183) * 500, Math.sin(i / 3183) * 500]).flat()
    expect(simplifyRing(ring, 0.5).length).toBeLessThan(400)
  })
})

describe('keypoints', () => {
  const names = ['nose', 'left_eye', 'right_eye', 'LEye', 'tail']
  it('know the other side', () => {
    expect(partners(names)).toEqual([0, 2, 1, 3, 4])
    expect(partners(['l_hand', 'r_hand', '左手', '右手'])).toEqual([1, 0, 3, 2])
  })
  it('are mirrored', () => {
    expect(mirrored([[0, 5, 2], [10, 0, 1], [4, 1, 2], [0, 0, 0]], names)).toEqual([[10, 5, 2], [6, 1, 2], [0, 0, 1], [0, 0, 0]])
  })
  it('are placed in a box as known', () => {
    const layout = layoutOf({ keypoints: ['nose', 'left_ankle'], edges: [] })
    expect(placed(layout, { minX: 0, minY: 0, maxX: 100, maxY: 200 })[1]).toEqual([70, 200, 2])
    expect(layoutOf({ keypoints: ['a', 'b'], edges: [] }).flat().map((v) => Math.round(v * 10) / 10)).toEqual([0.5, 0, 0.5, 1])
    expect(layoutFrom([[0, 0, 2], [10, 20, 1], [5, 5, 2]])).toEqual([[0, 0], [1, 1], [0.5, 0.25]])
    expect(layoutFrom([[0, 0, 2], [10, 20, 0]])).toBeNull()
    expect(nearestKeypoint([[0, 0, 0], [3, 3, 1]], { x: 1, y: 1 }, 5)).toBe(1)
  })
})

describe('masks', () => {
  // Columns of a picture 4 wide and 3 high: 4 of nothing, 3 of the object (to the second pixel of the third column), 5 of nothing.
  const mask: MaskShape = { id: 'm', type: 'mask', size: [3, 4], counts: '435' }
  it('are decoded', () => {
    expect(runsOf('435', 4, 3)).toEqual([4, 3, 5])
    expect(maskBounds([4, 3, 5], 3)).toEqual({ minX: 1, minY: 0, maxX: 3, maxY: 3 })
    expect([inMask([4, 3, 5], 3, 1.5, 0.5), inMask([4, 3, 5], 3, 1.5, 1.5), inMask([4, 3, 5], 3, 2.5, 0.5)]).toEqual([false, true, true])
    const seen: number[][] = []
    eachRun([4, 3, 5], 3, (x, from, to) => seen.push([x, from, to]))
    expect(seen).toEqual([[1, 1, 3], [2, 0, 1]])
    expect(areaOf(mask)).toBe(3)
    expect(inside(mask, { x: 2.5, y: 0.5 })).toBe(true)
  })
  it('that are broken have no place', () => {
    expect(runsOf('\u0000', 4, 3)).toBeNull()
    expect(runsOf('999', 4, 3)).toBeNull()
    expect(isEmpty(bounds({ ...mask, counts: '~~' }))).toBe(true)
  })
})

describe('snapping', () => {
  const a = polygon('a', square(0, 0, 10))
  const b = polygon('b', square(10, 0, 10))
  it('prefers corners to edges', () => {
    expect(snapTo({ x: 11, y: 1 }, 3, [a])).toEqual({ point: { x: 10, y: 0 }, kind: 'vertex', shape: 'a' })
    expect(snapTo({ x: 12, y: 5 }, 3, [a])).toEqual({ point: { x: 10, y: 5 }, kind: 'edge', shape: 'a' })
    expect(snapTo({ x: 20, y: 5 }, 3, [a])).toBeNull()
  })
  it('finds corners that are shared', () => {
    expect(sharedCorners({ x: 10, y: 10 }, [a, b]).map((c) => [c.shape, c.index])).toEqual([['a', 2], ['b', 3]])
  })
})

describe('shapes', () => {
  it('are fitted into the picture', () => {
    expect(good(fitted({ id: 'a', type: 'box', x: -5, y: 1.23456, w: 20, h: 10 }, 100, 100))).toEqual({ id: 'a', type: 'box', x: 0, y: 1.23, w: 15, h: 10 })
    expect(areaOf(good(fitted(polygon('a', square(-5, -5, 10)), 100, 100)))).toBe(25)
    expect(fitted(polygon('a', square(200, 200, 10)), 100, 100)).toBe('outside')
    expect(fitted(polygon('a', [0, 0, 5, 0, 10, 0]), 100, 100)).toBe('too-small')
    expect(fitted(polygon('a', [0, 0, 5, 5]), 100, 100)).toBe('too-few-points')
    expect(fitted(polygon('a', [NaN, 0, 5, 5, 1, 1]), 100, 100)).not.toBeTypeOf('object')
    expect(fitted(polygon('a', Array.from({ length: 40_002 }, (_, i) => i % 97)), 100, 100)).toBe('too-many-points')
    const points: KeypointsShape = { id: 'k', type: 'keypoints', points: [[-1, 5, 2], [5.001, 5, 1]] }
    expect(good(fitted(points, 100, 100))).toMatchObject({ points: [[0, 0, 0], [5, 5, 1]] })
    expect(good(fitted({ id: 'a', type: 'box', x: 90, y: 10, w: 20, h: 10, angle: 45 }, 100, 100))).toMatchObject({ w: 20, angle: 45 })
  })
  it('lose what a file said about them once changed, and keep the rest', () => {
    const shape = good(fitted({ ...polygon('a', square(0, 0, 10)), box: [0, 0, 1, 1], area: 3, label: 'x', attributes: { a: 1 }, occluded: true }, 100, 100))
    expect(shape).toEqual({ id: 'a', type: 'polygon', label: 'x', attributes: { a: 1 }, occluded: true, rings: [square(0, 0, 10)] })
  })
  it('are moved, hit and taken by a band', () => {
    const shape: PolygonShape = { ...polygon('a', square(0, 0, 30)), holes: [square(10, 10, 10)] }
    expect(moved(shape, 1, 2)).toMatchObject({ rings: [square(0, 0, 30).map((v, i) => v + (i % 2 ? 2 : 1))], holes: [square(10, 10, 10).map((v, i) => v + (i % 2 ? 2 : 1))] })
    expect([inside(shape, { x: 5, y: 5 }), inside(shape, { x: 15, y: 15 })]).toEqual([true, false])
    expect(toOutline(shape, { x: 15, y: 12 })).toBe(2)
    expect(inBand(shape, { minX: -1, minY: -1, maxX: 20, maxY: 40 }, false)).toBe(false)
    expect(inBand(shape, { minX: -1, minY: -1, maxX: 20, maxY: 40 }, true)).toBe(true)
  })
})
