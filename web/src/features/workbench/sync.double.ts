import { Problem } from '../../api/client'
import { createDocument, type Annotation, type Operation } from '../../canvas'
import { clientOf, type Entry, type Journal, type JournalState } from './journal'
import { targetOf } from './operations'
import type { FromRoom, Result, Told, Wire } from './wire'

/** A server of one version at the edge of these tests: applies, numbers, remembers ids, answers conflicts, tells its rooms. */
export class Server {
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
export class Memory implements Journal {
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
