// One change of labels over many samples: relabelled or removed, with a way back.
import { createDocument, type Annotation, type AnnotationType, type CanvasDocument, type Change } from '../../canvas'
import type { Sample } from '../datasets/samples'
import type { Entry, Journal } from './journal'
import { openSync } from './sync'
import type { Wire } from './wire'

/** What takes a label away, or turns it into another, on one sample. */
export function relabelling(document: Pick<CanvasDocument, 'labels' | 'shapes'>, from: string, to: string | null): Change[] {
  const shapes = document.shapes.filter((s) => s.label === from).map((s): Change => (to === null ? { op: 'remove', shape: s.id } : { op: 'put', shape: { ...s, label: to } }))
  if (!document.labels.includes(from)) return shapes
  return [{ op: 'label', label: from, on: false }, ...(to === null ? [] : [{ op: 'label' as const, label: to, on: true }]), ...shapes]
}

interface Options {
  user: number
  path: string
  type: AnnotationType
  wire: Wire
  journal: Journal
  load: (id: number) => Promise<Sample>
}

export interface Done {
  /** Samples on which it was done, at least in part. */
  samples: number
  /** Samples that somebody changed meanwhile, or whose change was refused: theirs stands, ours waits in the list of troubles. */
  troubled: readonly number[]
  /** Samples that could not be read. */
  unread: number
  /** Kept in this browser: the network did not take them. */
  waiting: number
  undo: () => Promise<void>
}

/** What the server did not apply is taken back here, so that undo leaves what others made of it. */
function yieldTo(document: CanvasDocument, { operation, theirs }: Entry): void {
  if (theirs) document.receive({ op: 'put', shape: theirs })
  else if (operation.op === 'put') document.receive({ op: 'remove', shape: operation.shape.id })
  else if (operation.op === 'label') document.receive({ ...operation, on: !operation.on })
}

/** Through the journal like any stroke: what the network does not take now is sent by the next workbench. Each change names the
 * revision that was seen, so that what somebody did meanwhile is a conflict and not lost. */
export async function relabel({ user, path, type, wire, journal, load }: Options, ids: readonly number[], from: string, to: string | null): Promise<Done> {
  const sync = openSync({ user, wire, journal, held: async () => true })
  const changed = new Map<number, { document: CanvasDocument; changes: number }>()
  let unread = 0
  const one = async (id: number) => {
    const sample = await load(id)
    const document = createDocument({ annotation: sample.annotation as Annotation, type, width: sample.width, height: sample.height })
    const changes = relabelling(document, from, to)
    if (changes.length === 0) return
    document.listen((event) => event.origin !== 'remote' && sync.change({ path, sample: id }, sample.revision, event.changes))
    changed.set(id, { document, changes: changes.length })
    document.change(changes)
  }
  const queue = [...ids]
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) await one(id).catch(() => { unread += 1 })
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  await sync.settled()
  const failed = new Map<number, number>()
  for (const trouble of sync.status.troubles) {
    const of = changed.get(trouble.sample)
    if (!of) continue
    failed.set(trouble.sample, (failed.get(trouble.sample) ?? 0) + 1)
    yieldTo(of.document, trouble)
  }
  return {
    samples: [...changed].filter(([id, { changes }]) => (failed.get(id) ?? 0) < changes).length,
    troubled: [...failed.keys()],
    unread,
    waiting: sync.status.waiting,
    undo: async () => {
      for (const { document } of changed.values()) document.undo()
      await sync.settled()
      sync.close()
    },
  }
}
