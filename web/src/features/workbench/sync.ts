// Brings what is done here to the server and what others do to the open document. Every change is kept in the journal first,
// then sent by the room of its sample, or by POST where there is no room; it counts as saved when the server has acknowledged
// it, and can be sent again any time: the server knows operations by their ids. What cannot be applied is kept, too, until a
// person has chosen (see `troubles`).
import { Problem } from '../../api/client'
import { newId, type Annotation, type Change } from '../../canvas'
import { clientOf, type Entry, type Place } from './journal'
import { changeOf, overlap, passing, targetOf } from './operations'
import { openRoom, type Room } from './room'
import type { OpenSample, Status, Sync, SyncOptions } from './syncApi'
import type { Result, Told } from './wire'

export type { OpenSample, Status, Sync, SyncOptions } from './syncApi'

/** So many operations are sent at a time. */
const batch = 200

export function openSync({ user, wire, journal, held, client = newId() + newId().slice(0, 2), patience = 1000 }: SyncOptions): Sync {
  let entries: Entry[] = []
  const kept = new Set<string>()
  const inRoom = new Set<string>()
  const listeners = new Set<() => void>()
  let made = 0
  let offline = false
  let failures = 0
  let posting = false
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let room: Room | null = null
  let current: (OpenSample & { off: () => void }) | null = null
  let status: Status = { state: 'saved', waiting: 0, journal: journal.state, troubles: [] }

  const tell = () => {
    const waiting = entries.filter((e) => e.state === 'waiting').length
    const troubles = entries.filter((e) => e.state !== 'waiting')
    const same = troubles.length === status.troubles.length && troubles.every((t, i) => t === status.troubles[i])
    const state = offline ? 'offline' : waiting > 0 ? 'saving' : 'saved'
    if (same && state === status.state && waiting === status.waiting && journal.state === status.journal) return
    status = { state, waiting, journal: journal.state, troubles: same ? status.troubles : troubles }
    for (const fn of [...listeners]) fn()
  }
  const offJournal = journal.listen(tell)
  const isOpen = (place: Place) => current !== null && place.path === current.place.path && place.sample === current.place.sample && place.layer === current.place.layer
  /** Goes by the open room: its sample, in the same assignment. */
  const roomy = (e: Entry) => isOpen(e) && e.task === current?.place.task && e.assignment === current?.place.assignment
  const pendingOn = (target: string) => entries.some((e) => e.state === 'waiting' && isOpen(e) && overlap(target, targetOf(e.operation, current?.document ?? null)))
  const drop = (ids: readonly string[]) => {
    const gone = new Set(ids)
    entries = entries.filter((e) => !gone.has(e.id))
    for (const id of ids) {
      kept.delete(id)
      inRoom.delete(id)
    }
    void journal.remove(ids)
  }
  const add = (place: Place, base: number, changes: readonly Change[]) => {
    const added = changes.map((change): Entry => {
      made += 1
      const id = `${client}.${made}`
      return { ...place, id, user, state: 'waiting', at: Date.now(), operation: { ...change, id, ...(base > 0 && { base }) } }
    })
    entries = [...entries, ...added]
    tell()
    void journal.add(added).then(() => {
      for (const { id } of added) kept.add(id)
      pump()
    })
  }

  // --- what the server answers ---
  /** The revision that is known: all up to it has been seen here. Others' operations in between would be overlooked. */
  const seen = (revision: number) => {
    if (current && revision === current.revision + 1) current.revision = revision
  }
  const answer = (results: readonly Result[]) => {
    const done: string[] = []
    for (const result of results) {
      const entry = entries.find((e) => e.id === result.id)
      if (!entry) continue
      inRoom.delete(entry.id)
      if (result.state === 'applied' || result.state === 'already') {
        done.push(entry.id)
        if (isOpen(entry)) seen(result.revision)
        if (isOpen(entry) && entry.operation.op === 'put' && result.shape && result.state === 'applied') mend(entry.id, { op: 'put', shape: result.shape })
        if (isOpen(entry) && entry.operation.op === 'label' && result.label) mend(entry.id, { op: 'relabel', labels: { [entry.operation.label]: result.label } })
      } else {
        const trouble: Entry = { ...entry, state: result.state, theirs: result.shape ?? null, ...(result.problem && { problem: result.problem }) }
        entries = entries.map((e) => (e.id === entry.id ? trouble : e))
        void journal.change(trouble)
        yieldTo(trouble)
      }
    }
    if (done.length > 0) drop(done)
    tell()
  }
  /** What the server made of our own change (cut at the picture's edge) is shown, unless we have changed it again since. */
  const mend = (id: string, change: Change) => {
    const target = targetOf(change, current?.document ?? null)
    const newer = entries.some((e) => e.id !== id && e.state === 'waiting' && isOpen(e) && overlap(targetOf(e.operation, current?.document ?? null), target))
    if (!newer) current?.document.receive(change, { own: true })
  }
  /** What was not applied leaves the picture: it shows what is on the server, the other stands in the list of troubles. */
  const yieldTo = (trouble: Entry) => {
    if (!current || !isOpen(trouble)) return
    const { operation } = trouble
    if (operation.op === 'put' || operation.op === 'remove') {
      const id = operation.op === 'put' ? operation.shape.id : operation.shape
      if (pendingOn(`shape:${id}`)) return
      if (trouble.theirs) current.document.receive({ op: 'put', shape: trouble.theirs })
      else if (operation.op === 'put' && trouble.state === 'conflict') current.document.receive({ op: 'remove', shape: id })
      else room?.again()
    } else room?.again()
  }
  const remote = (items: readonly Told[]) => {
    const own: string[] = []
    for (const item of items) {
      if (!current || item.revision <= current.revision) {
        if (item.id !== null && entries.some((e) => e.id === item.id)) own.push(item.id)
        continue
      }
      current.revision = item.revision
      if (item.id !== null && entries.some((e) => e.id === item.id)) {
        own.push(item.id)
        mend(item.id, item.operation)
      } else if (item.id !== null && clientOf(item.id) === client) mend(item.id, item.operation) // the room began without it
      else if (!pendingOn(targetOf(item.operation, current.document))) current.document.receive(item.operation)
    }
    if (own.length > 0) drop(own)
    tell()
  }
  /** Where the room begins (again): the server's annotation, and over it what it has not heard of yet. */
  const begin = (revision: number, annotation: Annotation | null) => {
    if (!current) return
    current.revision = revision
    inRoom.clear()
    offline = false
    failures = 0
    if (annotation) {
      const pending = entries.filter((e) => e.state === 'waiting' && isOpen(e)).map((e) => e.operation)
      current.document.receive([{ op: 'replace', annotation }, ...pending])
    }
    tell()
    pump()
  }

  // --- sending ---
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(pump, patience * Math.min(16, 2 ** Math.max(0, failures - 1)))
  }
  const ready = (e: Entry) => e.state === 'waiting' && kept.has(e.id) && !inRoom.has(e.id)
  const pump = () => {
    if (over) return
    if (room?.ready && current) {
      const sent = entries.filter((e) => ready(e) && roomy(e)).slice(0, batch)
      const { task, assignment } = current.place
      if (sent.length > 0) {
        for (const e of sent) inRoom.add(e.id)
        // A network may be gone without a word: what is not answered is sent another way.
        silence ??= setTimeout(() => {
          silence = undefined
          if (sent.some((e) => inRoom.has(e.id))) room?.drop()
        }, 6 * patience)
        room.send({ type: 'operations', operations: sent.map((e) => e.operation), ...(task !== undefined && { task }), ...(assignment !== undefined && { assignment }) })
      }
    }
    const first = entries.find((e) => ready(e) && !(room?.hopeful && roomy(e)))
    if (first && !posting) void post(first)
  }
  const post = async (first: Entry) => {
    posting = true
    const alike = (e: Entry) => ready(e) && e.path === first.path && e.task === first.task && e.assignment === first.assignment && !(room?.ready && roomy(e))
    const sent = entries.filter(alike).slice(0, batch)
    try {
      answer((await send(sent)).results)
      offline = false
      failures = 0
    } catch (error) {
      if (!passing(error)) await refuse(sent, error)
      else {
        offline = true
        failures += 1
      }
    }
    posting = false
    tell()
    if (offline) later()
    else pump()
  }
  const send = (sent: readonly Entry[]) => {
    const [first] = sent
    return wire.post(first?.path ?? '', {
      operations: sent.map((e) => ({ sample: e.sample, ...(e.layer !== undefined && { layer: e.layer }), ...e.operation })),
      ...(first?.task !== undefined && { task: first.task }), ...(first?.assignment !== undefined && { assignment: first.assignment }),
    })
  }
  /** A whole request was refused. One of them may be the reason: alone, each gets its own answer. */
  const refuse = async (sent: readonly Entry[], error: unknown) => {
    const whole = error instanceof Problem && (error.status === 403 || error.status === 404 || error.status === 409 || error.status === 410)
    for (const entry of sent) {
      let why = error
      if (!whole && sent.length > 1) {
        try {
          answer((await send([entry])).results)
          continue
        } catch (alone) {
          if (passing(alone)) return
          why = alone
        }
      }
      const problem = why instanceof Problem ? { code: why.code, field: why.field, message: why.detail || why.code, ...(why.detailZh && { message_zh: why.detailZh }) } : { code: 'internal', message: String(why) }
      answer([{ id: entry.id, sample: entry.sample, state: 'refused', revision: 0, shape: null, problem }])
    }
  }

  void journal.list(user).then(async (found) => {
    const others = new Map<string, boolean>()
    for (const entry of found) {
      const from = clientOf(entry.id)
      if (from === client || entries.some((e) => e.id === entry.id)) continue
      if (!others.has(from)) others.set(from, (await held?.(from)) ?? false)
      if (others.get(from)) continue
      entries = [...entries, entry]
      kept.add(entry.id)
      // What another tab left undone on the sample that is open is seen here, too.
      if (entry.state === 'waiting' && isOpen(entry)) current?.document.receive(entry.operation)
    }
    tell()
    pump()
  })

  const leave = () => {
    current?.off()
    room?.close()
    room = null
    current = null
    inRoom.clear()
  }
  const self: Sync = {
    client,
    get status() { return status },
    listen(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
    open(sample) {
      leave()
      const off = sample.document.listen(({ changes, origin }) => {
        if (origin !== 'remote' && current) add(current.place, current.revision, changes)
      })
      current = { ...sample, off }
      const pending = entries.filter((e) => e.state === 'waiting' && isOpen(e)).map((e) => e.operation)
      if (pending.length > 0) sample.document.receive(pending)
      room = openRoom({
        wire, client, place: sample.place, patience, whole: sample.whole === true, onView: sample.onRoom,
        onBegin: begin,
        known: () => current?.revision ?? 0,
        names: (annotation) => annotation.shapes?.every((s) => current?.document.shape(s.id) !== undefined) ?? true,
        onOperations: remote, onResults: answer,
        onLost: () => {
          inRoom.clear()
          pump()
        },
      })
      tell()
      pump()
    },
    leave() {
      leave()
      tell()
      pump()
    },
    change: (place, revision, changes) => add(place, revision, changes),
    cursor: (x, y, tool, selection) => room?.cursor(x, y, tool, selection),
    settle(id, choice) {
      const entry = entries.find((e) => e.id === id)
      if (!entry) return
      if (choice === 'mine') self.send(entry, entry, changeOf(entry.operation))
      else {
        drop([id])
        tell()
      }
    },
    send(entry, { path, sample, layer, task, assignment }, change) {
      const place: Place = { path, sample, ...(layer !== undefined && { layer }), ...(task !== undefined && { task }), ...(assignment !== undefined && { assignment }) }
      // Without a base it stands over whatever is there; under a new name, as the old one has been answered.
      if (isOpen(place)) current?.document.receive(change)
      add(place, 0, [change])
      drop([entry.id])
      tell()
    },
    lost: () => room?.drop(),
    retry() {
      clearTimeout(timer)
      failures = 0
      room?.retry()
      pump()
    },
    settled: () => new Promise((done) => {
      const look = () => {
        if (status.waiting > 0 && status.state !== 'offline') return
        off()
        done(status.waiting === 0)
      }
      const off = self.listen(look)
      look()
    }),
    close() {
      over = true
      leave()
      clearTimeout(timer)
      clearTimeout(silence)
      offJournal()
      listeners.clear()
    },
  }
  return self
}
