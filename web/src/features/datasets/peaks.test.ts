import { expect, test } from 'vitest'
import { peaksOf } from './peaks'

test('each part has its lowest and highest value, over all channels', () => {
  const left = Float32Array.from([0, 0.5, -0.25, 0.25])
  const right = Float32Array.from([-1, 0, 0, 0.75])
  expect(peaksOf([left], 2)).toEqual([0, 0.5, -0.25, 0.25])
  expect(peaksOf([left, right], 2)).toEqual([-1, 0.5, -0.25, 0.75])
  expect(peaksOf([left], 100)).toHaveLength(8)
  expect(peaksOf([Float32Array.from([2, -3])], 1)).toEqual([-1, 1])
  expect(peaksOf([], 10)).toEqual([])
})
