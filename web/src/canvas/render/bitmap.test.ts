import { expect, test } from 'vitest'
import { levelFor } from './bitmap'

test('a level has about as many pixels as the screen shows, up to twice as many', () => {
  const size = { width: 4000, height: 3000 }
  expect([2, 1, 0.75, 0.51, 0.5, 0.3, 0.25, 0.2, 0.001].map((scale) => levelFor(size, scale))).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 10])
  expect(levelFor({ width: 4000, height: 3 }, 0.01)).toBe(1)
  expect(levelFor({ width: 0, height: 0 }, 0.01)).toBe(0)
})
