// The state of an open workbench and what can be done to it, free of React: commands, panels and surfaces read and change it
// here. Documents of the samples that were open stay for a while, with their undo.
import { createDocument, isNamed, shapeTypes, type Annotation, type AnnotationType, type CanvasDocument, type Change, type Shape, type ViewSettings } from '../../canvas'
import type { Key } from '../../i18n'
import type { Place } from './journal'
import { noLayers, type Layers } from './layers'
import { called, defaultsFor } from './labels'
import type { RoomView } from './room'
import type { Bench, Film, LabelDefinition, Sample, SampleState, SurfaceEvent, SurfaceHandle } from './surface'
import type { Status, Sync } from './sync'
import { restoring } from './past'
import type { Assignment, Thread } from './work'

/** So many samples keep their document and its undo. */
const documentsMost = 60

export type Panel = 'instructions' | 'examples' | 'history' | 'troubles' | 'keys' | 'jump' | 'ask' | 'skip' | 'reject' | null

export interface BenchState {
  sample: Sample | null
  assignment: Assignment | null
  document: CanvasDocument | null
  /** Where its changes go. */
  place: Place | null
  /** Counts changes of the document. */
  version: number
  label: string | null
  tool: string
  selection: readonly string[]
  view: Partial<ViewSettings>
  room: RoomView | null
  status: Status
  panel: Panel
  /** Many pictures at once. */
  grid: boolean
  /** Review: what it was before the annotator's work is shown. */
  before: boolean
  /** Review: what each seat made of the sample. */
  layers: Layers
  /** An earlier state of the sample is shown: after which revision, and what made that. */
  past: { revision: number; at: string; text: string; annotation: Annotation } | null
  /** A sentence for the person, or its key in the catalogue. */
  said: { text: string; n: number } | { key: Key; n: number } | null
  saving: boolean
  /** What is open was handed in, or decided on: it is looked at until it is taken back. */
  closed: boolean
  /** Many at once: the samples that are selected. */
  picked: readonly number[]
  /** Of a task: questions on the sample, the one that is looked at, and where the next is to stand. */
  notes: readonly Thread[]
  note: number | null
  askAt: { x: number; y: number } | null
}

export interface BenchOptions {
  path: string
  type: AnnotationType
  dataType: 'image' | 'text' | 'audio'
  readOnly: boolean
  sync: Sync
  colorOf: (label: string | undefined) => string
  /** The page shows another sample (its address changes). */
  onOpen: (id: number) => void
}

export interface BenchStore extends Bench {
  readonly state: BenchState
  /** Nothing in this version can be changed. */
  readonly fixed: boolean
  /** What is open cannot be changed. */
  readonly readOnly: boolean
  readonly sync: Sync
  labels: readonly LabelDefinition[]
  film: Film
  /** A sample that can be shown without asking the server. */
  known: (id: number) => { sample: Sample; assignment: Assignment | null } | null
  surface: SurfaceHandle | null
  listen(fn: () => void): () => void
  set(part: Partial<BenchState>): void
  /** The address names this sample now: false when it has yet to be loaded. An address may come late, after others were shown. */
  isShown(id: number): boolean
  /** Shows a sample that has been loaded. */
  show(sample: Sample, assignment?: Assignment | null): void
  /** Whether something was changed here on a sample since it was opened or given out. */
  touched(sample: number): boolean
  /** A label by key or click: on the sample, on what is selected, and for what comes next. */
  choose(label: string): void
  change(change: Change | readonly Change[]): void
  /** By itself or with its label: it stays as it is until it is unlocked. */
  isLocked(shape: Shape): boolean
  undo(): void
  redo(): void
  /** Makes the earlier state that is shown the one that is; undo takes it back. False when it is so already. */
  restore(): boolean
  say(text: string): void
  close(): void
}

export function firstTool(type: AnnotationType): string {
  const [shape] = shapeTypes[type]
  if (type === 'rotated-detection') return 'rotated'
  return shape === 'polygon' ? 'polygon' : shape === 'keypoints' ? 'keypoints' : shape === 'box' ? 'box' : 'select'
}

/** Panels beside the work, which stay when the next sample comes. */
const beside: ReadonlySet<Panel> = new Set<Panel>(['instructions', 'examples', 'history'])

/** Empty lists are alike: a new sample has nothing selected, as most had before. */
const same = (a: unknown, b: unknown): boolean => a === b || (Array.isArray(a) && Array.isArray(b) && a.length === 0 && b.length === 0)

const noFilm: Film = { count: 0, exact: true, at: () => undefined, indexOf: () => undefined, want: () => undefined }

export function createBench({ path, type, dataType, readOnly: fixed, sync, colorOf, onOpen }: BenchOptions): BenchStore {
  const listeners = new Set<() => void>()
  const documents = new Map<number, { document: CanvasDocument; sample: Sample; place: Place }>()
  let steps: number[][] = []
  let undone: number[][] = []
  /** Shown, and not yet in the address. */
  const echoes = new Set<number>()
  let said = 0
  /** The tool that comes back when a place for a question was shown. */
  let before = firstTool(type)
  let state: BenchState = {
    sample: null, assignment: null, document: null, place: null, version: 0, label: null, tool: firstTool(type), selection: [],
    view: { hidden: new Set(), locked: new Set() }, room: null, status: sync.status, panel: null, grid: false, before: false, layers: noLayers, past: null, said: null, saving: false, closed: false, picked: [], notes: [], note: null, askAt: null,
  }
  const tell = () => {
    for (const fn of [...listeners]) fn()
  }
  const set = (part: Partial<BenchState>) => {
    // What changes nothing draws nothing: most of what a new sample brings is as it was.
    if ((Object.keys(part) as (keyof BenchState)[]).every((key) => same(state[key], part[key]))) return
    state = { ...state, ...part }
    tell()
  }
  const offSync = sync.listen(() => set({ status: sync.status }))

  const placeOf = (sample: Sample, assignment: Assignment | null): Place => ({
    path, sample: sample.id,
    ...(assignment && { task: assignment.task.id, assignment: assignment.id, ...(assignment.layer !== null && { layer: assignment.layer }) }),
  })
  const documentOf = (sample: Sample, assignment: Assignment | null) => {
    const place = placeOf(sample, assignment)
    const known = documents.get(sample.id)
    documents.delete(sample.id)
    if (known && known.place.layer === place.layer) {
      // It may have been given out again since; what was submitted or taken back has another revision.
      known.place = place
      if (sample.revision > known.sample.revision) known.sample = sample
      documents.set(sample.id, known)
      return known
    }
    const document = createDocument({ annotation: sample.annotation as Annotation, type, width: sample.width, height: sample.height })
    const made = { document, sample, place }
    document.listen(({ changes, origin }) => {
      // Whoever changes it wants to see what becomes of it, not what was.
      if (state.document === document) set({ version: state.version + 1, selection: state.selection.filter((id) => document.shape(id)), ...(origin !== 'remote' && { past: null }) })
      // A layer counts its own revisions.
      else if (origin !== 'remote') sync.change(made.place, made.place.layer === undefined ? made.sample.revision : 0, changes)
    })
    documents.set(sample.id, made)
    for (const [id, { document: old }] of documents) if (documents.size > documentsMost && old !== state.document && old !== document) documents.delete(id)
    return made
  }
  const classifies = shapeTypes[type].length === 0
  const assignmentOf = (id: number) => (state.assignment?.sample.id === id ? state.assignment : null) ?? store.known(id)?.assignment ?? null
  const handedIn = (id: number) => {
    // As the batch knows it now: what was opened may have been handed in since.
    const given = store.known(id)?.assignment ?? assignmentOf(id)
    return given !== null && given.state !== 'leased'
  }
  const sayKey = (key: Key) => {
    said += 1
    set({ said: { key, n: said } })
  }
  const walk = (from: number[][], to: number[][], way: 'undo' | 'redo'): boolean => {
    const step = from.pop()
    if (!step) return false
    for (const id of step) if (!handedIn(id)) documents.get(id)?.document[way]()
    to.push(step)
    tell()
    return true
  }

  const store: BenchStore = {
    path, type, dataType, fixed, sync, colorOf,
    labels: [],
    film: noFilm,
    known: () => null,
    surface: null,
    get state() { return state },
    get readOnly() { return fixed || state.closed },
    listen(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
    set,
    open(id) {
      // The page's address follows what is shown; only what has to be fetched waits for it.
      const known = id === state.sample?.id ? null : store.known(id)
      if (known) {
        store.show(known.sample, known.assignment)
        echoes.delete(id)
        echoes.add(id)
      }
      onOpen(id)
    },
    isShown(id) {
      const echo = echoes.has(id)
      for (const one of echo ? [...echoes] : []) {
        echoes.delete(one)
        if (one === id) break
      }
      return echo || id === state.sample?.id
    },
    show(sample, assignment = null) {
      const { document, place } = documentOf(sample, assignment)
      const layered = place.layer !== undefined
      const whole = layered || sample.annotation.shapes?.some((s) => !s.id) === true
      state = { ...state, sample, assignment, document, place, version: state.version + 1, selection: [], room: null, before: false, layers: noLayers, past: null, panel: beside.has(state.panel) ? state.panel : null, closed: handedIn(sample.id), notes: [], note: null, askAt: null }
      if (fixed) sync.leave()
      else sync.open({ place, document, revision: layered ? 0 : sample.revision, whole, onRoom: (room) => set({ room }) })
      tell()
    },
    choose(label) {
      if (store.surface?.label(label) || store.readOnly) return set({ label })
      const { document, selection } = state
      if (!document) return
      if (classifies) {
        const on = !document.labels.includes(label)
        document.change([{ op: 'label', label, on }, ...(on ? defaultsFor(store.labels, label, document) : [])])
      }
      // What was just drawn stays selected: the key of the next one's label does not change it.
      else if (selection.length > 0 && (state.tool === 'select' || state.tool === 'points')) {
        const shapes = selection.flatMap((id) => document.shape(id) ?? []).filter((shape) => shape.label !== label)
        const free = shapes.filter((shape) => !store.isLocked(shape))
        if (free.length < shapes.length) sayKey('bench.refused.locked')
        document.change(free.map((shape): Change => ({ op: 'put', shape: called(store.labels, shape, label) })))
      }
      set({ label })
    },
    change(change) {
      if (!store.readOnly) state.document?.change(change)
    },
    isLocked: (shape) => isNamed(state.view.locked, shape),
    undo() {
      if (!store.surface?.command('undo') && !store.readOnly) state.document?.undo()
    },
    redo() {
      if (!store.surface?.command('redo') && !store.readOnly) state.document?.redo()
    },
    restore() {
      const { document, past } = state
      if (store.readOnly || !document || !past) return false
      const changes = restoring(document, past.annotation)
      set({ past: null })
      document.change(changes)
      return changes.length > 0
    },
    say(text) {
      said += 1
      set({ said: { text, n: said } })
    },
    tell(event: SurfaceEvent) {
      switch (event.type) {
        case 'selection': return set({ selection: event.ids })
        case 'tool':
          if (event.tool !== 'note') before = event.tool
          return set({ tool: event.tool })
        case 'say': return store.say(event.text)
        case 'cursor': return event.x !== null && event.y !== null ? sync.cursor(event.x, event.y, state.tool, state.selection) : undefined
        case 'picked': return set({ picked: event.samples })
        case 'activate': return state.grid ? set({ grid: false }) : document.getElementById('bench-shape-text')?.focus()
        case 'layer': return set({ layers: { ...state.layers, picked: { layer: event.layer, shape: event.shape } } })
        case 'place': return set({ panel: 'ask', askAt: { x: event.x, y: event.y }, tool: before })
        case 'note': return set({ note: event.id })
        case 'shown': return performance.mark('bench-shown', { detail: event.sample }) && undefined
      }
    },
    changeMany(changes) {
      const step: number[] = []
      for (const { sample, changes: list } of changes) {
        documentOf(sample, assignmentOf(sample.id)).document.change(list)
        step.push(sample.id)
      }
      steps = [...steps, step]
      undone = []
      tell()
    },
    handedIn: (sample) => handedIn(sample.id),
    touched: (id) => documents.get(id)?.document.canUndo ?? false,
    undoMany: () => walk(steps, undone, 'undo'),
    redoMany: () => walk(undone, steps, 'redo'),
    annotationOf: (sample) => documents.get(sample.id)?.document.annotation() ?? (sample.annotation as Annotation),
    stateOf(sample): SampleState {
      const told = (sample.id === state.sample?.id ? state.room?.sample : null) ?? sample.state
      // In a task the state changes when it is handed in; what was begun is seen before.
      return told === 'unannotated' && documents.get(sample.id)?.document.canUndo ? 'annotated' : told
    },
    close() {
      offSync()
      listeners.clear()
    },
  }
  return store
}
