// One change of labels over many samples: relabelled or removed, with a way back.
import { createDocument, type Annotation, type AnnotationType, type CanvasDocument, type Change } from '../../canvas'
import type { Sample } from '../datasets/samples'
import type { Journal } from './journal'
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
  samples: number
  /** How many of the changes the server did not apply: somebody else was faster. */
  refused: number
  undo: () => Promise<void>
}

/** Through the journal like any stroke: what the network does not take now is sent by the next workbench. */
export async function relabel({ user, path, type, wire, journal, load }: Options, ids: readonly number[], from: string, to: string | null): Promise<Done> {
  const sync = openSync({ user, wire, journal, held: async () => true })
  const changed: CanvasDocument[] = []
  const one = async (id: number) => {
    const sample = await load(id)
    const document = createDocument({ annotation: sample.annotation as Annotation, type, width: sample.width, height: sample.height })
    const changes = relabelling(document, from, to)
    if (changes.length === 0) return
    document.listen((event) => sync.change({ path, sample: id }, 0, event.changes))
    changed.push(document)
    document.change(changes)
  }
  const queue = [...ids]
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) await one(id)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  await sync.settled()
  return {
    samples: changed.length,
    refused: sync.status.troubles.length,
    undo: async () => {
      for (const document of changed) document.undo()
      await sync.settled()
      sync.close()
    },
  }
}
