// What lies over the shapes: below, the grid and the names of shapes at rest; above, what is in hand with its names and handles, the
// unfinished line, marks and other people. Below is painted anew when the view or the shapes change, above with every move.
import type { Mark, Other, ViewSettings, Viewport } from '../api'
import { handles } from '../geometry/box'
import { isEmpty, type Point, type Rect } from '../geometry/point'
import { bounds, firstPoint, isSound } from '../geometry/shape'
import { count } from '../geometry/ring'
import type { Shape } from '../model'
import type { Stage } from '../stage'
import { turnable, turnReach } from '../tools/grip'
import { colorOf, paintShapes } from './paint'
import { toScreen, visible, type Size } from './view'

/** Selected shapes beyond this many are drawn as their bounds while they move. */
const mostLifted = 300
/** Corners beyond this many have no handles. */
const mostHandles = 2_000
const mostNames = 250
export const font = '12px system-ui, sans-serif'

interface Ink {
  readonly line: string
  readonly back: string
  readonly text: string
  readonly faint: string
}

export const inks: Readonly<Record<ViewSettings['theme'], Ink>> = {
  light: { line: '#0f766e', back: '#ffffff', text: '#17211f', faint: 'rgb(23 33 31 / 35%)' },
  dark: { line: '#56cdbf', back: '#121617', text: '#e3e8e8', faint: 'rgb(227 232 232 / 35%)' },
}

/** The selected shapes, as the unfinished stroke has them, and the shape under the pointer. */
function paintMoving(ctx: CanvasRenderingContext2D, stage: Stage, view: Viewport, hover: string | null): void {
  const draft = stage.draft?.shapes ?? []
  const drafted = new Set(draft.map((s) => s.id))
  const shapes = [...stage.selected().filter((s) => !drafted.has(s.id) && !stage.isHidden(s)), ...draft]
  const style = (name: string | undefined) => stage.style(name)
  if (shapes.length > mostLifted) {
    ctx.beginPath()
    for (const s of shapes) {
      const r = bounds(s)
      if (!isEmpty(r)) ctx.rect(r.minX * view.scale + view.x, r.minY * view.scale + view.y, (r.maxX - r.minX) * view.scale, (r.maxY - r.minY) * view.scale)
    }
    ctx.strokeStyle = inks[stage.settings.theme].line
    ctx.stroke()
  } else {
    paintShapes(ctx, shapes, { view, opacity: (s) => Math.min(1, stage.opacityOf(s) + 0.15), lineWidth: 2.5, style })
  }
  const under = hover === null || stage.selection.includes(hover) ? undefined : stage.document.shape(hover)
  if (under && !stage.isHidden(under)) paintShapes(ctx, [under], { view, opacity: (s) => stage.opacityOf(s) / 2, lineWidth: 2.5, style })
}

export interface Above {
  readonly stage: Stage
  readonly view: Viewport
  readonly window: Size
  /** Where lines through the pointer meet, for tools that draw. */
  readonly cross: Point | null
  readonly others: readonly Other[]
  readonly marks: readonly Mark[]
  /** Shapes whose names are to be seen. */
  readonly names: readonly Shape[]
  /** Those of them that are in hand: their names move with them. */
  readonly lifted: ReadonlySet<string>
}

export function hasBelow({ stage, names, lifted }: Above): boolean {
  return stage.settings.grid > 0 || names.some((s) => !lifted.has(s.id))
}

export function paintBelow(ctx: CanvasRenderingContext2D, above: Above): void {
  const { stage, names, lifted } = above
  if (stage.settings.grid > 0) paintGrid(ctx, above, inks[stage.settings.theme])
  paintNames(ctx, above, names.filter((s) => !lifted.has(s.id)))
}

export function paintAbove(ctx: CanvasRenderingContext2D, above: Above, hover: string | null): void {
  const { stage, view, window, cross } = above
  const ink = inks[stage.settings.theme]
  if (cross) {
    const at = toScreen(view, cross)
    lines(ctx, [[{ x: 0, y: at.y }, { x: window.width, y: at.y }], [{ x: at.x, y: 0 }, { x: at.x, y: window.height }]], ink.faint, 1)
  }
  paintMoving(ctx, stage, view, hover)
  paintNames(ctx, above, above.names.filter((s) => above.lifted.has(s.id)))
  paintHandles(ctx, stage, view, ink)
  paintDraft(ctx, stage, view, ink)
  for (const other of above.others) paintOther(ctx, other, stage, view)
  for (const mark of above.marks) paintMark(ctx, mark, stage, view)
}

function lines(ctx: CanvasRenderingContext2D, all: readonly (readonly Point[])[], color: string, width: number, dash: number[] = []): void {
  ctx.strokeStyle = color
  ctx.lineWidth = width
  ctx.setLineDash(dash)
  ctx.beginPath()
  for (const line of all) line.forEach((p, i) => (i === 0 ? ctx.moveTo(p.x, p.y) : ctx.lineTo(p.x, p.y)))
  ctx.stroke()
  ctx.setLineDash([])
}

function paintGrid(ctx: CanvasRenderingContext2D, { stage, view, window }: Above, ink: Ink): void {
  // Lines nearer than 8 screen pixels would only be grey: every second, fourth ... one is drawn then.
  let step = stage.settings.grid
  while (step * view.scale < 8) step *= 2
  const r = visible(view, window)
  const { width, height } = stage.document
  const all: Point[][] = []
  const [x0, x1, y0, y1] = [Math.max(0, r.minX), Math.min(width, r.maxX), Math.max(0, r.minY), Math.min(height, r.maxY)]
  for (let x = Math.ceil(x0 / step) * step; x <= x1; x += step) all.push([toScreen(view, { x, y: y0 }), toScreen(view, { x, y: y1 })])
  for (let y = Math.ceil(y0 / step) * step; y <= y1; y += step) all.push([toScreen(view, { x: x0, y }), toScreen(view, { x: x1, y })])
  lines(ctx, all, ink.faint, 0.5)
}

/** Shapes large enough on the screen to carry a name, the first ones found; asked again when the bitmap or the document changes. */
export function namedShapes(stage: Stage, view: Viewport, window: Size): Shape[] {
  if (!stage.settings.names && !stage.settings.texts) return []
  const found: Shape[] = []
  for (const shape of stage.index.search(visible(view, window))) {
    const r = stage.index.boundsOf(shape.id)
    if (!r || (r.maxX - r.minX) * view.scale < 28 || stage.isHidden(shape)) continue
    found.push(shape)
    if (found.length >= mostNames) break
  }
  return found
}

function paintNames(ctx: CanvasRenderingContext2D, { stage, view }: Above, names: readonly Shape[]): void {
  if (names.length === 0) return
  ctx.font = font
  ctx.textBaseline = 'middle'
  const ocr = stage.document.type === 'ocr' && stage.settings.texts
  const draft = new Map((stage.draft?.shapes ?? []).map((s) => [s.id, s]))
  for (const named of names) {
    const shape = draft.get(named.id) ?? stage.document.shape(named.id)
    const at = shape && firstPoint(shape)
    if (!shape || !at) continue
    const style = stage.style(shape.label)
    const parts = [ocr ? String(stage.document.indexOf(shape.id) + 1) : '', stage.settings.names ? (style?.title ?? shape.label ?? '') : '', ocr ? (shape.text ?? '') : '', shape.score !== undefined ? shape.score.toFixed(2) : '']
    const text = parts.filter((p) => p !== '').join(' · ').slice(0, 60)
    if (text === '') continue
    const p = toScreen(view, at)
    tag(ctx, text, p.x, p.y - 9, colorOf({ style: (n) => stage.style(n) }, shape))
  }
}

/** Text on the label's colour, black or white by what can be read on it. */
export function tag(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, color: string): void {
  const w = ctx.measureText(text).width + 8
  ctx.fillStyle = color
  ctx.fillRect(x - 1, y - 9, w, 17)
  ctx.fillStyle = isLight(color) ? '#000000' : '#ffffff'
  ctx.fillText(text, x + 3, y)
}

function isLight(color: string): boolean {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255) as [number, number, number]
  const linear = (v: number): number => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.18
}

function square(ctx: CanvasRenderingContext2D, p: Point, ink: Ink, round: boolean, size = 4): void {
  ctx.beginPath()
  if (round) ctx.arc(p.x, p.y, size, 0, 2 * Math.PI)
  else ctx.rect(p.x - size, p.y - size, 2 * size, 2 * size)
  ctx.fillStyle = ink.back
  ctx.fill()
  ctx.strokeStyle = ink.line
  ctx.lineWidth = 1.5
  ctx.stroke()
}

function paintHandles(ctx: CanvasRenderingContext2D, stage: Stage, view: Viewport, ink: Ink): void {
  const id = stage.selection[0]
  if (stage.selection.length !== 1 || id === undefined || stage.readOnly) return
  const shape = stage.draft?.shapes?.find((s) => s.id === id) ?? stage.document.shape(id)
  if (!shape || !isSound(shape) || stage.isHidden(shape) || stage.isLocked(shape)) return
  if (shape.type === 'box') {
    const all = handles(shape, turnable(stage), turnReach / view.scale).map((h) => ({ ...h, at: toScreen(view, h.at) }))
    const [top, knob] = [all.find((h) => h.name === 'n'), all.find((h) => h.name === 'turn')]
    if (top && knob) lines(ctx, [[top.at, knob.at]], ink.line, 1)
    // The middles of short sides would cover the corners.
    for (const h of all) if (h.name.length === 2 || h.name === 'turn' || Math.min(shape.w, shape.h) * view.scale > 28) square(ctx, h.at, ink, h.name === 'turn')
  }
  if (shape.type === 'polygon') {
    const rings = [...shape.rings, ...(shape.holes ?? [])]
    if (rings.reduce((n, r) => n + count(r), 0) > mostHandles) return
    for (const ring of rings) for (let i = 0; i + 1 < ring.length; i += 2) square(ctx, toScreen(view, { x: ring[i] as number, y: ring[i + 1] as number }), ink, true, 3.5)
  }
}

function paintDraft(ctx: CanvasRenderingContext2D, stage: Stage, view: Viewport, ink: Ink): void {
  const draft = stage.draft
  if (!draft) return
  const color = stage.style(stage.labelName)?.color ?? ink.line
  const line = (draft.line ?? []).map((p) => toScreen(view, p))
  if (line.length > 0) {
    lines(ctx, [line], ink.back, 4)
    lines(ctx, [line], color, 2)
    const ends = [line.at(-1), draft.toward && toScreen(view, draft.toward), draft.closed ? line[0] : undefined].filter((p) => p !== undefined)
    if (ends.length > 1) lines(ctx, [ends], color, 1.5, [5, 4])
    if (line.length <= mostHandles) line.forEach((p, i) => square(ctx, p, { ...ink, line: color }, true, i === 0 && draft.closed ? 5 : 3))
  }
  if (draft.band) paintBand(ctx, draft.band, view, ink)
  if (draft.active) square(ctx, toScreen(view, draft.active), { ...ink, back: ink.line }, true, 5)
  if (draft.snapped) {
    const p = toScreen(view, draft.snapped.point)
    square(ctx, p, { ...ink, back: 'transparent' }, draft.snapped.kind === 'edge', 7)
  }
}

function paintBand(ctx: CanvasRenderingContext2D, r: Rect, view: Viewport, ink: Ink): void {
  const [a, b] = [toScreen(view, { x: r.minX, y: r.minY }), toScreen(view, { x: r.maxX, y: r.maxY })]
  lines(ctx, [[a, { x: b.x, y: a.y }, b, { x: a.x, y: b.y }, a]], ink.line, 1, [4, 3])
}

function paintOther(ctx: CanvasRenderingContext2D, other: Other, stage: Stage, view: Viewport): void {
  for (const id of other.selection ?? []) {
    const shape = stage.document.shape(id)
    const r = shape && bounds(shape)
    if (r && !isEmpty(r)) paintBand(ctx, r, view, { ...inks.light, line: other.color })
  }
  const p = toScreen(view, other)
  if (!Number.isFinite(p.x) || !Number.isFinite(p.y)) return
  ctx.beginPath()
  for (const [x, y] of [[0, 0], [0, 16], [4.5, 12], [11, 11]] as const) ctx.lineTo(p.x + x, p.y + y)
  ctx.closePath()
  ctx.fillStyle = other.color
  ctx.fill()
  ctx.strokeStyle = '#ffffff'
  ctx.lineWidth = 1
  ctx.stroke()
  ctx.font = font
  tag(ctx, other.name.slice(0, 30), p.x + 12, p.y + 20, other.color)
}

/** Where a mark stands on the screen, for drawing and for clicks. */
export function markPlace(mark: Mark, stage: Stage, view: Viewport): Point | null {
  const shape = mark.shape === undefined ? undefined : stage.document.shape(mark.shape)
  if (shape) {
    const r = bounds(shape)
    return isEmpty(r) ? null : toScreen(view, { x: r.maxX, y: r.minY })
  }
  return mark.x === undefined || mark.y === undefined ? null : toScreen(view, { x: mark.x, y: mark.y })
}

function paintMark(ctx: CanvasRenderingContext2D, mark: Mark, stage: Stage, view: Viewport): void {
  const p = markPlace(mark, stage, view)
  if (!p) return
  const rejected = mark.kind === 'rejected'
  ctx.beginPath()
  ctx.arc(p.x, p.y, 9, 0, 2 * Math.PI)
  ctx.fillStyle = rejected ? '#b42318' : '#8a5a00'
  ctx.fill()
  ctx.strokeStyle = '#ffffff'
  ctx.lineWidth = 1.5
  ctx.stroke()
  if (rejected) lines(ctx, [[{ x: p.x - 3, y: p.y - 3 }, { x: p.x + 3, y: p.y + 3 }], [{ x: p.x + 3, y: p.y - 3 }, { x: p.x - 3, y: p.y + 3 }]], '#ffffff', 2)
  else if (mark.number !== undefined) {
    ctx.font = font
    ctx.textBaseline = 'middle'
    ctx.textAlign = 'center'
    ctx.fillStyle = '#ffffff'
    ctx.fillText(String(mark.number), p.x, p.y + 0.5)
    ctx.textAlign = 'start'
  } else lines(ctx, [[{ x: p.x - 4, y: p.y - 2 }, { x: p.x + 4, y: p.y - 2 }], [{ x: p.x - 4, y: p.y + 2 }, { x: p.x + 2, y: p.y + 2 }]], '#ffffff', 1.5)
}
