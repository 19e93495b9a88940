import { expect, test, vi } from 'vitest'
import { LogStore, type LogAnswer, type LogLine, type LogSource } from './logStore'

const line = (text: string): LogLine => ({ at: '2026-11-16T00:00:00.000000Z', stream: 'output', text })

/** A log of n lines, ten bytes each, answered `size` lines at a time; the first `gone` are kept no more. */
function source(n: number, size: number, closed = true, gone = 0) {
  let live: { onLines: (lines: LogLine[], next: number) => void; onEnd: () => void } | null = null
  const read = vi.fn((from: { line: number } | { after: number }): Promise<LogAnswer> => {
    const start = Math.max(gone, 'line' in from ? from.line : from.after / 10)
    const lines = Array.from({ length: Math.max(0, Math.min(size, n - start)) }, (_, i) => line(`line ${start + i}`))
    return Promise.resolve({ first: gone * 10, end: n * 10, next: (start + lines.length) * 10, first_line: gone, end_line: n, closed, lines })
  })
  const made: LogSource = {
    read,
    search: (text, from) => {
      const matches = Array.from({ length: n - from }, (_, i) => ({ ...line(`line ${from + i}`), line: from + i })).filter((m) => `line ${m.line}`.includes(text)).slice(0, 50)
      const last = matches.length === 50 ? (matches[49]?.line ?? 0) + 1 : n
      return Promise.resolve({ matches, next: last, end: last >= n })
    },
    follow: (_, onLines, onEnd) => { live = { onLines, onEnd }; return () => { live = null } },
  }
  return { made, read, live: () => live }
}

test('knows the length of a long log after two answers, and fetches what is looked at', async () => {
  const { made, read } = source(1_000_000, 2500)
  const store = new LogStore(made)
  await store.start()
  expect(store.total).toBe(1_000_000)
  expect(store.caughtUp && store.closed).toBe(true)
  expect(read).toHaveBeenCalledTimes(2)
  expect([0, 2499, 999_999].map((i) => store.line(i)?.text)).toEqual(['line 0', 'line 2499', 'line 999999'])
  expect(store.line(777_776)).toBeUndefined()
  await vi.waitFor(() => expect(store.line(777_776)?.text).toBe('line 777776'))
  expect(store.line(1_000_000)).toBeUndefined()
  expect(read).toHaveBeenCalledTimes(3)
})

test('forgets chunks and fetches them again', async () => {
  const { made } = source(10_000, 1000)
  const store = new LogStore(made, 3)
  await store.start()
  for (const n of [2500, 5200, 7700, 100, 9999]) {
    store.line(n)
    await vi.waitFor(() => expect(store.line(n)?.text).toBe(`line ${n}`))
  }
})

test('answers of few lines', async () => {
  const { made } = source(1203, 7)
  const store = new LogStore(made)
  await store.start()
  expect(store.line(1202)?.text).toBe('line 1202')
  store.line(501)
  await vi.waitFor(() => expect(store.line(999)?.text).toBe('line 999'))
})

test('follows a log that is being written', async () => {
  const { made, live } = source(499, 1000, false)
  const store = new LogStore(made)
  await store.start()
  expect(store.closed).toBe(false)
  live()?.onLines([line('a'), line('b'), line('c')], 5020)
  live()?.onLines([line('again')], 5020)
  expect(store.total).toBe(502)
  expect([498, 499, 500, 501].map((i) => store.line(i)?.text)).toEqual(['line 498', 'a', 'b', 'c'])
  live()?.onEnd()
  expect(store.closed).toBe(true)
})

test('a log whose beginning is gone', async () => {
  const { made } = source(3000, 1000, true, 1234)
  const store = new LogStore(made)
  await store.start()
  expect([store.first, store.total]).toEqual([1234, 3000])
  expect(store.line(1233)).toBeUndefined()
  store.line(1234)
  await vi.waitFor(() => expect(store.line(1234)?.text).toBe('line 1234'))
  expect(store.line(1499)?.text).toBe('line 1499')
})

test('finds lines, some answers at a time', async () => {
  const { made } = source(10_000, 1000)
  const store = new LogStore(made)
  await store.start()
  let result: number[] = []
  let whole = false
  await store.search('line 44', new AbortController().signal, (lines, done) => { result = lines; whole = done })
  expect(result.slice(0, 3)).toEqual([44, 440, 441])
  expect([result.length, whole]).toEqual([111, true])
})

test('an error is kept until the next start', async () => {
  const { made, read } = source(2000, 1000)
  const store = new LogStore(made)
  read.mockImplementationOnce(() => Promise.reject(new Error('lost')))
  await store.start()
  expect(String(store.error)).toContain('lost')
  await store.start()
  expect(store.error).toBeNull()
  expect(store.total).toBe(2000)
})
