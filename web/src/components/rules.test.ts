import { expect, test } from 'vitest'
import type { Field, Kind } from '../api/kinds'
import { i18nOf } from '../i18n'
import { checkField, formFields } from './rules'

const field = (more: Partial<Field>): Field => ({
  name: 'x', type: 'text', title: { en: 'X', zh: 'X' }, help: null, required: false, create: true, update: true, search: false,
  sort: false, filter: false, unique: false, secret: false, list: false, long: false, virtual: false, min: null, max: null,
  item_max: null, rule: null, choices: null, ref: null, default: null, unit: null, advanced: false, section: 'what', mount: null, ...more,
})
const check = (f: Partial<Field>, value: unknown, creating = true) => checkField(field(f), value, i18nOf('en'), creating)

test('needed fields, with and without a default', () => {
  expect(check({ required: true }, '')).toBe('Required.')
  expect(check({ required: true, default: 'x' }, '')).toBeNull()
  expect(check({ required: true, secret: true }, '', false)).toBeNull()
  expect(check({}, null)).toBeNull()
})

test('names by character, in both languages', () => {
  const name = { rule: 'name', min: 1, max: 5 }
  expect(check(name, 'a?b')).toBe('Names cannot contain ?.')
  expect(checkField(field(name), 'a?b', i18nOf('zh'), true)).toBe('名称不能包含 ?。')
  expect(check(name, '   ')).toBe('A name cannot be only spaces.')
  expect(check(name, 'a ')).toBe('A name cannot begin or end with a space.')
  expect(check(name, '五个字符好')).toBeNull()
  expect(check(name, '六个字符不好')).toBe('At most 5 characters; this has 6.')
})

test('numbers and sizes', () => {
  expect(check({ type: 'int', min: 1, max: 9 }, 10)).toBe('At most 9.')
  expect(check({ type: 'int' }, 1.5)).toBe('A whole number is needed.')
  expect(check({ type: 'int', unit: 'bytes' }, 'lots')).toBe('A size is needed, such as 16 GiB or 500 MB.')
  expect(check({ type: 'real', min: 0, max: 4096 }, 7.5)).toBeNull()
  expect(check({ type: 'int', min: 0, max: 0 }, 12)).toBeNull()
})

test('mail and lists', () => {
  expect(check({ rule: 'email' }, 'a@b')).toBeNull()
  expect(check({ rule: 'email' }, 'a b@c')).toBe('This is not an e-mail address.')
  expect(check({ type: 'texts', max: 1 }, ['a', 'b'])).toBe('At most one entry.')
})

test('a secret with an action of its own is not in the edit form', () => {
  const kind = { fields: [field({ name: 'name' }), field({ name: 'password', secret: true })], actions: [{ name: 'reset-password' }] } as unknown as Kind
  expect(formFields(kind, true).map((f) => f.name)).toEqual(['name', 'password'])
  expect(formFields(kind, false).map((f) => f.name)).toEqual(['name'])
})
