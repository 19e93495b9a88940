import { expect, test } from 'vitest'
import { parseReport, progressOf } from './tasks'

test('progress tells rate and time left only when it can', () => {
  expect(progressOf(50, 100, 10)).toEqual({ share: 0.5, perSecond: 5, left: 10 })
  expect(progressOf(0, 100, 10)).toEqual({ share: 0, perSecond: null, left: null })
  expect(progressOf(7, 0, 10)).toEqual({ share: null, perSecond: 0.7, left: null })
  expect(progressOf(100, 100, 10)).toMatchObject({ share: 1, left: null })
})

test('reports are read line by line', () => {
  expect(parseReport('{"file":"a","position":"line 2","reason":"x"}\n{"file":"b","reason":"y"}\n{"file":"c')).toEqual([
    { file: 'a', position: 'line 2', reason: 'x' },
    { file: 'b', position: null, reason: 'y' },
  ])
  expect(parseReport('')).toEqual([])
})
