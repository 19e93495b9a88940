import { expect, test } from 'vitest'
import type { Shape } from '../../canvas'
import { called, defaultsFor, labelsOf, stylesOf } from './labels'

const labels = labelsOf([
  { name: 'car', attributes: [{ name: 'colour', type: 'choice', choices: ['red', 'blue'], default: 'red' }, { name: 'parked', type: 'flag' }] },
  { name: 'bus', attributes: [{ name: 'colour', type: 'text' }, { name: 'line', type: 'text', default: '' }, { name: 'full', type: 'flag', default: true }] },
  { name: 'cat' },
])

test('what a label says by itself is written down with what is drawn', () => {
  expect(stylesOf(labels).map((s) => s.attributes)).toEqual([{ colour: 'red' }, { full: true }, undefined])
  expect(defaultsFor(labels, 'car', {})).toEqual([{ op: 'attribute', name: 'colour', value: 'red' }])
  expect(defaultsFor(labels, 'car', { attributes: { colour: 'blue' } })).toEqual([])
  expect(defaultsFor(labels, 'nothing', {})).toEqual([])
})

test('a shape that is called otherwise keeps what its new label asks for, and what no label asked for', () => {
  const shape: Shape = { id: 'a', type: 'box', label: 'car', x: 0, y: 0, w: 1, h: 1, attributes: { colour: 'blue', parked: true, source: 'import' } }
  expect(called(labels, shape, 'bus').attributes).toEqual({ full: true, colour: 'blue', source: 'import' })
  expect(called(labels, { ...shape, attributes: { colour: 'blue' } }, 'cat')).toEqual({ id: 'a', type: 'box', label: 'cat', x: 0, y: 0, w: 1, h: 1 })
})
