// Undo and redo without limit. A step is a list of entries; it is taken back entry by entry, each only when its target still
// is what the step made of it. So whatever other people did since stands, and the rest of the step is undone.
import { same, type Change } from './model'
import type { Entry, State } from './state'

export type { Entry } from './state'

export interface History {
  readonly canUndo: boolean
  readonly canRedo: boolean
  /** `visit`: what follows under the same name, with nothing between, belongs to the same step. */
  push(entries: readonly Entry[], visit?: string): void
  /** The last step that touched the same target shall expect what the server made of it. */
  correct(entries: readonly Entry[]): void
  /** What was done, as changes to send. Steps of which nothing is left to undo are passed over. */
  undo(): Change[]
  redo(): Change[]
}

export function createHistory(state: State): History {
  const done: Entry[][] = []
  const undone: Entry[][] = []
  let last: string | undefined

  /** Brings the step's targets from one side to the other; what was possible is kept for the way back. */
  function cross(step: readonly Entry[], back: boolean): { entries: Entry[]; changes: Change[] } {
    const entries: Entry[] = []
    const changes: Change[] = []
    for (const entry of back ? [...step].reverse() : step) {
      if (!holds(state, entry, back ? 'after' : 'before')) continue
      const change = toward(state, entry, back ? 'before' : 'after')
      if (!change || !state.apply(change)) continue
      entries.push(entry)
      changes.push(change)
    }
    if (back) entries.reverse()
    return { entries, changes }
  }

  function walk(from: Entry[][], to: Entry[][], back: boolean): Change[] {
    last = undefined
    for (let step = from.pop(); step; step = from.pop()) {
      const { entries, changes } = cross(step, back)
      if (changes.length === 0) continue
      to.push(entries)
      return changes
    }
    return []
  }

  return {
    get canUndo() { return done.length > 0 },
    get canRedo() { return undone.length > 0 },
    push(entries, visit) {
      if (entries.length === 0) return
      const step = visit !== undefined && visit === last ? done.at(-1) : undefined
      if (step) join(step, entries)
      else done.push([...entries])
      last = visit
      undone.length = 0
    },
    correct(entries) {
      for (const entry of entries) {
        for (const [stack, side] of [[done, 'after'], [undone, 'before']] as const) {
          const step = stack.findLast((s) => s.some((e) => matches(e, entry) && same(worth(e, side), worth(entry, 'before'))))
          const at = step?.findLastIndex((e) => matches(e, entry)) ?? -1
          const old = step?.[at]
          if (step && old) step[at] = { ...old, [side]: entry.after } as Entry
        }
      }
    },
    undo: () => walk(done, undone, true),
    redo: () => walk(undone, done, false),
  }
}

/** The step reaches further: what it was before stays what it was before all of it. */
function join(step: Entry[], entries: readonly Entry[]): void {
  for (const entry of entries) {
    const at = step.findIndex((e) => matches(e, entry))
    const old = step[at]
    if (old) step[at] = { ...old, after: entry.after } as Entry
    else step.push(entry)
  }
}

/** The value of one side; of shapes without their place, which others shift. */
const worth = (entry: Entry, side: 'before' | 'after'): unknown => (entry.target === 'shape' ? (entry[side]?.shape ?? null) : entry[side])
const matches = (a: Entry, b: Entry): boolean => a.target === b.target && a.id === b.id

/** Whether the target still is what the entry says. */
const holds = (state: State, entry: Entry, side: 'before' | 'after'): boolean => same(now(state, entry), worth(entry, side))

function now(state: State, { target, id }: Entry): unknown {
  switch (target) {
    case 'shape': return state.shape(id) ?? null
    case 'label': return id === '' ? (state.labels[0] ?? null) : state.labels.includes(id) ? id : null
    case 'text': return state.text
    case 'attribute': return state.attributes[id] ?? null
    case '*': return state.annotation()
  }
}

function toward(state: State, entry: Entry, side: 'before' | 'after'): Change | null {
  switch (entry.target) {
    case 'shape': {
      const goal = entry[side]
      if (!goal) return { op: 'remove', shape: entry.id }
      const moved = entry.before?.at !== entry.after?.at
      return { op: 'put', shape: goal.shape, ...(moved && { at: goal.at }) }
    }
    case 'label': {
      const name = entry[side]
      return name !== null ? { op: 'label', label: name, on: true } : { op: 'label', label: entry.id || (state.labels[0] ?? ''), on: false }
    }
    case 'text': return { op: 'text', text: entry[side] }
    case 'attribute': return { op: 'attribute', name: entry.id, value: entry[side] }
    case '*': return { op: 'replace', annotation: entry[side] }
  }
}
