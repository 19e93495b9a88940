import { expect, test } from 'vitest'
import { blocksOf, findAll, firstBehind, piecesOf } from './textModel'

const joined = (text: string) => blocksOf(text).map((b) => b.text).join('')

test('blocks are the whole text, in order, and end with lines', () => {
  const text = Array.from({ length: 3000 }, (_, i) => `line ${i}`).join('\n')
  const blocks = blocksOf(text)
  expect(joined(text)).toBe(text)
  expect(blocks.length).toBeGreaterThan(4)
  expect(blocks.slice(0, -1).every((b) => b.text.endsWith('\n'))).toBe(true)
  expect(blocks.every((b, i) => b.start === (i === 0 ? 0 : (blocks[i - 1]?.start ?? 0) + (blocks[i - 1]?.text.length ?? 0)))).toBe(true)
  expect(blocksOf('')).toEqual([])
})

test('what is seen as one character is never cut', () => {
  for (const one of ['👩‍👩‍👧‍👦', '🇨🇳', 'e\u0301\u0323', '한']) {
    const text = `x${one.repeat(4000)}`
    const blocks = blocksOf(text)
    expect(blocks.map((b) => b.text).join('')).toBe(text)
    expect(blocks.every((b, i) => i === 0 || b.text.startsWith(one))).toBe(true)
  }
  // More accents than any window: code points at least stay whole.
  const pile = `a${'\u{1D165}'.repeat(5000)}`
  expect(blocksOf(pile).every((b) => !/^[\uDC00-\uDFFF]/.test(b.text))).toBe(true)
  expect(joined(pile)).toBe(pile)
})

test('words are found in either way of writing, and not as patterns', () => {
  expect(findAll('a.b axb A.B', 'a.b', 10)).toEqual([[0, 3], [8, 11]])
  expect(findAll('cafe\u0301 café', 'café', 10)).toEqual([[0, 5], [6, 10]])
  expect(findAll('标注平台，标注', '标注', 10)).toEqual([[0, 2], [5, 7]])
  expect(findAll('aaaa', 'a', 2)).toHaveLength(2)
  expect(findAll('abc', '', 10)).toEqual([])
})

test('pieces mark what was found, over the edge of blocks too', () => {
  const found = findAll('one two one', 'one', 10)
  expect(piecesOf({ start: 0, text: 'one two one' }, found)).toEqual([{ text: 'one', found: 0 }, { text: ' two ' }, { text: 'one', found: 1 }])
  expect(piecesOf({ start: 2, text: 'e two o' }, found)).toEqual([{ text: 'e', found: 0 }, { text: ' two ' }, { text: 'o', found: 1 }])
  expect(piecesOf({ start: 4, text: 'two' }, found)).toEqual([{ text: 'two' }])
  expect(firstBehind(found, 3, (f) => f[1])).toBe(1)
})
