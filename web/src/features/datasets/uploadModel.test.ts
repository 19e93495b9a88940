import { expect, test } from 'vitest'
import { addPoint, merge, rateOf, sumOf } from './uploadModel'

test('the rate is that of the last ten seconds', () => {
  expect(rateOf([])).toBeNull()
  expect(rateOf([{ at: 0, bytes: 0 }, { at: 100, bytes: 50 }])).toBeNull()
  let points = [{ at: 0, bytes: 0 }]
  points = addPoint(points, { at: 8000, bytes: 8000 })
  expect(rateOf(points)).toBe(1000)
  points = addPoint(points, { at: 16_000, bytes: 32_000 })
  expect(points[0]).toEqual({ at: 8000, bytes: 8000 })
  expect(rateOf(points)).toBe(3000)
})

test('sums never count more than there is', () => {
  expect(sumOf([
    { sent: 120, file: { size: 100 }, state: 'done' },
    { sent: 20, file: { size: 50 }, state: 'sending' },
  ])).toEqual({ sent: 120, total: 150, files: 2, done: 1 })
})

test('files are merged by name, and rubbish is left out', () => {
  const list = merge([{ name: 'a/1.png', v: 1 }], [{ name: 'a/1.png', v: 2 }, { name: 'b.png', v: 1 }, { name: 'a/.DS_Store', v: 1 }, { name: '__MACOSX/x', v: 1 }])
  expect(list).toEqual([{ name: 'a/1.png', v: 2 }, { name: 'b.png', v: 1 }])
})
