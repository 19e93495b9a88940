import { afterEach, expect, test, vi } from 'vitest'
import { Problem } from '../../api/client'
import { createDocument, type Change, type Shape } from '../../canvas'
import type { Place } from './journal'
import { relabel } from './bulk'
import { Memory, Server } from './sync.double'
import { openSync, type Sync } from './sync'
import type { Told } from './wire'

const path = '/datasets/1/versions/2'
const box = (id: string, x = 1): Shape => ({ id, type: 'box', label: 'cat', x, y: 1, w: 10, h: 10 })

const open: Sync[] = []
function tab(server: Server, options: { journal?: Memory; client?: string; sample?: number; user?: number } = {}) {
  const journal = options.journal ?? new Memory()
  const sync = openSync({ user: options.user ?? 1, wire: server.wire, journal, client: options.client ?? `tab${open.length}tab${open.length}`, patience: 2 })
  open.push(sync)
  const sample = options.sample ?? 3
  const place: Place = { path, sample }
  const document = createDocument({ annotation: server.annotation(sample), type: 'detection', width: 100, height: 100 })
  const people: { client: string; x?: number }[] = []
  sync.open({ place, document, revision: server.sample(sample).done.length, onRoom: (view) => people.splice(0, people.length, ...view.people) })
  return { sync, document, journal, place, people, change: (change: Change | Change[]) => document.change(change) }
}
const saved = (sync: Sync) => vi.waitFor(() => expect(sync.status).toMatchObject({ state: 'saved', waiting: 0 }))

afterEach(() => {
  for (const sync of open.splice(0)) sync.close()
})

test('a stroke is kept, sent, acknowledged and forgotten', async () => {
  const server = new Server()
  const { sync, journal, change } = tab(server)
  change({ op: 'put', shape: box('s1') })
  expect(sync.status).toMatchObject({ state: 'saving', waiting: 1 })
  await saved(sync)
  expect(server.annotation(3).shapes).toEqual([box('s1')])
  expect(journal.log).toEqual([`kept ${sync.client}.1`])
  expect(journal.entries.size).toBe(0)
})

test('two people on one sample: both results stand, each sees the other', async () => {
  const server = new Server()
  const one = tab(server)
  const two = tab(server)
  one.change({ op: 'put', shape: box('a') })
  two.change({ op: 'put', shape: box('b', 30) })
  await vi.waitFor(() => {
    expect(one.document.shapes.map((s) => s.id).sort()).toEqual(['a', 'b'])
    expect(two.document.shapes.map((s) => s.id).sort()).toEqual(['a', 'b'])
  })
  await saved(one.sync)
  await saved(two.sync)
  one.sync.cursor(5, 6, 'box', [])
  await vi.waitFor(() => expect(two.people).toMatchObject([{ client: one.sync.client, x: 5 }]))
  // Undo is another operation, and takes back what one did oneself.
  one.document.undo()
  await vi.waitFor(() => expect(two.document.shapes.map((s) => s.id)).toEqual(['b']))
})

test('what no client made (an import, a submit) is taken over', async () => {
  const server = new Server()
  const { sync, document } = tab(server)
  await saved(sync)
  const told: Told = { id: null, client: '', revision: 1, by: { id: 2, name: 'b' }, operation: { id: '', op: 'replace', annotation: { shapes: [box('x')] } } }
  server.sample(3).done.push(told)
  for (const seat of server.rooms.get(3) ?? []) seat.tell({ type: 'operations', items: [told] })
  await vi.waitFor(() => expect(document.shapes.map((s) => s.id)).toEqual(['x']))
})

test('off line work is kept and goes out when the network is back, once', async () => {
  const server = new Server()
  const { sync, journal, change } = tab(server)
  await vi.waitFor(() => expect(sync.status.state).toBe('saved'))
  server.down = true
  server.cut()
  for (let i = 0; i < 12; i += 1) change({ op: 'put', shape: box(`s${i}`, i) })
  await vi.waitFor(() => expect(sync.status).toMatchObject({ state: 'offline', waiting: 12 }))
  expect(journal.entries.size).toBe(12)
  server.down = false
  sync.retry()
  await saved(sync)
  expect(server.annotation(3).shapes).toHaveLength(12)
  expect(server.sample(3).done).toHaveLength(12)
})

test('a room that begins with what was before an answered operation tells that one, and it stays on the picture', async () => {
  const server = new Server()
  const { sync, document, change } = tab(server)
  change({ op: 'put', shape: box('a') })
  await saved(sync)
  for (const seat of server.rooms.get(3) ?? []) {
    seat.tell({ type: 'hello', you: sync.client, revision: 0, annotation: {}, state: 'unannotated', people: [] })
    seat.tell({ type: 'operations', items: [...server.sample(3).done] })
  }
  // A turn of the loop: both have come then.
  await new Promise((done) => setTimeout(done))
  expect(document.shapes.map((one) => one.id)).toEqual(['a'])
})

test('without rooms everything goes by POST', async () => {
  const server = new Server()
  server.roomless = true
  const { sync, change } = tab(server)
  change([{ op: 'put', shape: box('a') }, { op: 'put', shape: box('b') }])
  await saved(sync)
  expect(server.posts).toBeGreaterThan(0)
  expect(server.annotation(3).shapes).toHaveLength(2)
})

test('a tab that died leaves its work to the next one, under the same ids', async () => {
  const server = new Server()
  server.down = true
  const journal = new Memory()
  const first = tab(server, { journal, client: 'deadtab1' })
  first.change({ op: 'put', shape: box('a') })
  await vi.waitFor(() => expect(journal.entries.size).toBe(1))
  // It had been applied, only the answer was lost.
  const sent = [...journal.entries.values()][0]
  if (sent) server.apply(3, sent.operation)
  first.sync.close()
  server.down = false
  const second = tab(server, { journal })
  await saved(second.sync)
  await vi.waitFor(() => expect(journal.entries.size).toBe(0))
  expect(server.sample(3).done).toHaveLength(1)
  expect(second.document.shapes).toHaveLength(1)
})

test("another user's journal is not touched", async () => {
  const server = new Server()
  server.down = true
  const journal = new Memory()
  const first = tab(server, { journal, user: 1 })
  first.change({ op: 'put', shape: box('a') })
  await vi.waitFor(() => expect(journal.entries.size).toBe(1))
  first.sync.close()
  server.down = false
  const second = tab(server, { journal, user: 2 })
  second.change({ op: 'put', shape: box('b') })
  await saved(second.sync)
  expect(server.annotation(3).shapes?.map((s) => s.id)).toEqual(['b'])
  expect(journal.entries.size).toBe(1)
})

test('what two people did to one shape is shown side by side; either can be chosen', async () => {
  const server = new Server()
  server.apply(3, { id: 'importer.1', op: 'put', shape: box('s') })
  const one = tab(server)
  await vi.waitFor(() => expect(one.sync.status.state).toBe('saved'))
  server.down = true
  server.cut()
  one.change({ op: 'put', shape: box('s', 50) })
  server.apply(3, { id: 'somebody.1', op: 'put', shape: box('s', 20) })
  server.down = false
  one.sync.retry()
  await vi.waitFor(() => expect(one.sync.status.troubles).toMatchObject([{ state: 'conflict', theirs: { x: 20 } }]))
  expect(one.document.shape('s')).toMatchObject({ x: 20 })
  expect(one.journal.entries.size).toBe(1)
  one.sync.settle(one.sync.status.troubles[0]?.id ?? '', 'mine')
  await saved(one.sync)
  expect(server.annotation(3).shapes).toMatchObject([{ x: 50 }])
  expect(one.document.shape('s')).toMatchObject({ x: 50 })
  await vi.waitFor(() => expect(one.journal.entries.size).toBe(0))
})

test('a label deleted meanwhile: the stroke is kept and can be sent with another label', async () => {
  const server = new Server()
  const one = tab(server)
  one.change({ op: 'put', shape: { ...box('s'), label: 'gone' } })
  await vi.waitFor(() => expect(one.sync.status.troubles).toMatchObject([{ state: 'refused', problem: { field: 'shape.label' } }]))
  const trouble = one.sync.status.troubles[0]
  if (trouble) one.sync.send(trouble, one.place, { op: 'put', shape: box('s') })
  await saved(one.sync)
  expect(server.annotation(3).shapes).toMatchObject([{ label: 'cat' }])
  expect(one.sync.status.troubles).toEqual([])
})

test('a version published meanwhile: the work is kept and can go to a new draft', async () => {
  const server = new Server()
  const draft = new Server()
  const one = tab(server)
  await vi.waitFor(() => expect(one.sync.status.state).toBe('saved'))
  server.published = true
  server.cut()
  one.change([{ op: 'put', shape: box('a') }, { op: 'put', shape: box('b') }])
  await vi.waitFor(() => expect(one.sync.status.troubles).toHaveLength(2))
  expect(one.journal.entries.size).toBe(2)
  server.wire.post = draft.wire.post
  for (const trouble of one.sync.status.troubles) {
    const { operation } = trouble
    if (operation.op === 'put') one.sync.send(trouble, { path: '/datasets/1/versions/9', sample: 30 }, { op: 'put', shape: operation.shape })
  }
  await saved(one.sync)
  expect(draft.annotation(30).shapes?.map((s) => s.id)).toEqual(['a', 'b'])
})

test('a shape that the server cut is shown as it is there, and undo still finds it', async () => {
  const server = new Server()
  const one = tab(server)
  one.change({ op: 'put', shape: box('s', -5) })
  await saved(one.sync)
  await vi.waitFor(() => expect(one.document.shape('s')).toMatchObject({ x: 0 }))
  one.document.undo()
  await saved(one.sync)
  expect(server.annotation(3).shapes ?? []).toEqual([])
})

test('samples that are not open are changed too', async () => {
  const server = new Server()
  const { sync } = tab(server)
  sync.change({ path, sample: 8 }, 0, [{ op: 'put', shape: box('x') }])
  await saved(sync)
  expect(server.annotation(8).shapes).toHaveLength(1)
})

test('a label changed over many samples: what somebody did meanwhile stands, is told, and undo leaves it', async () => {
  const server = new Server()
  for (const sample of [1, 2, 3]) server.apply(sample, { op: 'put', shape: box('a'), id: `first.${sample}` })
  const journal = new Memory()
  const load = async (id: number) => {
    const seen = { id, revision: server.sample(id).done.length, annotation: server.annotation(id), width: 100, height: 100 }
    // Somebody moves it between our look and our change.
    if (id === 2) server.apply(2, { op: 'put', shape: box('a', 50), id: 'other.1' })
    if (id === 3) throw new Problem(404, { code: 'not_found' })
    return seen as never
  }
  const done = await relabel({ user: 1, path, type: 'detection', wire: server.wire, journal, load }, [1, 2, 3], 'cat', 'dog')
  expect(done).toMatchObject({ samples: 1, troubled: [2], unread: 1, waiting: 0 })
  expect(server.annotation(1).shapes?.[0]?.label).toBe('dog')
  expect(server.annotation(2).shapes?.[0]).toEqual(box('a', 50))
  expect([...journal.entries.values()].map((e) => [e.sample, e.state])).toEqual([[2, 'conflict']])
  await done.undo()
  expect(server.annotation(1).shapes?.[0]?.label).toBe('cat')
  expect(server.annotation(2).shapes?.[0]).toEqual(box('a', 50))
})
