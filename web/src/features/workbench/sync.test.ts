import { afterEach, expect, test, vi } from 'vitest'
import { Problem } from '../../api/client'
import { createDocument, type Annotation, type Change, type Operation, type Shape } from '../../canvas'
import type { Entry, Journal, JournalState, Place } from './journal'
import { clientOf } from './journal'
import { targetOf } from './operations'
import { relabel } from './bulk'
import { openSync, type Sync } from './sync'
import type { FromRoom, Result, Told, Wire } from './wire'

const path = '/datasets/1/versions/2'
const box = (id: string, x = 1): Shape => ({ id, type: 'box', label: 'cat', x, y: 1, w: 10, h: 10 })

/** A server of one version at the edge of these tests: applies, numbers, remembers ids, answers conflicts, tells its rooms. */
class Server {
  down = false
  published = false
  roomless = false
  posts = 0
  private readonly samples = new Map<number, { document: ReturnType<typeof createDocument>; done: Told[] }>()
  readonly rooms = new Map<number, Set<{ client: string; tell: (m: FromRoom) => void; drop: () => void }>>()

  sample(id: number) {
    const found = this.samples.get(id) ?? { document: createDocument({ annotation: {}, type: 'detection', width: 100, height: 100 }), done: [] }
    this.samples.set(id, found)
    return found
  }

  annotation(id: number): Annotation {
    return this.sample(id).document.annotation()
  }

  apply(sample: number, operation: Operation): Result {
    const { document, done } = this.sample(sample)
    const target = targetOf(operation, document)
    const id = operation.op === 'put' ? operation.shape.id : operation.op === 'remove' ? operation.shape : ''
    const answer = (state: Result['state'], revision = done.length): Result => ({ id: operation.id, sample, state, revision, shape: document.shape(id) ?? null })
    const before = done.findIndex((o) => o.id === operation.id)
    if (before >= 0) return answer('already', before + 1)
    if (operation.op === 'put' && operation.shape.label === 'gone') return { ...answer('refused'), problem: { code: 'invalid', field: 'shape.label', message: 'there is no such label' } }
    const base = operation.base
    if (base !== undefined && done.some((o) => o.revision > base && o.client !== clientOf(operation.id) && targetOf(o.operation, document) === target)) return answer('conflict')
    const given = operation.op === 'put' && operation.shape.type === 'box' && operation.shape.x < 0 ? { ...operation, shape: { ...operation.shape, x: 0 } } : operation
    document.receive(given)
    const told: Told = { id: operation.id, client: clientOf(operation.id), revision: done.length + 1, by: { id: 1, name: 'a' }, operation: given }
    done.push(told)
    for (const seat of this.rooms.get(sample) ?? []) seat.tell({ type: 'operations', items: [told] })
    return answer('applied')
  }

  cut(): void {
    for (const seats of this.rooms.values()) for (const seat of [...seats]) seat.drop()
  }

  wire: Wire = {
    post: async (_path, body) => {
      await Promise.resolve()
      this.posts += 1
      if (this.down) throw new Problem(0, { code: 'network' })
      if (this.published) throw new Problem(409, { code: 'conflict', detail: 'the version is published' })
      return { results: body.operations.map(({ sample, ...operation }) => this.apply(sample, operation)) }
    },
    session: async () => {
      if (this.down) throw new Problem(0, { code: 'network' })
    },
    room: (place, client, on) => {
      let here = true
      const seats = this.rooms.get(place.sample) ?? new Set()
      this.rooms.set(place.sample, seats)
      const seat = { client, tell: (m: FromRoom) => queueMicrotask(() => here && on.message(m)), drop: () => leave(true) }
      const leave = (told: boolean) => {
        seats.delete(seat)
        if (here && told) queueMicrotask(on.close)
        here = false
      }
      queueMicrotask(() => {
        if (this.down || this.published || this.roomless) return leave(true)
        seats.add(seat)
        const people = [...seats].map((s) => ({ client: s.client, user: { id: 1, name: s.client } }))
        for (const other of seats) if (other !== seat) other.tell({ type: 'people', people })
        const { document, done } = this.sample(place.sample)
        seat.tell({ type: 'hello', you: client, revision: done.length, annotation: document.annotation(), state: 'unannotated', people })
      })
      return {
        queued: 0,
        send: (message) => {
          if (!here || this.down) return
          if (message.type === 'operations') seat.tell({ type: 'results', results: message.operations.map((o) => this.apply(place.sample, o)) })
          else for (const other of seats) if (other !== seat) other.tell({ ...message, client, selection: [...(message.selection ?? [])] })
        },
        close: () => leave(false),
      }
    },
  }
}

/** A journal in memory; what stands in it is what a next tab would find. */
class Memory implements Journal {
  state: JournalState = 'fine'
  entries = new Map<string, Entry>()
  log: string[] = []
  listen = () => () => undefined
  add = async (list: readonly Entry[]) => list.forEach((e) => {
    this.entries.set(e.id, e)
    this.log.push(`kept ${e.id}`)
  })
  change = async (e: Entry) => void this.entries.set(e.id, e)
  remove = async (ids: readonly string[]) => ids.forEach((id) => this.entries.delete(id))
  list = async (user: number) => [...this.entries.values()].filter((e) => e.user === user)
  count = async (user: number) => (await this.list(user)).length
  close = () => undefined
}

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
