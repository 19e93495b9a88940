import { expect, test } from 'vitest'
import type { Field } from '../api/kinds'
import { changedFields, kept, merge, outgoing, patchOf, sameValue } from './merge'

const field = (name: string, more: Partial<Field> = {}): Field => ({
  name, type: 'text', title: { en: name, zh: name }, help: null, required: false, create: true, update: true,
  search: false, sort: false, filter: false, unique: false, secret: false, list: false, long: false, virtual: false,
  min: null, max: null, item_max: null, rule: null, choices: null, ref: null, default: null, unit: null, advanced: false, section: 'what', mount: null, ...more,
})
const fields = [field('name'), field('description'), field('owner', { type: 'ref' }), field('labels', { type: 'json' })]

test('references are the same by id, empty is empty, objects by content', () => {
  expect(sameValue({ id: 1, name: 'a' }, { id: 1, name: 'b' })).toBe(true)
  expect(sameValue({ id: 1, name: 'a' }, 1)).toBe(true)
  expect(sameValue('', null)).toBe(true)
  expect(sameValue(0, null)).toBe(false)
  expect(sameValue({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true)
  expect(sameValue({ a: 1 }, { a: 2 })).toBe(false)
})

test('only what was touched is changed', () => {
  expect(changedFields({ name: 'a', description: null }, { name: 'b', description: '' }, fields)).toEqual(['name'])
})

test('changes of different fields are combined', () => {
  const base = { name: 'a', description: 'x', labels: [1] }
  const result = merge(base, { ...base, description: 'mine' }, { ...base, labels: [1, 2] }, fields)
  expect(result.conflicts).toEqual([])
  expect(result.taken).toEqual(['labels'])
  expect(result.values).toMatchObject({ name: 'a', description: 'mine', labels: [1, 2] })
})

test('both changed one field: a conflict, unless to the same', () => {
  const base = { name: 'a', description: 'x' }
  expect(merge(base, { name: 'b', description: 'y' }, { name: 'c', description: 'y' }, fields).conflicts).toEqual(['name'])
})

test('values go out as the API wants them', () => {
  expect(outgoing(field('owner', { type: 'ref' }), { id: 7, name: 'x' })).toBe(7)
  expect(outgoing(field('owner', { type: 'ref' }), null)).toBeNull()
  expect(outgoing(field('at', { type: 'time' }), '')).toBeNull()
  expect(outgoing(field('email', { rule: 'email' }), '')).toBeNull()
  expect(outgoing(field('description'), '')).toBe('')
})

test('what is taken out of an object in JSON is null in a patch of it', () => {
  const quota = field('quota', { type: 'json' })
  expect(patchOf(quota, { cpus: 4, memory: 2, accelerators: { a: 1, b: 2 } }, { cpus: 8, accelerators: { b: 2 } })).toEqual({ memory: null, cpus: 8, accelerators: { a: null, b: 2 } })
  expect(patchOf(quota, null, { cpus: 1 })).toEqual({ cpus: 1 })
  expect(patchOf(quota, [1, 2], [1])).toEqual([1])
  expect(patchOf(field('name'), 'a', 'b')).toBe('b')
})

test('of an object of secrets only what is new or gone goes out', () => {
  const env = field('env', { type: 'json', secret: true })
  expect(patchOf(env, { A: kept, B: kept }, { A: kept, C: 'x' })).toEqual({ B: null, C: 'x' })
  expect(patchOf(env, { A: kept }, { A: 'y' })).toEqual({ A: 'y' })
})
