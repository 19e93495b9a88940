// What is true of operations, whoever sends them.
import { Problem } from '../../api/client'
import { hasOneLabel, type CanvasDocument, type Change, type Operation } from '../../canvas'

/** What an operation touches: two that touch the same may be in conflict. */
export function targetOf(change: Change, document: Pick<CanvasDocument, 'type'> | null): string {
  switch (change.op) {
    case 'put': return `shape:${change.shape.id}`
    case 'remove': return `shape:${change.shape}`
    case 'label': return document && hasOneLabel(document.type) ? 'label' : `label:${change.label}`
    case 'text': return 'text'
    case 'attribute': return `attribute:${change.name}`
    case 'replace': return '*'
    case 'relabel': return 'names'
  }
}

export const overlap = (a: string, b: string) => a === b || a === '*' || b === '*'

/** The change of an operation, to be sent under another name. */
export function changeOf(operation: Operation): Change {
  const change: Change & { id?: string; base?: number } = { ...operation }
  delete change.id
  delete change.base
  return change
}

/** Whether it may work when it is tried again: no network, a server that starts, too many requests. */
export function passing(error: unknown): boolean {
  return !(error instanceof Problem) || error.status === 0 || error.status === 429 || error.status >= 500
}
