// What tools work on: the document, what is selected, what is near a point, and where the unfinished stroke is kept.
// No DOM here: tests drive tools through it without a browser.
import type { CanvasEvent, Refusal, ViewSettings } from './api'
import type { CanvasDocument } from './document'
import { areaOf, bounds, fitted, inside, toOutline } from './geometry/shape'
import { clamp, grow, isEmpty, type Point, type Rect } from './geometry/point'
import { snapTo, type Snapped } from './geometry/snap'
import { isNamed, shapeTypes, type Change, type LabelStyle, type Shape } from './model'
import { createIndex, type ShapeIndex } from './spatial'

/** An unfinished stroke: shapes stand in for those of the same id until the document has them. */
export interface Draft {
  readonly shapes?: readonly Shape[]
  readonly line?: readonly Point[]
  /** Drawn dashed: where the line would go on. */
  readonly toward?: Point
  readonly closed?: boolean
  readonly band?: Rect
  /** A place to which the pointer was drawn. */
  readonly snapped?: Snapped | null
  /** The corner that a command would remove. */
  readonly active?: Point
}

export interface Stage {
  readonly document: CanvasDocument
  readonly index: ShapeIndex
  readonly settings: ViewSettings
  readonly readOnly: boolean
  /** Screen pixels per pixel of the picture. */
  readonly scale: number
  readonly labelName: string | undefined
  readonly selection: readonly string[]
  readonly draft: Draft | null
  style(name: string | undefined): LabelStyle | undefined
  isHidden(shape: Shape): boolean
  isLocked(shape: Shape): boolean
  /** How much its fill covers, 0..1. */
  opacityOf(shape: Shape): number
  /** `n` screen pixels in the picture. */
  reach(n: number): number
  select(ids: readonly string[]): void
  selected(): Shape[]
  /** The shape that a click means; `below` passes over those already named. */
  hit(p: Point, except?: ReadonlySet<string>): Shape | null
  snap(p: Point, except?: ReadonlySet<string>): { point: Point; snapped: Snapped | null }
  /** The nearest point of the picture. */
  within(p: Point): Point
  show(draft: Draft | null): void
  /**
   * Saves shapes as one step, each fitted into the picture; `made` selects and announces them. Nothing is saved when one
   * cannot be. `also` goes into the same step.
   */
  put(shapes: readonly Shape[], how?: { made?: boolean; also?: readonly Change[]; at?: number }): boolean
  change(changes: readonly Change[]): boolean
  refuse(reason: Refusal): false
  emit(event: CanvasEvent): void
  /** Stops following the document. */
  close(): void
}

export interface StageOptions {
  readonly document: CanvasDocument
  readonly readOnly: boolean
  settings(): ViewSettings
  scale(): number
  labels(): ReadonlyMap<string, LabelStyle>
  labelName(): string | undefined
  emit(event: CanvasEvent): void
  /** The stroke or the selection changed; the next frame shows it. */
  touched(what: 'draft' | 'selection'): void
  /** The document's shapes changed at these places; null: everywhere. */
  changed(places: readonly Rect[] | null): void
}

export function createStage(options: StageOptions): Stage {
  const { document } = options
  const index = createIndex(document)
  let selection: readonly string[] = []
  let draft: Draft | null = null

  const reach = (n: number): number => n / options.scale()

  function select(ids: readonly string[]): void {
    const next = [...new Set(ids)].filter((id) => document.shape(id))
    if (next.length === selection.length && next.every((id, i) => id === selection[i])) return
    selection = next
    options.touched('selection')
    options.emit({ type: 'selection', ids: next })
  }

  function hit(p: Point, except?: ReadonlySet<string>): Shape | null {
    const near = reach(5)
    const found = index.search(grow({ minX: p.x, minY: p.y, maxX: p.x, maxY: p.y }, near))
      .filter((s) => !stage.isHidden(s) && !stage.isLocked(s) && !except?.has(s.id)).reverse()
    // Selected ones first, then outlines under the pointer, then the smallest area around it: small things on large ones stay within reach.
    const touching = found.filter((s) => toOutline(s, p, stage.style(s.label)?.skeleton?.edges) <= near)
    const around = found.filter((s) => inside(s, p)).sort((a, b) => areaOf(a) - areaOf(b))
    const all = [...touching, ...around]
    return all.find((s) => selection.includes(s.id)) ?? all[0] ?? null
  }

  function put(shapes: readonly Shape[], how: { made?: boolean; also?: readonly Change[]; at?: number } = {}): boolean {
    if (options.readOnly) return stage.refuse('read-only')
    const changes: Change[] = []
    let [clipped, crossing] = [false, false]
    for (const shape of shapes) {
      if (how.made && !shapeTypes[document.type].includes(shape.type)) return stage.refuse('wrong-type')
      const said = how.made && shape.label !== undefined && !shape.attributes ? stage.style(shape.label)?.attributes : undefined
      const fit = fitted(said ? { ...shape, attributes: said } : shape, document.width, document.height)
      if (typeof fit === 'string') return stage.refuse(fit)
      clipped ||= fit.clipped
      crossing ||= fit.crossing
      changes.push({ op: 'put', shape: fit.shape, ...(how.at !== undefined && { at: how.at }) })
    }
    document.change([...changes, ...(how.also ?? [])])
    if (clipped) options.emit({ type: 'mended', how: 'clipped' })
    if (crossing) options.emit({ type: 'mended', how: 'crossing' })
    if (how.made) {
      const ids = shapes.map((s) => s.id)
      select(ids)
      options.emit({ type: 'made', ids })
    }
    return true
  }

  const stage: Stage = {
    document,
    index,
    get settings() { return options.settings() },
    readOnly: options.readOnly,
    get scale() { return options.scale() },
    get labelName() { return options.labelName() },
    get selection() { return selection },
    get draft() { return draft },
    style: (name) => (name === undefined ? undefined : options.labels().get(name)),
    isHidden: (shape) => isNamed(options.settings().hidden, shape),
    isLocked: (shape) => isNamed(options.settings().locked, shape),
    opacityOf(shape) {
      const { opacity, fills } = options.settings()
      return fills.size === 0 ? opacity : (fills.get(shape.id) ?? fills.get(`label:${shape.label ?? ''}`) ?? opacity)
    },
    reach,
    select,
    selected: () => selection.map((id) => document.shape(id)).filter((s) => s !== undefined),
    hit,
    snap(p, except) {
      const near = reach(8)
      if (!options.settings().snap) return { point: p, snapped: null }
      const around = grow({ minX: p.x, minY: p.y, maxX: p.x, maxY: p.y }, near)
      const snapped = snapTo(p, near, index.search(around).filter((s) => !except?.has(s.id) && !stage.isHidden(s)))
      return { point: snapped?.point ?? p, snapped }
    },
    within: (p) => (document.width > 0 ? { x: clamp(p.x, 0, document.width), y: clamp(p.y, 0, document.height) } : p),
    show(next) {
      if (next === draft) return
      draft = next
      options.touched('draft')
    },
    put,
    change(changes) {
      if (options.readOnly) return stage.refuse('read-only')
      const before = document.version
      document.change(changes)
      return document.version !== before
    },
    refuse(reason) {
      options.emit({ type: 'refused', reason })
      return false
    },
    emit: (event) => options.emit(event),
    close: () => off(),
  }
  const off = document.listen(({ changes }) => {
    const ids = new Set(changes.flatMap((c) => (c.op === 'put' ? [c.shape.id] : c.op === 'remove' ? [c.shape] : [])))
    const all = ids.size > 2_000 || changes.some((c) => c.op === 'replace')
    if (all) index.reload()
    options.changed(all ? null : [...ids].flatMap((id) => index.update(id)))
    if (selection.some((id) => !document.shape(id))) select(selection)
  })
  return stage
}

/** Around all the shapes given; null when none has a place. */
export function around(shapes: readonly Shape[]): Rect | null {
  let all: Rect | null = null
  for (const shape of shapes) {
    const r = bounds(shape)
    if (isEmpty(r)) continue
    all = all ? { minX: Math.min(all.minX, r.minX), minY: Math.min(all.minY, r.minY), maxX: Math.max(all.maxX, r.maxX), maxY: Math.max(all.maxY, r.maxY) } : r
  }
  return all
}
