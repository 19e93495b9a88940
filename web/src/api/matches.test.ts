import { expect, it } from 'vitest'
import { keepMatches, matchesOf, partsOf } from './matches'

const at = (from: number, to: number) => ({ field: 'name', from, to })

it('parts a text at its matches', () => {
  expect(partsOf('epoch-3', [at(1, 4)])).toEqual(['e', 'poc', 'h-3'])
  expect(partsOf('𝒳黄色车辆', [at(3, 5), at(0, 1)])).toEqual(['', '𝒳', '黄色', '车辆', ''])
  expect(partsOf('abcdef', [at(0, 4), at(2, 6)])).toEqual(['', 'abcd', '', 'ef', ''])
  expect(partsOf('abc', [])).toEqual(['abc'])
})

it('shows what is behind a character only', () => {
  expect(partsOf('images/010.png', [at(0, 3), at(7, 9)], 7)).toEqual(['', '01', '0.png'])
})

it('keeps what was found beside each item', () => {
  const items = [{ id: 1 }, { id: 2 }]
  keepMatches({ items, matches: [[at(0, 1)], [{ field: 'description', from: 2, to: 3 }]] })
  expect(matchesOf(items[0], 'name')).toEqual([at(0, 1)])
  expect(matchesOf(items[1], 'name')).toEqual([])
  expect(matchesOf({ id: 1 }, 'name')).toEqual([])
})
