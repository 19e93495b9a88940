// The annotation of one sample as docs/annotations.md defines it, and the operations that change it. Everything here is a
// value: a shape is never changed in place, it is replaced by another one of the same id.

export type AnnotationType =
  | 'image-class' | 'image-classes' | 'detection' | 'rotated-detection' | 'segmentation' | 'keypoints' | 'ocr'
  | 'text-class' | 'text-spans' | 'audio-class' | 'transcription'

/** Points of a closed line, `[x,y,x,y,...]`, in pixels of the picture; the last one is joined to the first. */
export type Ring = readonly number[]
/** x, y, and 0 not labelled, 1 hidden, 2 visible. */
export type Keypoint = readonly [x: number, y: number, v: number]
export type Attributes = Readonly<Record<string, unknown>>

interface ShapeBase {
  readonly id: string
  readonly label?: string
  readonly score?: number
  readonly attributes?: Attributes
  readonly crowd?: boolean
  readonly occluded?: boolean
  readonly truncated?: boolean
  readonly text?: string
  readonly area?: number
}

export interface BoxShape extends ShapeBase {
  readonly type: 'box'
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  /** Degrees clockwise about the middle. */
  readonly angle?: number
}

export interface PolygonShape extends ShapeBase {
  readonly type: 'polygon'
  readonly rings: readonly Ring[]
  readonly holes?: readonly Ring[]
  readonly box?: readonly number[]
}

export interface MaskShape extends ShapeBase {
  readonly type: 'mask'
  readonly size: readonly [height: number, width: number]
  readonly counts: string
  readonly box?: readonly number[]
}

export interface KeypointsShape extends ShapeBase {
  readonly type: 'keypoints'
  readonly points: readonly Keypoint[]
  readonly skeleton?: string
  readonly rings?: readonly Ring[]
  readonly size?: readonly [height: number, width: number]
  readonly counts?: string
  readonly box?: readonly number[]
}

export type Shape = BoxShape | PolygonShape | MaskShape | KeypointsShape

/** Whether a set of names has this shape: its id, or `label:` and its label. */
export function isNamed(set: ReadonlySet<string> | undefined, shape: Pick<Shape, 'id' | 'label'>): boolean {
  return set !== undefined && set.size > 0 && (set.has(shape.id) || set.has(`label:${shape.label ?? ''}`))
}
export type ShapeType = Shape['type']

export interface Annotation {
  readonly labels?: readonly string[]
  readonly scores?: Readonly<Record<string, number>>
  readonly shapes?: readonly Shape[]
  readonly spans?: readonly Readonly<Record<string, unknown>>[]
  readonly segments?: readonly Readonly<Record<string, unknown>>[]
  readonly text?: string
  readonly attributes?: Attributes
}

/** What one stroke does. An operation is a change with the name of who made it. */
export type Change =
  | { readonly op: 'put'; readonly shape: Shape; readonly at?: number }
  | { readonly op: 'remove'; readonly shape: string }
  | { readonly op: 'label'; readonly label: string; readonly on: boolean }
  | { readonly op: 'text'; readonly text: string | null }
  | { readonly op: 'attribute'; readonly name: string; readonly value: unknown }
  | { readonly op: 'replace'; readonly annotation: Annotation }
  /** Of the platform only: a label set renamed or merged labels. */
  | { readonly op: 'relabel'; readonly labels: Readonly<Record<string, string>> }

/** `id` is "<client>.<n>"; `base` the sample's revision when the change was made. */
export type Operation = Change & { readonly id: string; readonly base?: number }

/** The joints of a label's keypoints. `layout` places them in a box of 1 x 1 when a whole skeleton is drawn. */
export interface Skeleton {
  readonly keypoints: readonly string[]
  readonly edges: readonly (readonly [number, number])[]
  readonly layout?: readonly (readonly [number, number])[]
}

export interface LabelStyle {
  readonly name: string
  /** "#rrggbb" */
  readonly color: string
  /** What is written beside the shape; the name when left out. */
  readonly title?: string
  readonly skeleton?: Skeleton
  /** What is said of a shape of this label unless somebody says otherwise. */
  readonly attributes?: Readonly<Record<string, unknown>>
}

const oneLabel: ReadonlySet<AnnotationType> = new Set<AnnotationType>(['image-class'])

/** Whether the sample has one label at most, so that a new one replaces it. */
export const hasOneLabel = (type: AnnotationType): boolean => oneLabel.has(type)

/** The types of shapes that an annotation type takes; drawing tools that make others are not offered. */
export const shapeTypes: Readonly<Record<AnnotationType, readonly ShapeType[]>> = {
  'image-class': [],
  'image-classes': [],
  detection: ['box'],
  'rotated-detection': ['box'],
  segmentation: ['polygon', 'mask'],
  keypoints: ['keypoints'],
  ocr: ['box', 'polygon'],
  'text-class': [],
  'text-spans': [],
  'audio-class': [],
  transcription: [],
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** A name for a new shape: 10 letters and digits, 59 bits by chance. */
export function newId(): string {
  const bytes = new Uint8Array(20)
  let id = ''
  while (id.length < 10) {
    crypto.getRandomValues(bytes)
    // 248 is the last multiple of 62 in a byte: beyond it some letters would come more often.
    for (const b of bytes) if (b < 248 && id.length < 10) id += letters[b % 62] ?? ''
  }
  return id
}

/** Whether two values of JSON say the same; the order of members does not count. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((v, i) => same(v, b[i]))
  const x = a as Record<string, unknown>
  const y = b as Record<string, unknown>
  const names = Object.keys(x).filter((k) => x[k] !== undefined)
  return names.length === Object.keys(y).filter((k) => y[k] !== undefined).length && names.every((k) => same(x[k], y[k]))
}
