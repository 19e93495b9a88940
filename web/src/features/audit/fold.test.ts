import { describe, expect, test } from 'vitest'
import type { Item } from '../../api/kinds'
import { foldLines, rowsOf } from './fold'

const line = (id: number, user: number | null, object: number | null, kind = 'dataset') => ({ id, user: user === null ? null : { id: user, name: `u${user}` }, kind, object, name: null }) as unknown as Item

describe('the audit folds what follows one another', () => {
  test('the platform, and one person about one object', () => {
    const folds = foldLines([line(9, null, 1), line(8, null, 2), line(7, 1, 5), line(6, null, 3), line(5, 1, 5), line(4, 1, 6), line(3, 2, 6), line(2, 1, 6), line(1, 1, 6, 'model_set')])
    expect(folds.map((f) => [f.first.id, f.rest.map((r) => r.id)])).toEqual([[9, [8]], [7, [6, 5]], [4, []], [3, []], [2, []], [1, []]])
    expect(rowsOf(folds, new Set([7])).map((r) => r.id)).toEqual([9, 7, 6, 5, 4, 3, 2, 1])
  })
  test('lines about nothing in particular stand alone', () => {
    expect(foldLines([line(2, 1, null), line(1, 1, null)])).toHaveLength(2)
  })
})
