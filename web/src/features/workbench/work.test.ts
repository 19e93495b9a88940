import { expect, test } from 'vitest'
import { labelsOf, withFound } from './labels'
import { createActivity, lastRejection, rejectedShapes } from './work'

test('time counts while something is done; pauses over 60 s do not', () => {
  let at = 0
  const activity = createActivity(() => at)
  for (const step of [10_000, 50_000, 61_000, 5_500]) {
    at += step
    activity.touch()
  }
  expect(activity.take()).toBe(65)
  expect(activity.take()).toBe(0)
  at += 500
  activity.touch()
  expect(activity.take()).toBe(1)
})

test('labels without a key of their own get the free numbers', () => {
  const labels = labelsOf([{ name: 'animal', key: '2', children: [{ name: 'cat' }, { name: 'dog', key: 'g' }] }, { name: 'old', retired: true }, { name: 'car' }])
  expect(labels.map((l) => [l.name, l.key, l.parent])).toEqual([['animal', '2', null], ['cat', '1', 'animal'], ['dog', 'g', 'animal'], ['old', null, null], ['car', '3', null]])
  expect(withFound(labels, ['car', 'tree'], () => '#000000').at(-1)).toMatchObject({ name: 'tree', key: '4' })
})

test('of several times that it was sent back the last is told', () => {
  const by = { id: 1, name: 'eye' }
  const rejections = [{ by, at: '2026-02-02', reason: 'too wide', shapes: [{ id: 'b', reason: null }] }, { by, at: '2026-02-01', reason: 'too small', shapes: [{ id: 'a', reason: 'here' }] }]
  expect(lastRejection({ rejections })?.reason).toBe('too wide')
  expect(rejectedShapes({ rejections })).toMatchObject([{ shape: 'b', text: 'too wide' }])
  expect(rejectedShapes({ rejections: [] })).toEqual([])
})
