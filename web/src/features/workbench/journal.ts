// What people did and the server has not acknowledged yet, kept in the browser: an operation is written here before it is
// sent, and goes when it is acknowledged. It survives the tab, the browser and the session. A browser keeps one journal per
// server (its origin); entries belong to a user, and nobody else's are ever sent.
import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import type { Operation, Shape } from '../../canvas'

/** Where an operation goes. */
export interface Place {
  /** Of the version in the API: /datasets/3/versions/7. */
  path: string
  sample: number
  layer?: number
  task?: number
  assignment?: number
}

export interface OperationProblem {
  code: string
  field?: string | null
  message: string
  message_zh?: string | null
}

export interface Entry extends Place {
  id: string
  user: number
  operation: Operation
  /** waiting: to be sent. Others were answered and wait for a person to choose. */
  state: 'waiting' | 'conflict' | 'refused'
  /** For people: when it was done. */
  at: number
  /** What the server has in its place. */
  theirs?: Shape | null
  problem?: OperationProblem
}

/** full: the browser refused to keep more. off: it keeps nothing (private window, switched off). */
export type JournalState = 'fine' | 'full' | 'off'

export interface Journal {
  readonly state: JournalState
  listen(fn: () => void): () => void
  /** Resolves when they are kept, or when it is known that they cannot be: work goes on either way. */
  add(entries: readonly Entry[]): Promise<void>
  change(entry: Entry): Promise<void>
  remove(ids: readonly string[]): Promise<void>
  /** In the order in which they are to be sent. */
  list(user: number): Promise<Entry[]>
  count(user: number): Promise<number>
  close(): void
}

interface Schema extends DBSchema {
  operations: { key: string; value: Entry; indexes: { user: number } }
}

export const databaseName = 'ingot-journal'

export function clientOf(id: string): string {
  return id.slice(0, id.lastIndexOf('.'))
}

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('.') + 1))
}

/** Each client's operations in their order; the clients by when they began. Clocks may jump within a client. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  const began = new Map<string, number>()
  for (const { id, at } of entries) began.set(clientOf(id), Math.min(at, began.get(clientOf(id)) ?? Infinity))
  const start = (id: string) => began.get(clientOf(id)) ?? 0
  return [...entries].sort((a, b) => start(a.id) - start(b.id) || (clientOf(a.id) < clientOf(b.id) ? -1 : clientOf(a.id) > clientOf(b.id) ? 1 : numberOf(a.id) - numberOf(b.id)))
}

export function openJournal(name = databaseName): Journal {
  let state: JournalState = 'fine'
  const listeners = new Set<() => void>()
  let database: Promise<IDBPDatabase<Schema> | null> | null = null
  const become = (next: JournalState) => {
    if (next === state) return
    state = next
    for (const fn of [...listeners]) fn()
  }
  const opened = () => {
    database ??= open(name, () => {
      // Closed by the browser (its data was cleared): the next write opens it anew.
      database = null
    }).catch(() => null)
    return database
  }
  /** Null when it failed: then the state says why. */
  const run = async <T>(work: (db: IDBPDatabase<Schema>) => Promise<T>, writes = false): Promise<T | null> => {
    const db = await opened()
    if (!db) {
      database = null
      become('off')
      return null
    }
    try {
      const result = await work(db)
      // Reading and removing succeed without room, too.
      if (writes || state !== 'full') become('fine')
      return result
    } catch (error) {
      become(error instanceof DOMException && error.name === 'QuotaExceededError' ? 'full' : 'off')
      if (error instanceof DOMException && error.name === 'InvalidStateError') database = null
      return null
    }
  }
  const put = (entries: readonly Entry[]) => run(async (db) => {
    // Strict: on the disk, not only in the browser's memory, before it counts as kept.
    const tx = db.transaction('operations', 'readwrite', { durability: 'strict' })
    const written = entries.map((entry) => tx.store.put(entry))
    // At once: a page that is being closed does not live to hear that they were written.
    tx.commit()
    await Promise.all([...written, tx.done])
  }, true)
  return {
    get state() { return state },
    listen(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
    add: async (entries) => void (await put(entries)),
    change: async (entry) => void (await put([entry])),
    remove: async (ids) => void (await run(async (db) => {
      const tx = db.transaction('operations', 'readwrite')
      await Promise.all([...ids.map((id) => tx.store.delete(id)), tx.done])
    })),
    list: async (user) => inOrder((await run((db) => db.getAllFromIndex('operations', 'user', user))) ?? []),
    count: async (user) => (await run((db) => db.countFromIndex('operations', 'user', user))) ?? 0,
    close() {
      void database?.then((db) => db?.close())
      database = null
    },
  }
}

async function open(name: string, onClosed: () => void): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>(name, 1, {
    upgrade(db) {
      db.createObjectStore('operations', { keyPath: 'id' }).createIndex('user', 'user')
    },
    // A newer page wants to change the database: this tab lets go of it.
    blocking: (_old, _new, event) => {
      (event.target as IDBDatabase).close()
      onClosed()
    },
    terminated: onClosed,
  })
}
