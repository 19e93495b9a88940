import 'fake-indexeddb/auto'
import { afterEach, expect, test, vi } from 'vitest'
import { inOrder, openJournal, type Entry } from './journal'

let databases = 0
const fresh = () => openJournal(`journal-${databases += 1}`)
const entry = (id: string, part: Partial<Entry> = {}): Entry => ({ id, user: 1, path: '/datasets/1/versions/2', sample: 3, operation: { id, op: 'label', label: 'cat', on: true }, state: 'waiting', at: 100, ...part })

afterEach(() => vi.restoreAllMocks())

test('what is kept is there for the next tab, until it is acknowledged', async () => {
  const name = `journal-${databases += 1}`
  const first = openJournal(name)
  await first.add([entry('aaaaaaaa.1'), entry('aaaaaaaa.2')])
  first.close()
  const second = openJournal(name)
  expect((await second.list(1)).map((e) => e.id)).toEqual(['aaaaaaaa.1', 'aaaaaaaa.2'])
  await second.remove(['aaaaaaaa.1'])
  expect(await second.count(1)).toBe(1)
  expect(second.state).toBe('fine')
})

test('entries belong to their user', async () => {
  const journal = fresh()
  await journal.add([entry('aaaaaaaa.1'), entry('bbbbbbbb.1', { user: 2 })])
  expect((await journal.list(2)).map((e) => e.id)).toEqual(['bbbbbbbb.1'])
  expect(await journal.count(3)).toBe(0)
})

test('the same operation is kept once', async () => {
  const journal = fresh()
  await journal.add([entry('aaaaaaaa.1')])
  await journal.change(entry('aaaaaaaa.1', { state: 'conflict', theirs: null }))
  expect(await journal.list(1)).toEqual([entry('aaaaaaaa.1', { state: 'conflict', theirs: null })])
})

test('the order is that of each client, whatever the clock did', () => {
  const ids = inOrder([entry('bbbbbbbb.2', { at: 5 }), entry('aaaaaaaa.10', { at: 40 }), entry('aaaaaaaa.9', { at: 50 }), entry('bbbbbbbb.1', { at: 90 })]).map((e) => e.id)
  expect(ids).toEqual(['bbbbbbbb.1', 'bbbbbbbb.2', 'aaaaaaaa.9', 'aaaaaaaa.10'])
})

test('a full browser is told at once, and again when there is room', async () => {
  const journal = fresh()
  const told = vi.fn()
  journal.listen(told)
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('no room', 'QuotaExceededError')
  })
  await journal.add([entry('aaaaaaaa.1')])
  expect(journal.state).toBe('full')
  expect(told).toHaveBeenCalledTimes(1)
  await journal.remove(['aaaaaaaa.1'])
  expect(journal.state).toBe('full')
  put.mockRestore()
  await journal.add([entry('aaaaaaaa.2')])
  expect(journal.state).toBe('fine')
  expect(told).toHaveBeenCalledTimes(2)
})

test('without IndexedDB work goes on, and it is said', async () => {
  const journal = fresh()
  vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  await journal.add([entry('aaaaaaaa.1')])
  expect(journal.state).toBe('off')
  expect(await journal.list(1)).toEqual([])
})
