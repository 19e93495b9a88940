import { expect, test } from 'vitest'
import type { Annotation } from '../../canvas'
import { runMany, toDecide, toSubmit, toSubmitBare } from './many'
import type { Assignment } from './work'

const given = (id: number, more: Partial<Assignment> = {}): Assignment => ({ id: id * 10, state: 'leased', sample: { id }, ...more }) as Assignment
const said: Record<number, Annotation> = { 1: { labels: ['cat'] }, 2: {}, 3: { labels: ['dog'] }, 4: { labels: ['cat'] } }
const asked = (picked: number[], touched: number[], batch = [given(1), given(2), given(3), given(4, { state: 'submitted' })]) =>
  ({ batch, picked, annotationOf: (a: Assignment) => said[a.sample.id] ?? {}, touched: (id: number) => touched.includes(id) })
const anna = { id: 7, name: 'anna' }
const ids = (list: Assignment[]) => list.map((a) => a.sample.id)

test('without a selection what was labelled here is handed in, otherwise the selection', () => {
  expect(ids(toSubmit(asked([1], [1, 2, 4])).ready)).toEqual([1])
  expect(toSubmit(asked([2], [2]))).toEqual({ ready: [], bare: 0 })
  const some = toSubmit(asked([1, 2, 3, 4], []))
  expect([ids(some.ready), some.bare]).toEqual([[1, 3], 1])
})

test('nothing here is said of what is selected and has nothing', () => {
  expect(ids(toSubmitBare(asked([2], [])))).toEqual([2])
  expect(ids(toSubmitBare(asked([1, 2, 4], [])))).toEqual([2])
})

test('what several people made is not decided on at a glance', () => {
  const batch = [given(1), given(2, { for_review: { annotator: anna, before: {}, layers: [{ layer: 1, user: anna, late: false }] } }), given(3, { for_review: { annotator: anna, before: {}, layers: [{ layer: 1, user: anna, late: true }] } })]
  const found = toDecide(asked([1, 2, 3], [], batch))
  expect([ids(found.ready), found.compared]).toEqual([[1, 3], 1])
})

test('what fails holds up none of the others', async () => {
  const outcome = await runMany([given(1), given(2), given(3)], (a) => (a.sample.id === 2 ? Promise.reject(new Error('no')) : Promise.resolve(a)))
  expect([ids(outcome.done).sort(), outcome.failed, String(outcome.error)]).toEqual([[1, 3], 1, 'Error: no'])
})
