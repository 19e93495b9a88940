import { expect, test } from 'vitest'
import { clock, speedBy, wavesOf } from './soundModel'

test('speeds go up and down between their ends', () => {
  expect([speedBy(1, 1), speedBy(1, -1), speedBy(3, 1), speedBy(0.5, -1)]).toEqual([1.25, 0.75, 3, 0.5])
})

test('pairs become what is above and below', () => {
  expect(wavesOf([-0.5, 0.25, 0.1, 0.2, -1, -0.5])).toEqual([[0.25, 0.2, 0], [0.5, 0, 1]])
  expect(wavesOf([])).toEqual([[], []])
})

test('moments have one width', () => {
  expect([clock(0), clock(5.25), clock(65), clock(59.99), clock(3723.4)]).toEqual(['0:00.0', '0:05.2', '1:05.0', '0:59.9', '1:02:03'])
})
