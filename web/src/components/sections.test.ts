import { expect, test } from 'vitest'
import type { Field } from '../api/kinds'
import { partsOf } from './sections'

const field = (name: string, more: Partial<Field> = {}) => ({ name, section: 'what', required: false, advanced: false, ...more }) as Field
const names = (fields: readonly Field[]) => fields.map((f) => f.name)

test('parts in their order, required ones first in each, what few need apart', () => {
  const { parts, more } = partsOf([
    field('note'), field('image', { section: 'where' }), field('retries', { section: 'where', advanced: true }), field('name', { required: true }), field('spec', { section: 'where', required: true }),
  ])
  expect(parts.map((part) => [part.section, names(part.fields)])).toEqual([['what', ['name', 'note']], ['where', ['spec', 'image']]])
  expect(names(more)).toEqual(['retries'])
})

test('a form of one part has that alone', () => {
  expect(partsOf([field('a'), field('b')]).parts).toHaveLength(1)
  expect(partsOf([])).toEqual({ parts: [], more: [] })
})
