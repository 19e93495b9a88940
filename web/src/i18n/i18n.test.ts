import { expect, test } from 'vitest'
import { en } from './en'
import { fill, placeholders } from './format'
import { zh } from './zh'

test('both catalogues have the same keys', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
})

test('both catalogues have the same placeholders', () => {
  const texts: Record<string, string> = en
  for (const [key, text] of Object.entries(zh)) {
    expect([key, ...placeholders(text)]).toEqual([key, ...placeholders(texts[key] ?? '')])
  }
})

test('no message is empty, and Chinese ones are Chinese', () => {
  for (const [key, text] of Object.entries(en)) expect(text.trim(), key).not.toBe('')
  const same = Object.entries(zh).filter(([key, text]) => (en as Record<string, string>)[key] === text && /[a-z]{3}/i.test(text))
  expect(same.map(([key]) => key).sort()).toEqual(['app.name', 'form.jsonHint', 'language.en', 'palette.keys'])
})

test('fill picks by number and keeps what it does not know', () => {
  expect(fill('{n#1 item|{n} items}', { n: 1 })).toBe('1 item')
  expect(fill('{n#1 item|{n} items}', { n: 5 })).toBe('5 items')
  expect(fill('in {n#one second|{n} seconds}.', { n: 3 })).toBe('in 3 seconds.')
  expect(fill('Hello {who}', { who: '{n}' })).toBe('Hello {n}')
  expect(fill('{x} {y}', { x: 1 })).toBe('1 {y}')
})
