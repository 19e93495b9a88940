import { expect, test } from 'vitest'
import { bodyOf, given, leave, merge, targets, tunable, type Choice, type Parameter, type PlanClass } from './plan'

const none: Choice = { minutes: 10, leaveOut: [], merge: {}, parameters: {} }
const classes = ['apple', 'pear', 'plum'].map((label): PlanClass => ({ label, samples: 1, shapes: 1, left_out: false, into: null, total: 1 }))

test('a label that is left out is not merged any more', () => {
  const merged = merge(merge(none, 'pear', 'apple'), 'plum', 'apple')
  expect(merged.merge).toEqual({ pear: 'apple', plum: 'apple' })
  expect(leave(merged, 'plum', true)).toEqual({ ...none, leaveOut: ['plum'], merge: { pear: 'apple' } })
  expect(leave(merged, 'apple', true).merge).toEqual({})
  expect(leave(leave(none, 'plum', true), 'plum', false)).toEqual(none)
})

test('merging offers no circles', () => {
  const merged = merge(none, 'pear', 'apple')
  expect(targets(merged, classes, 'apple')).toEqual([])
  expect(targets(merged, classes, 'plum')).toEqual(['apple'])
  expect(targets(leave(none, 'plum', true), classes, 'pear')).toEqual(['apple'])
  expect(merge(merged, 'pear', null)).toEqual(none)
})

test('only what differs is sent', () => {
  const parameters: Parameter[] = [{ name: 'seed', type: 'int', default: 1 }, { name: 'flip', type: 'bool', default: true }, { name: 'minutes', type: 'real', default: 10 }]
  expect(given(parameters, { seed: 1, flip: false })).toEqual({ flip: false })
  expect(tunable(parameters).map((p) => p.name)).toEqual(['seed', 'flip'])
  expect(bodyOf({ ...none, parameters: { flip: false } })).toEqual({ minutes: 10, leave_out: [], merge: {}, parameters: { flip: false } })
})
