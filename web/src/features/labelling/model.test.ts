import { expect, test } from 'vitest'
import type { Item } from '../../api/kinds'
import { dayOf, goOn, partsOf, shareDone, stageOf, tidySelection, type StageWork, type Work } from './model'

const task = (id: number, counts: Record<string, unknown> = {}): Item => ({ id, revision: 1, created_at: '', updated_at: '', created_by: null, ...counts })
const none: StageWork = { mine: false, leased: 0, rejected: 0, submitted_today: 0, active_seconds_today: 0, left: 0 }
const work = (label: Partial<StageWork>, review: Partial<StageWork> = {}, more: Partial<Work> = {}): Work => ({ state: 'open', deadline: null, label: { ...none, ...label }, review: { ...none, ...review }, ...more })

test('parts add up to all samples', () => {
  const parts = partsOf(task(1, { samples: 100, labelled: 60, reviewing: 10, accepted: 20, rejected: 5, skipped: 2 }))
  expect(parts).toEqual({ accepted: 20, labelled: 30, reviewing: 10, rejected: 5, skipped: 2, waiting: 33 })
  expect(Object.values(parts).reduce((a, b) => a + b)).toBe(100)
  expect(partsOf(task(1)).waiting).toBe(0)
  expect(shareDone(task(1, { samples: 8, labelled: 2 }))).toBe(0.25)
  expect(shareDone(task(1))).toBe(0)
})

test('one goes on with what came back, what was begun, what is left', () => {
  expect(stageOf(work({ mine: true, left: 5 }))).toBe('label')
  expect(stageOf(work({ left: 5 }))).toBeNull()
  expect(stageOf(work({ mine: true, left: 5 }, { mine: true, leased: 1 }))).toBe('review')
  expect(stageOf(work({ mine: true, rejected: 1 }, { mine: true, leased: 1 }))).toBe('label')
  expect(stageOf(work({}, { mine: true, left: 1 }))).toBe('review')
  expect(stageOf(work({ mine: true, left: 5 }, {}, { state: 'paused' }))).toBeNull()
  const fresh = { task: task(1), work: work({ mine: true, left: 9 }) }
  const soon = { task: task(2), work: work({ mine: true, left: 9 }, {}, { deadline: '2026-01-01T00:00:00Z' }) }
  const begun = { task: task(3), work: work({ mine: true, left: 9, leased: 1 }) }
  const back = { task: task(4), work: work({ mine: true, rejected: 1 }) }
  expect(goOn([fresh, soon, begun, back])?.task.id).toBe(4)
  expect(goOn([fresh, soon, begun])?.task.id).toBe(3)
  expect(goOn([fresh, soon])?.task.id).toBe(2)
  expect(goOn([])).toBeNull()
})

test('days begin at midnight', () => {
  const noon = new Date(2026, 2, 29, 12).getTime()
  expect(dayOf(noon).getHours()).toBe(0)
  expect(dayOf(noon, 1).getDate()).toBe(30)
  expect(dayOf(noon, -29).getMonth()).toBe(1)
})

test('a selection says only what it must', () => {
  expect(tidySelection({ states: [], labels: ['a'], q: '', share: 1, order: 'position' })).toEqual({ labels: ['a'] })
  expect(tidySelection({ share: 0.5, order: 'random' })).toEqual({ share: 0.5, order: 'random' })
})
