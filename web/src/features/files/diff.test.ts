import { expect, test } from 'vitest'
import { diffLines, parts, textOf } from './diff'

const show = (a: string, b: string) => diffLines(a, b).map((l) => `${l.kind === 'same' ? ' ' : l.kind === 'added' ? '+' : '-'}${l.text}`)

test('lines added, removed and changed', () => {
  expect(show('a\nb\nc\n', 'a\nc\n')).toEqual([' a', '-b', ' c'])
  expect(show('a\nc\n', 'a\nb\nc\n')).toEqual([' a', '+b', ' c'])
  expect(show('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(show('', 'a\n')).toEqual(['+a'])
  expect(show('a\n', '')).toEqual(['-a'])
  expect(show('same', 'same')).toEqual([' same'])
})

test('the classical example needs five edits', () => {
  const lines = show('a\nb\nc\na\nb\nb\na', 'c\nb\na\nb\na\nc')
  expect(lines.filter((l) => !l.startsWith(' ')).length).toBe(5)
  expect(lines.filter((l) => !l.startsWith('+')).map((l) => l.slice(1)).join('')).toBe('abcabba')
  expect(lines.filter((l) => !l.startsWith('-')).map((l) => l.slice(1)).join('')).toBe('cbabac')
})

test('any two texts are rebuilt from their difference', () => {
  let seed = 7
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  for (let round = 0; round < 200; round += 1) {
    const [a, b] = [0, 1].map(() => Array.from({ length: random(12) }, () => 'abc'[random(3)]))
    const lines = diffLines((a ?? []).join('\n'), (b ?? []).join('\n'))
    expect(lines.filter((l) => l.kind !== 'added').map((l) => l.text)).toEqual(a)
    expect(lines.filter((l) => l.kind !== 'removed').map((l) => l.text)).toEqual(b)
  }
})

test('numbers of lines, and gaps', () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')
  const lines = diffLines(before, before.replace('line 15', 'other'))
  const found = parts(lines)
  expect(found.map((p) => ('skipped' in p ? p.skipped : p.lines.length))).toEqual([12, 8, 11])
  expect(lines.find((l) => l.kind === 'added')).toMatchObject({ after: 16, before: null })
})

test('text or not', () => {
  expect(textOf(new TextEncoder().encode('模型').buffer as ArrayBuffer)).toBe('模型')
  expect(textOf(new Uint8Array([1, 0, 2]).buffer)).toBeNull()
  expect(textOf(new Uint8Array([0xff, 0xfe, 0x41]).buffer)).toBeNull()
})
