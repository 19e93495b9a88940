import { expect, test } from 'vitest'
import { columnOf, columnsIn, conditionOf, conditionText, curveOf, drawn, expressionOf, idsOf, mainMetric, nameOrder, parameterRows, sortOf, usualColumns } from './runs'

const x = (p: readonly [number, number, ...number[]]) => p[0]

test('metrics are drawn as they are, or as means in their band', () => {
  const points: [number, number, number][] = [[0, 0, 5], [7, 7, 9], [9, 9, 1]]
  expect(drawn({ name: 'loss', points }, x)).toEqual({ points: [[0, 5], [7, 9], [9, 1]] })
  const means: [number, number, number, number, number][] = [[0, 0, 4, 1, 5], [5, 5, 3, 1, 9]]
  // The line ends with the newest value, which the heading shows.
  expect(drawn({ name: 'loss', points, means }, x)).toEqual({ points: [[0, 4], [5, 3], [9, 1]], band: [[0, 1, 5], [5, 1, 9]] })
})

const run = (id: number, lr: number | string, accuracy: number) => ({
  id, revision: 1, created_at: '', updated_at: '', created_by: null,
  logged: { lr, seed: 1 },
  summary: { metrics: { loss: { last: 1, last_step: 9, best: 0.5, best_step: 4, points: 10, lower: true }, accuracy: { last: accuracy, last_step: 9, best: accuracy, best_step: 9, points: 10, lower: false } } },
})

test('columns come from what the runs have; those that tell runs apart are shown first', () => {
  const runs = [run(1, 0.1, 0.8), run(2, 0.2, 0.9)]
  expect(columnsIn(runs).map((c) => c.key)).toEqual(expect.arrayContaining(['metric:loss', 'last:accuracy', 'parameter:seed']))
  expect(usualColumns(runs)).toEqual(['state', 'started_at', 'duration', 'metric:loss', 'metric:accuracy', 'parameter:lr'])
  expect(columnOf('metric:val:loss')).toEqual({ key: 'metric:val:loss', source: 'metric', name: 'val:loss' })
  expect(sortOf(columnOf('parameter:lr'), runs)).toBe('parameter:lr')
  expect(sortOf(columnOf('parameter:lr'), [...runs, run(3, 'auto', 0.1)])).toBe('text:lr')
  expect(sortOf(columnOf('spec'), runs)).toBeNull()
  expect(mainMetric(runs[0] ?? run(0, 0, 0))?.[0]).toBe('accuracy')
})

test('conditions are kept in the address and said in the filter language', () => {
  const condition = { column: 'metric:val loss', op: '<', value: '0.50' }
  expect(conditionOf(conditionText(condition))).toEqual(condition)
  expect(conditionOf('metric:loss < 1')).toBeNull()
  expect(expressionOf(condition)).toBe('metric:"val loss" < 0.5')
  expect(expressionOf({ column: 'parameter:net', op: '=', value: 'a "b"' })).toBe('parameter:"net" = "a \\"b\\""')
  expect(expressionOf({ column: 'parameter:lr', op: '=', value: '0.1' })).toBe('parameter:"lr" = 0.1')
  expect(expressionOf({ column: 'state', op: '=', value: 'failed' })).toBe('state = "failed"')
  expect(expressionOf({ column: 'datasets', op: '!=', value: '7' })).toBe('datasets != 7')
  expect(expressionOf({ column: 'image', op: '=', value: '7' })).toBe('image = "7"')
  expect(expressionOf({ column: 'parameter:lr', op: '=', value: '' })).toBe('parameter:"lr" = null')
})

test('differences of parameters name those that one run lacks', () => {
  const [a, b] = [run(1, 0.1, 0.8), { ...run(2, 0.1, 0.9), logged: { lr: 0.1 } }]
  expect(parameterRows([a, b])).toEqual([{ key: 'lr', title: 'lr', values: ['0.1', '0.1'], same: true }, { key: 'seed', title: 'seed', values: ['1', null], same: false }])
  expect(idsOf('3,x,3,-1,9')).toEqual([3, 9])
})

test('a curve has its best point from all points, and steps that went back are put in order', () => {
  const points: [number, number, number][] = [[0, 0, 5], [9, 1, 1], [4, 2, 3]]
  const loss = { last: 3, last_step: 4, best: 0.5, best_step: 7, points: 900, lower: true }
  const curve = curveOf({ name: 'loss', points }, x, { by: 'step', smooth: 0 }, loss, true)
  expect(curve.points).toEqual([[0, 5], [4, 3], [9, 1]])
  expect(curve.best).toEqual([7, 0.5])
  expect(curveOf({ name: 'loss', points }, (p) => p[1], { by: 'time', smooth: 0 }, loss, true).best).toEqual([1, 1])
  expect(curveOf({ name: 'loss', points }, x, { by: 'step', smooth: 0.9 }, loss, true).raw).toEqual([[0, 5], [4, 3], [9, 1]])
  expect(curveOf({ name: 'acc', points: [[0, 0, 0.1], [1, 1, 0.1]] }, x, { by: 'step', smooth: 0 }, loss, true).best).toBeNull()
  expect(curveOf({ name: 'lr', points }, x, { by: 'step', smooth: 0 }, loss, true).best).toBeNull()
  expect(curveOf({ name: 'x', points }, x, { by: 'step', smooth: 0 }, undefined, true).best).toBeNull()
  expect(nameOrder(['loss', 'a', 'b'], ['b', 'gone'])).toEqual(['b', 'loss', 'a'])
})
