import { expect, test } from 'vitest'
import { cellsOf, labelling, moved, pageOf, selected } from './gridModel'

const at = (cursor: number, anchor = cursor) => ({ cursor, anchor })

test('arrows move within the samples and over the edge of a page', () => {
  expect(moved(at(0), 'ArrowRight', false, 10, 120)).toEqual(at(1))
  expect(moved(at(0), 'ArrowLeft', false, 10, 120)).toEqual(at(0))
  expect(moved(at(45), 'ArrowDown', false, 10, 120)).toEqual(at(55))
  expect(moved(at(3), 'End', false, 10, 120)).toEqual(at(49))
  expect(moved(at(103), 'End', false, 10, 120)).toEqual(at(119))
  expect(moved(at(103), 'Home', false, 10, 120)).toEqual(at(100))
  expect(moved(at(100), 'PageDown', false, 10, 120)).toEqual(at(119))
  expect(moved(at(0), 'x', false, 10, 120)).toBeNull()
  expect(moved(at(0), 'ArrowRight', false, 10, 0)).toBeNull()
  expect([pageOf(49), pageOf(50)]).toEqual([0, 1])
  expect(cellsOf(2, 120)).toEqual({ from: 100, to: 120 })
})

test('shift selects from where it began', () => {
  const far = moved(at(2), 'ArrowDown', true, 10, 120)
  expect(far).toEqual(at(12, 2))
  expect(selected(far ?? at(0), new Set())).toHaveLength(11)
  expect(selected(at(5), new Set())).toEqual([5])
  expect(selected(at(5), new Set([9, 7]))).toEqual([7, 9])
  expect(selected(at(6, 5), new Set([9]))).toEqual([5, 6, 9])
})

test('a label is set on all, and taken away when all have it', () => {
  const on = [{ op: 'label', label: 'cat', on: true }]
  const off = [{ op: 'label', label: 'cat', on: false }]
  expect(labelling('image-class', [{}, { labels: ['dog'] }, { labels: ['cat'] }], 'cat')).toEqual([on, on, null])
  expect(labelling('image-class', [{ labels: ['cat'] }], 'cat')).toEqual([off])
  expect(labelling('image-classes', [{ labels: ['cat', 'dog'] }, { labels: ['dog'] }], 'cat')).toEqual([null, on])
  expect(labelling('image-classes', [{ labels: ['cat', 'dog'] }, { labels: ['cat'] }], 'cat')).toEqual([off, off])
  expect(labelling('image-class', [], 'cat')).toEqual([])
})
