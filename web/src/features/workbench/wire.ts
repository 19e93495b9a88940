// What goes over the wire between the workbench and the server: the route `operations` and the room of a sample. The rest of the
// workbench sees it as a Wire, so that its tests need no network.
import { apiUrl, request, type Schema } from '../../api/client'
import type { Annotation, Operation, Shape } from '../../canvas'
import type { SampleState } from '../datasets/samples'
import type { OperationProblem, Place } from './journal'

export type Person = Schema<'Reference'>

type Answered = Schema<'OperationResults'>['results'][number]
/** `shape`: as the server has it now, after it was cut at the picture's edge, or as another made it. `label`: what the label of an
 * operation `label` is called by now, when that is another name. */
export type Result = Pick<Answered, 'sample' | 'state' | 'revision'> & Partial<Pick<Answered, 'label'>> & { id: string; shape?: Shape | null; problem?: OperationProblem | null }

export interface Told {
  /** null: made by no client (an import, a submit, a restore). */
  id: string | null
  client: string
  revision: number
  by: Person
  operation: Operation
}

export type FromRoom =
  | { type: 'hello'; you: string; revision: number; annotation: Annotation; state: SampleState; people: { client: string; user: Person }[] }
  | { type: 'operations'; items: Told[] }
  | { type: 'results'; results: Result[] }
  | { type: 'state'; state: SampleState; revision: number }
  | { type: 'people'; people: { client: string; user: Person }[] }
  | { type: 'cursor'; client: string; x: number; y: number; tool?: string; selection?: string[] }
  | { type: 'reload' }
  | { type: 'closed'; reason: 'published' | 'deleted' | 'lease' }

export type ToRoom =
  | { type: 'operations'; operations: Operation[]; task?: number; assignment?: number }
  | { type: 'cursor'; x: number; y: number; tool?: string; selection?: readonly string[] }

export interface RoomSocket {
  send(message: ToRoom): void
  /** Bytes that the network has not taken yet. */
  readonly queued: number
  close(): void
}

export interface Wire {
  post(path: string, body: { operations: (Operation & { sample: number; layer?: number })[]; task?: number; assignment?: number }): Promise<{ results: Result[] }>
  room(place: Place, client: string, on: { message: (message: FromRoom) => void; close: () => void }): RoomSocket
  /** Whether somebody is signed in: resolves when so, waits while one signs in again, fails without network. */
  session(): Promise<unknown>
}

export const network: Wire = {
  post: (path, body) => request(`${path}/operations`, { method: 'POST', body }),
  session: () => request('/session'),
  room(place, client, on) {
    const url = new URL(apiUrl(`${place.path}/samples/${place.sample}/room`, { client, layer: place.layer }), window.location.href)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(url)
    let over = false
    socket.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (!over && typeof event.data === 'string') on.message(JSON.parse(event.data) as FromRoom)
    })
    socket.addEventListener('close', () => {
      if (!over) on.close()
    })
    return {
      send: (message) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
      },
      get queued() { return socket.bufferedAmount },
      close: () => {
        over = true
        socket.close()
      },
    }
  },
}
