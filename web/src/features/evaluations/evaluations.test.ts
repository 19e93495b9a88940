import { expect, test } from 'vitest'
import { cellName, figureText, foundAt, matrixOf, missedAt, type EvaluatedSample } from './evaluations'

const n = (value: number, digits = 0) => value.toFixed(digits)

test('shares are percent, errors are not', () => {
  expect(figureText(false, 0.876, n)).toBe('87.6%')
  expect(figureText(true, 1.2, n)).toBe('1.200')
  expect(figureText(false, null, n)).toBe('–')
})

test('the matrix shows what is mixed up, with a row and a column for nothing', () => {
  const matrix = matrixOf([
    { truth: 'cat', found: 'cat', count: 50 }, { truth: 'cat', found: 'dog', count: 3 }, { truth: 'bird', found: 'bird', count: 20 },
    { truth: 'dog', found: null, count: 2 }, { truth: null, found: 'cat', count: 1 },
  ], 2)
  expect(matrix.rows).toEqual(['cat', 'dog', null])
  expect(matrix.columns).toEqual(['cat', 'dog', null])
  expect([matrix.count('cat', 'dog'), matrix.count('dog', 'dog'), matrix.count(null, 'cat'), matrix.sum('cat'), matrix.more]).toEqual([3, 0, 1, 53, 1])
  expect(cellName('cat', null)).toBe('cat,-')
})

test('what counts follows the score', () => {
  const sample = {
    matches: [{ found: 0, truth: 1, outcome: 'hit', label: 'cat', score: 0.9 }, { found: 1, truth: null, outcome: 'mistake', label: 'cat', score: 0.3 }],
  } as EvaluatedSample
  expect(foundAt(sample, 0.5)).toEqual([{ index: 0, outcome: 'hit' }])
  expect([...missedAt(sample, 0.5, 2)]).toEqual([0])
  expect([...missedAt(sample, 0.95, 2)]).toEqual([0, 1])
})
