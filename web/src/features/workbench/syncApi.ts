// What the workbench asks of its synchronisation (sync.ts), and what that tells.
import type { CanvasDocument, Change } from '../../canvas'
import type { Entry, Journal, JournalState, Place } from './journal'
import type { RoomView } from './room'
import type { Wire } from './wire'

export interface Status {
  /** offline: the server does not answer; `waiting` changes are kept. */
  state: 'saved' | 'saving' | 'offline'
  waiting: number
  journal: JournalState
  /** What the server did not apply, and waits for a person to choose. */
  troubles: readonly Entry[]
}

export interface SyncOptions {
  user: number
  wire: Wire
  journal: Journal
  /** Whether another tab holds this client and sends its operations itself. */
  held?: (client: string) => Promise<boolean>
  client?: string
  /** Milliseconds before the first try again; it doubles up to 16 times that. */
  patience?: number
}

export interface OpenSample {
  place: Place
  document: CanvasDocument
  revision: number
  /** The annotation came without names of its shapes: the room's is taken instead. */
  whole?: boolean
  onRoom: (view: RoomView) => void
}

export interface Sync {
  readonly client: string
  readonly status: Status
  listen(fn: () => void): () => void
  /** From now on changes of the document are operations on this sample; the one open before is left. */
  open(sample: OpenSample): void
  leave(): void
  /** Changes a sample that is not open. */
  change(place: Place, revision: number, changes: readonly Change[]): void
  cursor(x: number, y: number, tool: string, selection: readonly string[]): void
  /** Settles a trouble: `mine` is sent again over what the server has, `theirs` lets it go. */
  settle(id: string, choice: 'mine' | 'theirs'): void
  /** Sends a trouble's change elsewhere or otherwise: to a new draft, with another label. */
  send(entry: Entry, place: Place, change: Change): void
  /** The browser says that the network is gone. */
  lost(): void
  /** Tries at once, when something says that the network is there again. */
  retry(): void
  /** When nothing waits any more (true), or the server cannot be reached (false). */
  settled(): Promise<boolean>
  close(): void
}
