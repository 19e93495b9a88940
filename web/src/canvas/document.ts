// One open sample: its shapes in order, labels, text and attributes. The document knows nothing of views, tools or the
// network. Local changes can be undone one step at a time; those of other people come by receive() and are never undone here.
import { createHistory, type Entry } from './history'
import { hasOneLabel, newId, type Annotation, type AnnotationType, type Change, type Shape } from './model'
import { createState } from './state'

export type Origin = 'local' | 'undo' | 'redo' | 'remote'

export interface DocumentEvent {
  /** What was really done, in order; for undo and redo these are the operations to send. */
  readonly changes: readonly Change[]
  readonly origin: Origin
}

export interface CanvasDocument {
  readonly type: AnnotationType
  /** Size of the picture; 0 when it is not known, or there is none. */
  readonly width: number
  readonly height: number
  /** The first at the bottom. The list is the document's own: it changes in place, shapes do not. */
  readonly shapes: readonly Shape[]
  readonly labels: readonly string[]
  readonly text: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  /** Counts changes, for whoever has to notice them by comparing. */
  readonly version: number
  readonly canUndo: boolean
  readonly canRedo: boolean
  shape(id: string): Shape | undefined
  /** Place in the order, -1 when there is no such shape. */
  indexOf(id: string): number
  /** The annotation as JSON, without empty members. */
  annotation(): Annotation
  /** Does what a person did; all of it is one step of undo. Changes that change nothing are dropped. `visit`: calls under the
   * same name, one after the other, are one step together (what is typed into a field while one is there). */
  change(change: Change | readonly Change[], visit?: string): void
  /** Does what somebody else did. `own`: it is the server's version of our own change (clipped), so undo still finds it. */
  receive(change: Change | readonly Change[], how?: { readonly own?: boolean }): void
  /** Takes back the last step; parts that others changed or removed since are skipped. False when there was nothing. */
  undo(): boolean
  redo(): boolean
  listen(fn: (event: DocumentEvent) => void): () => void
}

export interface DocumentOptions {
  readonly annotation: Annotation
  readonly type: AnnotationType
  readonly width: number
  readonly height: number
}

/** Shapes should bring the ids that the server knows; one without gets a new id, good enough to be looked at. */
export function createDocument({ annotation, type, width, height }: DocumentOptions): CanvasDocument {
  const state = createState(withIds(annotation), hasOneLabel(type))
  const history = createHistory(state)
  const listeners = new Set<(event: DocumentEvent) => void>()
  let version = 0

  const tell = (changes: readonly Change[], origin: Origin): void => {
    if (changes.length === 0) return
    version += 1
    for (const fn of [...listeners]) fn({ changes, origin })
  }
  const apply = (change: Change | readonly Change[]): { changes: Change[]; entries: Entry[] } => {
    const changes: Change[] = []
    const entries: Entry[] = []
    for (const one of 'op' in change ? [change] : change) {
      const entry = state.apply(one)
      if (!entry) continue
      changes.push(one)
      entries.push(entry)
    }
    return { changes, entries }
  }

  return {
    type,
    width,
    height,
    get shapes() { return state.shapes },
    get labels() { return state.labels },
    get text() { return state.text },
    get attributes() { return state.attributes },
    get version() { return version },
    get canUndo() { return history.canUndo },
    get canRedo() { return history.canRedo },
    shape: (id) => state.shape(id),
    indexOf: (id) => state.indexOf(id),
    annotation: () => state.annotation(),
    change(change, visit) {
      const done = apply(change)
      history.push(done.entries, visit)
      tell(done.changes, 'local')
    },
    receive(change, how) {
      const done = apply(change)
      if (how?.own) history.correct(done.entries)
      tell(done.changes, 'remote')
    },
    undo() {
      const changes = history.undo()
      tell(changes, 'undo')
      return changes.length > 0
    },
    redo() {
      const changes = history.redo()
      tell(changes, 'redo')
      return changes.length > 0
    },
    listen(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
  }
}

function withIds(annotation: Annotation): Annotation {
  const seen = new Set<string>()
  const shapes = annotation.shapes?.map((shape) => {
    const id = typeof shape.id === 'string' && shape.id !== '' && !seen.has(shape.id) ? shape.id : newId()
    seen.add(id)
    return id === shape.id ? shape : { ...shape, id }
  })
  return shapes ? { ...annotation, shapes } : annotation
}
