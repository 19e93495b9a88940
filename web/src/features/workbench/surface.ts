// What the page of the workbench and its surfaces know of each other. A surface shows one sample (or, as a grid, many) and turns
// what hands do into changes of a document; the page around it has labels, objects, keys, journal and network. A surface is a
// React component, loaded when it is needed (surfaces/index.ts); it reads properties, and tells what happens by `bench`.
import type { ComponentType, Ref } from 'react'
import type { Annotation, AnnotationType, CanvasDocument, Change, Layer, Mark, Other, ViewSettings } from '../../canvas'
import type { Schema } from '../../api/client'
import type { Sample, SampleState } from '../datasets/samples'
import type { ShownExample } from '../label-sets/examples'

export type { Sample, SampleState } from '../datasets/samples'

/** What may be said about a shape of a label, or about a sample that has it. */
export type AttributeDefinition = Schema<'LabelAttribute'>

/** A label of the label set, the second level beside the first: `parent` names the one above. */
export interface LabelDefinition {
  name: string
  color: string
  /** The key that chooses it: of the label set, or its number among the first ten. */
  key: string | null
  parent: string | null
  keypoints?: string[]
  edges?: [number, number][]
  attributes: AttributeDefinition[]
  examples: ShownExample[]
  /** Not offered any more; what has it keeps it. */
  retired: boolean
}

/** The samples in their order. Those in sight are asked for; others are undefined until they come. */
export interface Film {
  readonly count: number
  /** Otherwise there are more than `count`. */
  readonly exact: boolean
  at(index: number): Sample | undefined
  /** Undefined: never seen. */
  indexOf(id: number): number | undefined
  /** Asks for the samples from one place to another (one window at a time: the last one wins). */
  want(from: number, to: number): void
}

export type SurfaceEvent =
  | { type: 'selection'; ids: readonly string[] }
  /** Place of the pointer, for the others on this sample: pixels, seconds (x), or the number of a character (x). */
  | { type: 'cursor'; x: number | null; y: number | null }
  | { type: 'tool'; tool: string }
  /** A shape is to be worked on (double click): the page puts the focus on its text or attributes. */
  | { type: 'activate'; id: string }
  /** The mark of a question was clicked. */
  | { type: 'note'; id: number }
  /** A question is to stand there. */
  | { type: 'place'; x: number; y: number }
  /** Many at once: what is selected. */
  | { type: 'picked'; samples: readonly number[] }
  /** A shape of a layer under review was clicked. */
  | { type: 'layer'; layer: number; shape: string }
  /** A sentence for the person: why a stroke made nothing. */
  | { type: 'say'; text: string }
  /** The sample itself is to be seen: how long that took is measured from here. */
  | { type: 'shown'; sample: number }

/** What the page offers to its surface. It is the same object as long as the workbench is open. */
export interface Bench {
  /** Of the version in the API: /datasets/3/versions/7. */
  readonly path: string
  readonly type: AnnotationType
  readonly dataType: 'image' | 'text' | 'audio'
  readonly film: Film
  colorOf(label: string | undefined): string
  /** Shows another sample. */
  open(id: number): void
  tell(event: SurfaceEvent): void
  /** Changes samples, open or not: journalled and sent like any stroke. All of it is one step of undo. */
  changeMany(changes: readonly { sample: Sample; changes: readonly Change[] }[]): void
  /** Steps of changeMany back and forth; false when there is none. */
  undoMany(): boolean
  redoMany(): boolean
  /** A sample's annotation with what has been changed here and is not yet in the list. */
  annotationOf(sample: Sample): Annotation
  stateOf(sample: Sample): SampleState
  /** Submitted, or decided on: it stays as it is unless it is taken back. */
  handedIn(sample: Sample): boolean
}

export interface SurfaceProps {
  bench: Bench
  sample: Sample
  /** Of this sample; changes by document.change(), and are undone by the page. */
  document: CanvasDocument
  /** Counts changes of the document, so that components are drawn again. */
  version: number
  labels: readonly LabelDefinition[]
  /** The label of what is drawn next. */
  label: string | null
  tool: string
  selection: readonly string[]
  readOnly: boolean
  others: readonly Other[]
  marks: readonly (Mark & { text: string; note?: number })[]
  /** Review: what others made of it, drawn over it. */
  layers: readonly Layer[]
  view: Partial<ViewSettings>
  /** Review: this is shown instead of the document, and cannot be changed. */
  before: Annotation | null
  handle: Ref<SurfaceHandle>
}

/** What the page may ask of a surface. */
export interface SurfaceHandle {
  /** A command of the registry that the surface knows (canvas commands, `play`, `slower`, `find` ...); false: nothing to do. */
  command(name: string): boolean
  /** A label was chosen by key or click. True when the surface did with it what is to be done (a grid labels its selection);
   * otherwise the page sets it: for classification on the sample, else as the label of the selection and of what comes next. */
  label(name: string): boolean
  focus(): void
}

export interface Surface {
  Component: ComponentType<SurfaceProps>
  /** Tools in the order of the toolbar. */
  tools: readonly string[]
  /** Commands of the registry (commands.ts, `surface.NAME`) that its handle knows. */
  commands: readonly string[]
}
