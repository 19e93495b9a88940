import { expect, test } from 'vitest'
import { drawn } from './Metrics'

const x = (p: readonly [number, number, ...number[]]) => p[0]

test('metrics are drawn as they are, or as means in their band', () => {
  const points: [number, number, number][] = [[0, 0, 5], [7, 7, 9], [9, 9, 1]]
  expect(drawn({ name: 'loss', points }, x)).toEqual({ points: [[0, 5], [7, 9], [9, 1]] })
  const means: [number, number, number, number, number][] = [[0, 0, 4, 1, 5], [5, 5, 3, 1, 9]]
  // The line ends with the newest value, which the heading shows.
  expect(drawn({ name: 'loss', points, means }, x)).toEqual({ points: [[0, 4], [5, 3], [9, 1]], band: [[0, 1, 5], [5, 1, 9]] })
})
