import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { en } from '../../i18n/en'
import { clashes, commands } from './commands'
import { keyTable } from './keyTable'

test('no two commands that are offered together have the same key', () => {
  expect(clashes({}).map(([a, b]) => `${a.id} ${b.id}`)).toEqual([])
  expect(clashes({ undo: 'd' }).map(([a, b]) => `${a.id} ${b.id}`)).toEqual(['next undo'])
})

test('keys leave the numbers to labels, and ids are different', () => {
  expect(commands.filter((c) => /^\d$/.test(c.key)).map((c) => c.id)).toEqual([])
  expect(new Set(commands.map((c) => c.id)).size).toBe(commands.length)
  for (const { title } of commands) expect(Object.keys(en)).toContain(title)
})

test('docs/labelling.md has these keys', () => {
  const page = readFileSync(join(__dirname, '../../../../docs/labelling.md'), 'utf8')
  const from = page.indexOf('## Keys')
  expect(page.slice(from)).toContain(keyTable())
})
