// The shapes that nobody is moving, as one bitmap that is larger than the window. Panning and zooming only move the
// bitmap (a CSS transform); a new one is painted a few milliseconds per frame behind it and takes its place when it is
// whole. A change repaints the place where it happened.
import type { Viewport } from '../api'
import { covers, grow, isEmpty, overlap, type Rect } from '../geometry/point'
import type { Shape } from '../model'
import type { Stage } from '../stage'
import { paintShapes, type PaintOptions } from './paint'
import { visible, type Size } from './view'

/** Shapes up to this many are painted at once. */
const few = 400
/** Shapes painted together; colours are grouped within. */
const chunk = 200
/** Milliseconds of a frame that painting may take. */
const budget = 5
/** Frames without a move after which a scaled bitmap is painted anew, and how far it may be scaled until then. */
const quietFrames = 2
const mostStretch = 1.8
/** Part of the window that the bitmap has beyond each of its edges. */
const margin = 0.15

interface Bitmap {
  readonly canvas: HTMLCanvasElement
  readonly context: CanvasRenderingContext2D
  view: Viewport
  area: Rect
  /** Painted coarsely; repairs have to look the same. */
  quick: boolean
  /** Nothing is painted on it: the first stroke on a canvas costs a copy of it, wiping one that is blank would, too. */
  blank: boolean
}

interface Job {
  readonly into: Bitmap
  readonly shapes: readonly Shape[]
  next: number
}

export interface StillLayer {
  readonly element: HTMLElement
  /** Everything has to be painted again: another document, other settings. */
  reset(stage: Stage | null): void
  /** Shapes that are drawn elsewhere for now. */
  lift(ids: ReadonlySet<string>): void
  /** Something changed here. */
  repair(r: Rect): void
  /** Does this frame's part; true when there is more to do. */
  frame(view: Viewport, window: Size, ratio: number): boolean
}

export function createStill(): StillLayer {
  const element = document.createElement('div')
  let front = createBitmap()
  let back = createBitmap()
  element.append(front.canvas, back.canvas)
  back.canvas.style.display = 'none'
  let stage: Stage | null = null
  let lifted: ReadonlySet<string> = new Set()
  let stale = true
  let job: Job | null = null
  let broken: Rect[] = []
  let pixelRatio = 1
  let quiet = 0
  let lastView: Viewport | null = null

  const drawn = (shapes: readonly Shape[]): Shape[] => shapes.filter((s) => !lifted.has(s.id) && stage?.isHidden(s) === false)
  const options = (into: Bitmap, from: Stage): PaintOptions => ({ quick: into.quick, view: local(into.view, into.area), opacity: (s) => from.opacityOf(s), lineWidth: 1.5, style: (n) => from.style(n), boundsOf: (id) => from.index.boundsOf(id) })

  function begin(view: Viewport, window: Size, ratio: number, from: Stage): void {
    const area = visible(view, window)
    const [mx, my] = [(area.maxX - area.minX) * margin, (area.maxY - area.minY) * margin]
    const wide = { minX: area.minX - mx, minY: area.minY - my, maxX: area.maxX + mx, maxY: area.maxY + my }
    const into = back
    resize(into.canvas, window.width * (1 + 2 * margin), window.height * (1 + 2 * margin), ratio, into.blank)
    into.view = view
    into.area = wide
    job = { into, shapes: drawn(from.index.search(wide)), next: 0 }
    into.blank = job.shapes.length === 0
    if (!into.blank) into.context.setTransform(ratio, 0, 0, ratio, 0, 0)
    into.quick = job.shapes.length > few * 3
    stale = false
    broken = []
  }

  /** True when the job is finished. */
  function work(from: Stage): boolean {
    if (!job) return true
    const end = performance.now() + budget
    const all = job.shapes.length <= few
    while (job.next < job.shapes.length) {
      paintShapes(job.into.context, job.shapes.slice(job.next, job.next + chunk), options(job.into, from))
      job.next += chunk
      if (!all && performance.now() > end) break
    }
    if (job.next < job.shapes.length) return false
    ;[front, back] = [back, front]
    front.canvas.style.display = ''
    back.canvas.style.display = 'none'
    job = null
    return true
  }

  function mend(from: Stage): void {
    const places = broken
    broken = []
    for (const r of places) {
      const pad = 4 / front.view.scale
      const area = grow(r, pad)
      if (!overlap(area, front.area)) continue
      const { context } = front
      const v = local(front.view, front.area)
      const [x0, y0] = [Math.floor(area.minX * v.scale + v.x), Math.floor(area.minY * v.scale + v.y)]
      const [x1, y1] = [Math.ceil(area.maxX * v.scale + v.x), Math.ceil(area.maxY * v.scale + v.y)]
      const shapes = drawn(from.index.search({ minX: (x0 - v.x) / v.scale - pad, minY: (y0 - v.y) / v.scale - pad, maxX: (x1 - v.x) / v.scale + pad, maxY: (y1 - v.y) / v.scale + pad }))
      // A place with very many shapes is left to a new bitmap, painted over several frames.
      if (shapes.length > few * 3) {
        stale = true
        continue
      }
      if (front.blank && shapes.length === 0) continue
      front.blank = false
      context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0)
      context.save()
      context.beginPath()
      context.rect(x0, y0, x1 - x0, y1 - y0)
      context.clip()
      context.clearRect(x0, y0, x1 - x0, y1 - y0)
      for (let i = 0; i < shapes.length; i += chunk) paintShapes(context, shapes.slice(i, i + chunk), options(front, from))
      context.restore()
    }
  }

  return {
    element,
    reset(next) {
      if (next !== stage) {
        for (const b of [front, back]) {
          if (!b.blank) b.context.clearRect(0, 0, b.canvas.width, b.canvas.height)
          b.blank = true
        }
        front.area = back.area = { minX: 0, minY: 0, maxX: 0, maxY: 0 }
        lifted = new Set()
      }
      stage = next
      job = null
      broken = []
      stale = true
    },
    lift(ids) {
      const changed = [...lifted].filter((id) => !ids.has(id)).concat([...ids].filter((id) => !lifted.has(id)))
      lifted = ids
      if (changed.length > few) stale = true
      else for (const id of changed) this.repair(stage?.index.boundsOf(id) ?? { minX: 1, minY: 1, maxX: 0, maxY: 0 })
    },
    repair(r) {
      if (isEmpty(r)) return
      // A bitmap being painted was begun with the old shapes: it starts again.
      if (job) stale = true
      broken.push(r)
      if (broken.length > 200) stale = true
    },
    frame(view, window, ratio) {
      if (!stage || window.width === 0) return false
      const seen = visible(view, window)
      const picture = { minX: 0, minY: 0, maxX: stage.document.width, maxY: stage.document.height }
      const needed = { minX: Math.max(seen.minX, picture.minX), minY: Math.max(seen.minY, picture.minY), maxX: Math.min(seen.maxX, picture.maxX), maxY: Math.min(seen.maxY, picture.maxY) }
      if (broken.length > 0) mend(stage)
      quiet = view === lastView ? quiet + 1 : 0
      lastView = view
      // While somebody is zooming, a stretched bitmap is good enough.
      const stretch = Math.max(view.scale / front.view.scale, front.view.scale / view.scale)
      const sharp = stretch === 1 || (quiet < quietFrames && stretch < mostStretch)
      if (stale || ratio !== pixelRatio || (!job && !(sharp && covers(front.area, needed)))) {
        pixelRatio = ratio
        begin(view, window, ratio, stage)
      }
      const done = work(stage)
      place(front, view)
      return !done || stale || !(front.view.scale === view.scale && covers(front.area, needed))
    },
  }
}

function createBitmap(): Bitmap {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no 2d context')
  canvas.style.cssText = 'position:absolute;left:0;top:0;transform-origin:0 0;pointer-events:none'
  return { canvas, context, view: { scale: 1, x: 0, y: 0 }, area: { minX: 0, minY: 0, maxX: 0, maxY: 0 }, quick: false, blank: true }
}

/** The view in which the area's corner is the bitmap's. */
const local = (view: Viewport, area: Rect): Viewport => ({ scale: view.scale, x: -area.minX * view.scale, y: -area.minY * view.scale })

function place(bitmap: Bitmap, view: Viewport): void {
  const k = view.scale / bitmap.view.scale
  bitmap.canvas.style.transform = `matrix(${k},0,0,${k},${bitmap.area.minX * view.scale + view.x},${bitmap.area.minY * view.scale + view.y})`
}

/** Sets the size in screen pixels; the same size is only wiped, unless it is blank already. */
export function resize(canvas: HTMLCanvasElement, width: number, height: number, ratio: number, blank = false): void {
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))]
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w
    canvas.height = h
    canvas.style.width = `${w / ratio}px`
    canvas.style.height = `${h / ratio}px`
  } else if (!blank) {
    const context = canvas.getContext('2d')
    context?.setTransform(1, 0, 0, 1, 0, 0)
    context?.clearRect(0, 0, w, h)
  }
}
