import { expect, test } from 'vitest'
import { knownCount, learn, noStarts, scrollFor, span, startOf, windowOf } from './window'

test('the window draws what is in sight and some around it', () => {
  const view = { above: 1000, height: 500, rows: 1000, rowHeight: 100, spare: 2 }
  expect(windowOf(view)).toEqual({ first: 8, last: 18, top: 800, total: 100_000 })
  expect(windowOf({ ...view, above: -50 })).toMatchObject({ first: 0, top: 0 })
  expect(windowOf({ ...view, rows: 3, above: 0 })).toEqual({ first: 0, last: 3, top: 0, total: 300 })
  expect(windowOf({ ...view, rows: 0, above: 0 })).toEqual({ first: 0, last: 0, top: 0, total: 0 })
})

test('a million samples on a phone fit below the browser\'s limit, and both ends can be reached', () => {
  const view = { above: 0, height: 800, rows: 500_000, rowHeight: 180, spare: 2 }
  const total = windowOf(view).total
  expect(total).toBeLessThan(33_000_000)
  expect(windowOf(view).first).toBe(0)
  const end = windowOf({ ...view, above: total - view.height })
  expect(end.last).toBe(view.rows)
  expect(Math.round(end.top + (end.last - end.first) * view.rowHeight)).toBe(total)
})

test('scrolling to a row moves no further than needed', () => {
  const view = { above: 1000, height: 500, rows: 1000, rowHeight: 100, spare: 2 }
  expect(scrollFor(12, view)).toBeNull()
  expect(scrollFor(5, view)).toBe(500)
  expect(scrollFor(20, view)).toBe(1600)
})

test('pages are chained by the position of the last sample', () => {
  let starts = noStarts
  expect(startOf(starts, 0, 1)).toEqual({ after: 0 })
  starts = learn(starts, 0, { after: 0 }, 104)
  expect(startOf(starts, 1, 1)).toEqual({ after: 104 })
  expect(learn(starts, 0, { after: 0 }, 104)).toBe(starts)
})

test('a jump guesses; going back from there leaves nothing out', () => {
  const start = startOf(noStarts, 50, 1.1)
  expect(start).toEqual({ after: 5500 })
  const starts = learn(noStarts, 50, start, 5610)
  expect(startOf(starts, 51, 1.1)).toEqual({ after: 5610 })
  expect(startOf(starts, 49, 1.1)).toEqual({ after: 5400, until: 5500 })
  const back = learn(starts, 49, { after: 5400, until: 5500 }, 5512)
  expect(startOf(back, 50, 1.1)).toEqual({ after: 5500 })
  expect(startOf(back, 51, 1.1)).toEqual({ after: 5610 })
})

test('a page that ends elsewhere makes later pages be found anew', () => {
  let starts = learn(noStarts, 0, { after: 0 }, 100)
  starts = learn(starts, 1, { after: 100 }, 200)
  starts = learn(starts, 0, { after: 0 }, 101)
  expect([...starts.keys()]).toEqual([0, 1])
  expect(startOf(starts, 1, 1)).toEqual({ after: 101 })
})

test('counts and spans', () => {
  expect(knownCount(learn(noStarts, 0, { after: 0 }, 100), null)).toBe(200)
  expect(knownCount(noStarts, { page: 0, items: 12 })).toBe(12)
  expect(span(5, 3)).toEqual([3, 4, 5])
  expect(span(2, 2)).toEqual([2])
})
