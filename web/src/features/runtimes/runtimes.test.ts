import { expect, test } from 'vitest'
import type { Item } from '../../api/kinds'
import { lastLines } from '../../components/lastLines'
import { costOf, texts } from './runtimes'

test('the cost is known or not', () => {
  expect(costOf({ id: 1, bytes: 5, minutes: 2.5 } as unknown as Item)).toEqual({ bytes: 5, minutes: 2.5 })
  expect(costOf({ id: 1, bytes: null, minutes: null } as unknown as Item)).toBeNull()
})

test('the end of a log, by lines', () => {
  expect(lastLines('a\nb\nc\n', 2)).toBe('b\nc')
  expect(lastLines('', 2)).toBe('')
})

test('lists of texts', () => {
  expect(texts(['a', 1, 'b'])).toEqual(['a', 'b'])
  expect(texts(null)).toEqual([])
})
