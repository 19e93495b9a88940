import { expect, test } from 'vitest'
import { knownCount, learn, noStarts, offsetOf, scrollFor, span, startOf, windowOf, windowRows, type View } from './window'

const view: View = { above: 1000, height: 500, rows: 1000, rowHeight: 100, spare: 2, offset: 0 }

test('the window draws what is in sight and some around it', () => {
  expect(windowOf(view)).toEqual({ first: 8, last: 18, top: 800, total: 100_000 })
  expect(windowRows(500, 100, 2)).toBe(10)
  expect(windowOf({ ...view, above: -50 })).toMatchObject({ first: 0, top: 0 })
  expect(windowOf({ ...view, rows: 3, above: 0 })).toEqual({ first: 0, last: 3, top: 0, total: 300 })
  expect(windowOf({ ...view, rows: 0, above: 0 })).toEqual({ first: 0, last: 0, top: 0, total: 0 })
  expect(offsetOf(view, { above: 0, offset: 0 })).toBe(0)
})

const phone: View = { above: 0, height: 800, rows: 500_000, rowHeight: 180, spare: 2, offset: 0 }

/** Scrolls to a place, from where one was. */
function scrolled(from: View, above: number): View {
  return { ...from, above, offset: offsetOf({ ...from, above }, from) }
}

test('a million samples on a phone fit below the limit of browsers, and both ends can be reached', () => {
  const total = windowOf(phone).total
  expect(total).toBeLessThan(17_800_000)
  expect(windowOf(phone).first).toBe(0)
  const end = windowOf(scrolled(phone, total - phone.height))
  expect(end.last).toBe(phone.rows)
  expect(end.top + (end.last - end.first) * phone.rowHeight).toBe(total)
})

test('scrolling moves the rows of a million samples pixel by pixel; a jump goes to the same share of them', () => {
  const middle = scrolled(phone, (windowOf(phone).total - phone.height) / 2)
  expect(Math.abs(windowOf(middle).first - phone.rows / 2)).toBeLessThan(10)
  for (const by of [1, -37, 180, -800]) expect(scrolled(middle, middle.above + by).offset).toBe(middle.offset)
  const down = scrolled(scrolled(phone, 700), 1400)
  expect(down.offset).toBe(0)
})

test('scrolling from the middle to either end in small steps arrives there', () => {
  const { total } = windowOf(phone)
  let up = scrolled(phone, 60_000)
  expect(up.offset).toBeGreaterThan(0)
  while (up.above > 0) up = scrolled(up, Math.max(0, up.above - 700))
  expect(up.offset).toBe(0)
  let down = scrolled(phone, total - 60_000)
  while (down.above < total - phone.height) down = scrolled(down, Math.min(total - phone.height, down.above + 700))
  expect(windowOf(down).last).toBe(phone.rows)
  expect(down.above + down.offset + phone.height).toBe(phone.rows * phone.rowHeight)
})

test('scrolling to a row moves no further than needed', () => {
  expect(scrollFor(12, view)).toBeNull()
  expect(scrollFor(5, view)).toBe(500)
  expect(scrollFor(5, view, 40)).toBe(460)
  expect(scrollFor(20, view)).toBe(1600)
  for (const row of [0, 3, 250_000, 499_999]) {
    const there = scrolled(phone, scrollFor(row, phone) ?? phone.above)
    const { first, last } = windowOf({ ...there, spare: 0 })
    expect(row).toBeGreaterThanOrEqual(first)
    expect(row).toBeLessThan(last)
  }
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
