// Drawing shapes onto a 2D context. Shapes of one colour and fill are one path: thousands of small calls would cost more than the
// pixels. Points nearer than a pixel are left out, and what is smaller than a few pixels is a dot.
import type { Viewport } from '../api'
import { corners } from '../geometry/box'
import { eachRun } from '../geometry/mask'
import { isEmpty, type Rect } from '../geometry/point'
import { bounds, runsFor } from '../geometry/shape'
import { flat, signedArea2 } from '../geometry/ring'
import type { KeypointsShape, LabelStyle, Ring, Shape } from '../model'

export interface PaintOptions {
  readonly view: Viewport
  opacity(shape: Shape): number
  readonly lineWidth: number
  style(name: string | undefined): LabelStyle | undefined
  boundsOf?(id: string): Rect | undefined
  /** Among very many, small shapes are drawn coarsely. */
  readonly quick?: boolean
}

export const plain = '#3b82f6'
export const colorOf = (o: Pick<PaintOptions, 'style'>, shape: Shape): string => o.style(shape.label)?.color ?? plain

/** Below this many screen pixels a shape is a dot. */
const dot = 3
/** Below this many it has no outline of its own, only a stronger fill: strokes cost ten times as much and would be all one sees. */
const small = 14
/** Points closer than this to the last one drawn are left out; of small shapes more of them. */
const close = 0.8
const closeSmall = 1.6

type Outline = { readonly ring: Ring; readonly reverse: boolean }

interface Batch {
  readonly color: string
  readonly opacity: number
  readonly dots: number[]
  readonly outlines: Outline[]
  readonly smalls: Outline[]
  readonly joints: KeypointsShape[]
  readonly masks: Shape[]
}

export function paintShapes(ctx: CanvasRenderingContext2D, shapes: readonly Shape[], o: PaintOptions): void {
  const batches: Batch[] = []
  const byColor = new Map<string, Batch[]>()
  for (const shape of shapes) {
    const r = o.boundsOf?.(shape.id) ?? bounds(shape)
    if (isEmpty(r)) continue
    const color = colorOf(o, shape)
    const opacity = o.opacity(shape)
    let alike = byColor.get(color)
    if (!alike) byColor.set(color, (alike = []))
    let batch = alike.find((b) => b.opacity === opacity)
    if (!batch) {
      batch = { color, opacity, dots: [], outlines: [], smalls: [], joints: [], masks: [] }
      alike.push(batch)
      batches.push(batch)
    }
    const side = Math.max(r.maxX - r.minX, r.maxY - r.minY) * o.view.scale
    if (side < dot) batch.dots.push((r.minX + r.maxX) / 2, (r.minY + r.maxY) / 2)
    else sort(shape, batch, side < small && o.quick === true ? batch.smalls : batch.outlines)
  }
  for (const batch of batches) paintBatch(ctx, batch, o)
  ctx.globalAlpha = 1
}

function sort(shape: Shape, batch: Batch, outlines: Outline[]): void {
  if (shape.type === 'box') outlines.push({ ring: flat(corners(shape)), reverse: false })
  else if (shape.type === 'mask') batch.masks.push(shape)
  else {
    if (shape.type === 'keypoints') batch.joints.push(shape)
    // All rings one way round and all holes the other, so that overlapping shapes of one path do not cut each other out.
    for (const ring of shape.rings ?? []) outlines.push({ ring, reverse: signedArea2(ring) < 0 })
    if (shape.type === 'polygon') for (const ring of shape.holes ?? []) outlines.push({ ring, reverse: signedArea2(ring) > 0 })
  }
}

function paintBatch(ctx: CanvasRenderingContext2D, batch: Batch, o: PaintOptions): void {
  const { scale, x, y } = o.view
  const { color, opacity } = batch
  ctx.fillStyle = ctx.strokeStyle = color
  ctx.lineWidth = o.lineWidth
  ctx.lineJoin = o.quick ? 'bevel' : 'round'
  for (const shape of batch.masks) paintMask(ctx, shape, batch, o)
  if (batch.outlines.length > 0) {
    ctx.beginPath()
    for (const { ring, reverse } of batch.outlines) trace(ctx, ring, reverse, o.view, close)
    ctx.globalAlpha = opacity
    if (opacity > 0) ctx.fill()
    ctx.globalAlpha = 1
    ctx.stroke()
  }
  if (batch.smalls.length > 0) {
    ctx.beginPath()
    for (const { ring, reverse } of batch.smalls) trace(ctx, ring, reverse, o.view, closeSmall)
    ctx.globalAlpha = Math.min(1, opacity + 0.4)
    ctx.fill()
  }
  ctx.globalAlpha = 1
  for (const shape of batch.joints) paintJoints(ctx, shape, o)
  for (let i = 0; i < batch.dots.length; i += 2) ctx.fillRect((batch.dots[i] as number) * scale + x - 1, (batch.dots[i + 1] as number) * scale + y - 1, 2, 2)
}

function trace(ctx: CanvasRenderingContext2D, ring: Ring, reverse: boolean, { scale, x, y }: Viewport, near: number): void {
  const n = ring.length >> 1
  let [lastX, lastY] = [NaN, NaN]
  for (let i = 0; i < n; i += 1) {
    const k = (reverse ? n - 1 - i : i) * 2
    const px = (ring[k] as number) * scale + x
    const py = (ring[k + 1] as number) * scale + y
    if (Number.isNaN(lastX)) ctx.moveTo(px, py)
    else if (Math.abs(px - lastX) + Math.abs(py - lastY) < near) continue
    else ctx.lineTo(px, py)
    lastX = px
    lastY = py
  }
  ctx.closePath()
}

function paintJoints(ctx: CanvasRenderingContext2D, shape: KeypointsShape, o: PaintOptions): void {
  const { scale, x, y } = o.view
  ctx.beginPath()
  for (const [a, b] of o.style(shape.label)?.skeleton?.edges ?? []) {
    const [p, q] = [shape.points[a], shape.points[b]]
    if (!p?.[2] || !q?.[2]) continue
    ctx.moveTo(p[0] * scale + x, p[1] * scale + y)
    ctx.lineTo(q[0] * scale + x, q[1] * scale + y)
  }
  ctx.stroke()
  const [color, white] = [ctx.fillStyle, '#ffffff']
  for (const [px, py, v] of shape.points) {
    if (v === 0) continue
    ctx.beginPath()
    ctx.arc(px * scale + x, py * scale + y, 3.5, 0, 2 * Math.PI)
    // Hidden joints are hollow: colour is not the only sign.
    ctx.fillStyle = v === 2 ? color : white
    ctx.fill()
    ctx.stroke()
  }
  ctx.fillStyle = color
}

const pictures = new WeakMap<Shape, { color: string; canvas: HTMLCanvasElement; at: Rect }>()
/** Above this many pixels a mask is drawn as its bounds: its picture would cost more memory than the sample. */
const mostPixels = 40_000_000

function paintMask(ctx: CanvasRenderingContext2D, shape: Shape, { color, opacity }: Batch, o: PaintOptions): void {
  const at = bounds(shape)
  const { scale, x, y } = o.view
  const [w, h] = [at.maxX - at.minX, at.maxY - at.minY]
  if (w * h > mostPixels) return ctx.strokeRect(at.minX * scale + x, at.minY * scale + y, w * scale, h * scale)
  let picture = pictures.get(shape)
  if (!picture || picture.color !== color) {
    const canvas = document.createElement('canvas')
    canvas.width = w
    canvas.height = h
    const own = canvas.getContext('2d')
    if (!own || shape.type !== 'mask') return
    own.fillStyle = color
    eachRun(runsFor(shape), shape.size[0], (column, from, to) => own.fillRect(column - at.minX, from - at.minY, 1, to - from))
    pictures.set(shape, (picture = { color, canvas, at }))
  }
  ctx.globalAlpha = Math.max(0.15, opacity)
  ctx.imageSmoothingEnabled = scale < 1
  ctx.drawImage(picture.canvas, at.minX * scale + x, at.minY * scale + y, w * scale, h * scale)
  ctx.globalAlpha = 1
}
