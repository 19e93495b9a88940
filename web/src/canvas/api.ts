// What the canvas offers to the page around it, and what it tells. Free of DOM but for the host element.
import type { CanvasDocument } from './document'
import type { LabelStyle, Shape } from './model'
import type { PictureFile } from './render/bitmap'

export type ToolName =
  | 'select' | 'pan' | 'box' | 'box-clicks' | 'box-extreme' | 'rotated' | 'polygon' | 'freehand'
  | 'points' | 'cut' | 'hole' | 'keypoints' | 'skeleton' | 'order' | 'note'

export type CommandName =
  | 'undo' | 'redo' | 'delete' | 'duplicate' | 'copy' | 'paste' | 'select-all' | 'select-none' | 'select-next' | 'select-previous' | 'select-below'
  | 'finish' | 'cancel' | 'remove-point'
  | 'merge' | 'simplify' | 'to-front' | 'to-back' | 'forward' | 'backward'
  | 'mirror' | 'toggle-visible' | 'skip-point' | 'toggle-occluded' | 'toggle-truncated'
  | 'order-lines' | 'rotate-left' | 'rotate-right'
  | `nudge-${'left' | 'right' | 'up' | 'down'}${'' | '-far'}`

export type Picture =
  /** `file`: the same picture, loaded or on its way, to be shown without a wait; the canvas takes it. */
  | { readonly url: string; readonly width: number; readonly height: number; readonly file?: PictureFile | Promise<PictureFile> }
  /** Level 0 is full size, each further one half of it; tiles are 256 px wide and high, but for the last ones. */
  | { readonly tiles: (level: number, x: number, y: number) => string; readonly width: number; readonly height: number }

export interface OpenOptions {
  readonly picture: Picture
  readonly document: CanvasDocument
  readonly labels: readonly LabelStyle[]
  /** Nothing can be changed: shapes can be selected and looked at. */
  readonly readOnly?: boolean
  /** Keep zoom and place of the sample before; otherwise the picture is fitted. */
  readonly keepView?: boolean
}

/** A place in the window: `scale` is screen pixels (CSS) per pixel of the picture; x, y are the picture's corner on the screen. */
export interface Viewport {
  readonly scale: number
  readonly x: number
  readonly y: number
}

export interface ViewSettings {
  /** 1 is as it is. */
  readonly brightness: number
  readonly contrast: number
  /** Distance of the grid's lines in pixels of the picture; 0 is none. */
  readonly grid: number
  readonly minimap: boolean
  /** Of the shapes' fill, 0..1. */
  readonly opacity: number
  /** Shapes by their id, and labels as "label:NAME", whose fill is more or less than that; a shape's own counts before its label's. */
  readonly fills: ReadonlyMap<string, number>
  /** Names of labels beside shapes. */
  readonly names: boolean
  /** Text of OCR and numbers of the reading order. */
  readonly texts: boolean
  /** Ids of shapes, or "label:NAME", that are not drawn and not hit. */
  readonly hidden: ReadonlySet<string>
  /** Ids of shapes, or "label:NAME", that are drawn but not hit. */
  readonly locked: ReadonlySet<string>
  /** Points drawn near a neighbour's corner or edge are put onto it. */
  readonly snap: boolean
  /** Pixels smoothed when enlarged; otherwise they are squares from 2x on. */
  readonly smooth: boolean
  readonly theme: 'light' | 'dark'
}

export interface CanvasView {
  readonly viewport: Viewport
  readonly settings: ViewSettings
  fit(): void
  /** Sets the scale about a place of the window (default: the middle). */
  zoomTo(scale: number, at?: { readonly x: number; readonly y: number }): void
  zoomBy(factor: number, at?: { readonly x: number; readonly y: number }): void
  panBy(dx: number, dy: number): void
  /** Brings shapes into sight, also those of layers. */
  show(ids: readonly string[]): void
  /** Place on the screen, relative to the host, of a point of the picture. */
  toScreen(x: number, y: number): { x: number; y: number }
  set(settings: Partial<ViewSettings>): void
}

/** Another person on this sample. */
export interface Other {
  readonly client: string
  readonly name: string
  readonly color: string
  readonly x: number
  readonly y: number
  readonly selection?: readonly string[]
}

/** A remark or the reason of a rejection that stands on a shape or at a place. */
export interface Mark {
  readonly id: string
  readonly shape?: string
  readonly x?: number
  readonly y?: number
  readonly kind: 'note' | 'rejected'
  /** Of a note: the same number stands beside it in the list. */
  readonly number?: number
}

/** What somebody else says of the sample: seen over it, never changed. */
export interface Layer {
  readonly id: number
  /** Whose it is; stands beside the shapes. */
  readonly name: string
  /** "#rrggbb" */
  readonly color: string
  /** Of the outlines, so that colour is not the only sign. */
  readonly dash: readonly number[]
  readonly shapes: readonly Shape[]
  /** Ids of those that are not agreed on: drawn strongly, with names. */
  readonly differing: ReadonlySet<string>
  /** The one that is looked at. */
  readonly picked: string | null
}

/** Why a stroke made nothing. The page has the sentences. */
export type Refusal = 'outside' | 'too-small' | 'too-few-points' | 'too-many-points' | 'no-skeleton' | 'not-cut' | 'nothing-left' | 'read-only' | 'wrong-type' | 'locked'

export type CanvasEvent =
  | { readonly type: 'selection'; readonly ids: readonly string[] }
  | { readonly type: 'hover'; readonly id: string | null }
  | { readonly type: 'tool'; readonly tool: ToolName }
  /** Place of the pointer in the picture, at most once a frame; null when it left. */
  | { readonly type: 'cursor'; readonly x: number | null; readonly y: number | null }
  | { readonly type: 'view'; readonly viewport: Viewport }
  /** A tool finished shapes; the document has them already. */
  | { readonly type: 'made'; readonly ids: readonly string[] }
  /** Next keypoint to set: its number and name; null when none is being set. */
  | { readonly type: 'keypoint'; readonly index: number | null; readonly name: string | null }
  | { readonly type: 'refused'; readonly reason: Refusal }
  /** What a person drew was mended: cut at the picture's edge, or crossing itself. */
  | { readonly type: 'mended'; readonly how: 'clipped' | 'crossing' }
  | { readonly type: 'menu'; readonly x: number; readonly y: number; readonly id: string | null }
  | { readonly type: 'activate'; readonly id: string }
  | { readonly type: 'mark'; readonly id: string }
  /** A shape of a layer was clicked. */
  | { readonly type: 'layer'; readonly layer: number; readonly shape: string }
  /** Where a note is to stand, in the picture. */
  | { readonly type: 'place'; readonly x: number; readonly y: number }
  | { readonly type: 'picture'; readonly state: 'loading' | 'shown' | 'failed' }

export interface CanvasOptions {
  readonly onEvent?: (event: CanvasEvent) => void
}

export interface Canvas {
  readonly view: CanvasView
  /** Ids of the selected shapes; assigning selects. */
  selection: readonly string[]
  /** Shows another sample; the one before is forgotten, its unfinished stroke too. */
  open(options: OpenOptions): void
  labels(labels: readonly LabelStyle[]): void
  tool(name: ToolName): void
  readonly currentTool: ToolName
  /** True when there was something to do. */
  command(name: CommandName): boolean
  /** Label of the next shapes; with `apply`, of the selected ones too. */
  label(name: string, how?: { readonly apply?: boolean }): void
  /** Pan while it is held (the space key). */
  holdPan(on: boolean): void
  others(people: readonly Other[]): void
  marks(marks: readonly Mark[]): void
  layers(layers: readonly Layer[]): void
  focus(): void
  /** Ends everything: listeners, frames, pictures. */
  close(): void
}
