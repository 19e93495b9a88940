import { expect, test } from 'vitest'
import { banded, bandPath, bestPoint, floorOf, linePath, logTicks, nearest, niceTicks, positive, smoothed, thin, timeTicks, type Point } from './chart'

test('ticks are round and cover the values', () => {
  expect(niceTicks(0, 1.9, 4)).toEqual([0, 0.5, 1, 1.5, 2])
  expect(niceTicks(0, 100, 4)).toEqual([0, 25, 50, 75, 100])
  expect(niceTicks(0, 3 * 1024 ** 2, 4, true).at(-1)).toBe(3 * 1024 ** 2)
  expect(niceTicks(0, 0, 4)).toEqual([0, 1])
  expect(niceTicks(0, NaN, 4)).toEqual([0, 1])
  expect(niceTicks(-0.4, 1, 4)[0]).toBe(-0.5)
})

test('times at whole minutes', () => {
  const from = Date.parse('2026-11-16T10:00:30Z')
  const ticks = timeTicks(from, from + 600_000, 5)
  expect(ticks.length).toBe(5)
  expect(ticks.every((t) => t % 120_000 === 0)).toBe(true)
})

test('a line has gaps where points are missing', () => {
  const same = (v: number) => v
  expect(linePath([[0, 1], [1, 2], [5, 3], [6, null], [7, 4]], same, same, 2)).toBe('M0.0 1.0h.01L1.0 2.0M5.0 3.0h.01M7.0 4.0h.01')
})

test('means come with what they are the means of', () => {
  const means = [{ at: 1, v: 3, low: { at: 1, v: 2 }, high: { at: 1, v: 9 } }, { at: 2, v: 4 }]
  const x = (p: { at: number }) => p.at
  expect(banded<{ at: number; v: number }>(means, x, (p) => p.v)).toEqual({ points: [[1, 3], [2, 4]], band: [[1, 2, 9], [2, null, null]] })
  expect(banded<{ at: number; v: number }>([{ at: 1, v: 3 }], x, (p) => p.v)).toEqual({ points: [[1, 3]] })
})

test('the nearest point', () => {
  const points: Point[] = [[0, 1], [10, 2], [20, 3]]
  expect(nearest(points, 12, 5)).toEqual([10, 2])
  expect(nearest(points, 16, 5)).toEqual([20, 3])
  expect(nearest(points, 100, 5)).toBeNull()
  expect(nearest([], 0, 5)).toBeNull()
})

test('thinning keeps the peaks', () => {
  const many = Array.from({ length: 10_000 }, (_, i): Point => [i, i === 5003 ? 100 : i % 3])
  const few = thin(many, 500)
  expect(few.length).toBeLessThanOrEqual(500)
  expect(few.some(([x, y]) => x === 5003 && y === 100)).toBe(true)
})

test('an axis begins at 0, unless that would flatten the curve', () => {
  expect(floorOf([0.95, 0.99], 0.99, false)).toBe(0)
  expect(floorOf([0.95, 0.99], 0.99, true)).toBe(0.95)
  expect(floorOf([0.2, 0.99], 0.99, true)).toBe(0)
  expect(floorOf([-1, 3], 3, true)).toBe(-1)
  expect(floorOf([2, 2], 2, true)).toBe(0)
  expect(floorOf([], 0, true)).toBe(0)
})

test('a band is a closed shape for each run without a gap', () => {
  const same = (v: number) => v
  expect(bandPath([[0, 1, 3], [1, 2, 4], [9, 1, 2], [10, 1, 2], [11, null, 3], [12, 1, 1]], same, same, 2)).toBe('M0.0 3.0L1.0 4.0L1.0 2.0L0.0 1.0ZM9.0 2.0L10.0 2.0L10.0 1.0L9.0 1.0Z')
  expect(bandPath([], same, same, 2)).toBe('')
})

test('a logarithmic axis has powers of ten, and finer ones where there are few', () => {
  expect(logTicks(0.0012, 70)).toEqual([0.001, 0.01, 0.1, 1, 10, 100].map((v) => expect.closeTo(v, 9)))
  expect(logTicks(0.21, 0.8)).toEqual([0.2, 0.5, 1].map((v) => expect.closeTo(v, 9)))
  expect(logTicks(3, 3).length).toBeGreaterThan(1)
  expect(logTicks(1e-30, 1e30).length).toBeLessThan(9)
  expect(logTicks(Infinity, 0)).toEqual([0.1, 0.2, 0.5, 1].map((v) => expect.closeTo(v, 9)))
  expect(positive([[0, 0], [1, -2], [2, 3], [3, null]])).toEqual([[0, null], [1, null], [2, 3], [3, null]])
})

test('smoothing follows the values, begins at the first one and leaves gaps', () => {
  const points: Point[] = [[0, 10], [1, 0], [2, null], [3, 0]]
  expect(smoothed(points, 0)).toBe(points)
  const soft = smoothed(points, 0.5)
  expect(soft[0]).toEqual([0, 10])
  expect(soft[1]?.[1]).toBeCloseTo(10 / 3)
  expect(soft[2]).toEqual([2, null])
  expect(soft[3]?.[1]).toBeCloseTo(10 / 7)
  expect(smoothed([[0, 4], [1, 4], [2, 4]], 0.99).map(([, y]) => y)).toEqual([4, 4, 4].map((v) => expect.closeTo(v, 9)))
})

test('the best point is the least or the greatest, the first of equal ones', () => {
  const points: Point[] = [[0, 3], [1, null], [2, 1], [3, 1], [4, 3]]
  expect(bestPoint(points, true)).toEqual([2, 1])
  expect(bestPoint(points, false)).toEqual([0, 3])
  expect(bestPoint([[0, null]], true)).toBeNull()
})
