// The room of the open sample: a socket that is opened again when it is lost, and what is seen of the others in it.
import type { Annotation } from '../../canvas'
import type { SampleState } from '../datasets/samples'
import type { Place } from './journal'
import type { FromRoom, Person, Result, RoomSocket, Told, ToRoom, Wire } from './wire'

export interface Other {
  client: string
  user: Person
  x?: number
  y?: number
  selection?: readonly string[]
}

export interface RoomView {
  state: 'connecting' | 'open' | 'closed'
  people: readonly Other[]
  /** Told by the server since the sample was opened. */
  sample: SampleState | null
  /** Why it will not open again: the version was published or deleted, the lease is over. */
  ended: 'published' | 'deleted' | 'lease' | null
}

export interface Room {
  /** It is open: operations may be sent. */
  readonly ready: boolean
  /** It is open or may soon be: what waits for this sample waits for it. */
  readonly hopeful: boolean
  send(message: ToRoom): void
  cursor(x: number, y: number, tool: string, selection: readonly string[]): void
  /** Asks for the annotation as it is now. */
  again(): void
  /** It does not answer, though nothing said that it is gone. */
  drop(): void
  /** Now rather than later, when it is being waited. */
  retry(): void
  close(): void
}

interface Options {
  wire: Wire
  client: string
  place: Place
  patience: number
  /** The first annotation that comes is taken, whatever is known. */
  whole: boolean
  known: () => number
  /** Whether the open sample has shapes of these ids. What was loaded before anybody had touched it had none. */
  names: (annotation: Annotation) => boolean
  onView: (view: RoomView) => void
  /** The annotation is null when it is the one that is known. */
  onBegin: (revision: number, annotation: Annotation | null) => void
  onOperations: (items: readonly Told[]) => void
  onResults: (results: readonly Result[]) => void
  onLost: () => void
}

/** Milliseconds between two cursors that are sent, and bytes that may wait in the socket: a slow network carries work first. */
const cursorEvery = 60
const queueMost = 4096

export function openRoom({ wire, client, place, patience, whole: first, known, names, onView, onBegin, onOperations, onResults, onLost }: Options): Room {
  let socket: RoomSocket | null = null
  let ready = false
  let whole = first
  let tries = 0
  let over = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let pointer: ReturnType<typeof setTimeout> | undefined
  let nextCursor: ToRoom | null = null
  let view: RoomView = { state: 'connecting', people: [], sample: null, ended: null }
  const show = (part: Partial<RoomView>) => {
    view = { ...view, ...part }
    onView(view)
  }
  const people = (list: readonly { client: string; user: Person }[]) =>
    list.filter((p) => p.client !== client).map((p): Other => ({ ...view.people.find((o) => o.client === p.client), ...p }))

  const take = (message: FromRoom) => {
    switch (message.type) {
      case 'hello': {
        ready = true
        tries = 0
        const news = whole || message.revision !== known() || !names(message.annotation)
        whole = false
        show({ state: 'open', people: people(message.people), sample: message.state })
        return onBegin(message.revision, news ? message.annotation : null)
      }
      case 'operations': return onOperations(message.items)
      case 'results': return onResults(message.results)
      case 'state': return show({ sample: message.state })
      case 'people': return show({ people: people(message.people) })
      case 'cursor': return show({ people: view.people.map((o) => (o.client === message.client ? { ...o, x: message.x, y: message.y, selection: message.selection ?? [] } : o)) })
      case 'reload': return again()
      case 'closed': {
        over = true
        socket?.close()
        return lost(message.reason)
      }
    }
  }
  const lost = (ended: RoomView['ended'] = null) => {
    socket = null
    ready = false
    show({ state: over ? 'closed' : 'connecting', people: [], ended })
    tries += 1
    if (!over) timer = setTimeout(open, patience * Math.min(16, 2 ** (tries - 1)))
    onLost()
    // A room that is refused may be a session that has ended: asking makes the page ask to sign in again.
    if (!over && tries > 1) wire.session().catch(() => undefined)
  }
  const open = () => {
    clearTimeout(timer)
    if (over || socket) return
    const mine = wire.room(place, client, { message: (m) => socket === mine && take(m), close: () => socket === mine && lost() })
    socket = mine
    // A socket that neither opens nor fails (a proxy that swallows it) is one that failed.
    clearTimeout(silence)
    silence = setTimeout(() => {
      if (socket !== mine || ready) return
      mine.close()
      lost()
    }, 8 * patience)
  }
  const again = () => {
    whole = true
    if (!socket) return
    socket.close()
    socket = null
    ready = false
    open()
  }
  const retry = () => {
    if (!socket && !over) open()
  }
  open()
  return {
    get ready() { return ready },
    get hopeful() { return ready || (!over && socket !== null && tries === 0) },
    send: (message) => socket?.send(message),
    cursor(x, y, tool, selection) {
      // Alone, as most are, nothing is made ready that nobody would see.
      if (view.people.length === 0) return
      nextCursor = { type: 'cursor', x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10, tool, selection: selection.slice(0, 20) }
      pointer ??= setTimeout(() => {
        pointer = undefined
        if (nextCursor && socket && ready && socket.queued < queueMost) socket.send(nextCursor)
      }, cursorEvery)
    },
    again,
    retry,
    drop() {
      if (!socket) return
      socket.close()
      lost()
    },
    close() {
      over = true
      for (const each of [timer, pointer, silence]) clearTimeout(each)
      socket?.close()
      socket = null
    },
  }
}
