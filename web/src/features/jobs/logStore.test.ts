import { expect, test, vi } from 'vitest'
import { LogStore, type LogAnswer, type LogLine, type LogSource } from './logStore'

const line = (text: string): LogLine => ({ at: '2026-11-16T00:00:00.000000Z', stream: 'output', text })

/** A log of n lines, ten bytes each, in pages of `size` lines. */
function source(n: number, size: number, closed = true) {
  let live: { onLines: (lines: LogLine[], next: number) => void; onEnd: (closed: boolean) => void } | null = null
  const read = vi.fn((after: number): Promise<LogAnswer> => {
    const from = after / 10
    const lines = Array.from({ length: Math.min(size, n - from) }, (_, i) => line(`line ${from + i}`))
    return Promise.resolve({ first: 0, end: n * 10, next: after + lines.length * 10, closed, lines })
  })
  const made: LogSource = { read, follow: (_, onLines, onEnd) => { live = { onLines, onEnd }; return () => { live = null } } }
  return { made, read, live: () => live }
}

test('reads to the end, page by page', async () => {
  const { made, read } = source(2500, 1000)
  const store = new LogStore(made)
  await store.start()
  expect(store.total).toBe(2500)
  expect(store.caughtUp && store.closed).toBe(true)
  expect(read).toHaveBeenCalledTimes(3)
  expect([0, 999, 1000, 2499].map((i) => store.line(i)?.text)).toEqual(['line 0', 'line 999', 'line 1000', 'line 2499'])
  expect(store.line(2500)).toBeUndefined()
})

test('forgets text and fetches it again', async () => {
  const { made, read } = source(10_000, 1000)
  const store = new LogStore(made, 3000)
  await store.start()
  expect(store.line(9999)?.text).toBe('line 9999')
  expect(store.line(2500)).toBeUndefined()
  await vi.waitFor(() => expect(store.line(2500)?.text).toBe('line 2500'))
  expect(read).toHaveBeenCalledTimes(11)
})

test('follows a log that is being written', async () => {
  const { made, live } = source(3, 1000, false)
  const store = new LogStore(made)
  await store.start()
  expect(store.closed).toBe(false)
  live()?.onLines([line('a'), line('b')], 50)
  live()?.onLines([line('again')], 50)
  expect(store.total).toBe(5)
  expect(store.line(4)?.text).toBe('b')
  live()?.onEnd(true)
  expect(store.closed).toBe(true)
})

test('finds lines, also those it forgot', async () => {
  const { made } = source(10_000, 1000)
  const store = new LogStore(made, 3000)
  await store.start()
  let result: number[] = []
  await store.search('LINE 44', new AbortController().signal, (lines) => { result = lines })
  expect(result.slice(0, 3)).toEqual([44, 440, 441])
  expect(result.length).toBe(111)
})

test('an error is kept, and reading goes on from there', async () => {
  const { made, read } = source(2000, 1000)
  const store = new LogStore(made)
  read.mockImplementationOnce(() => Promise.reject(new Error('lost')))
  await store.start()
  expect(String(store.error)).toContain('lost')
  await store.start()
  expect(store.error).toBeNull()
  expect(store.total).toBe(2000)
})
