// Drawing shapes onto a 2D context. Shapes of one colour are one path: thousands of small calls would cost more than the
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
  readonly opacity: number
  readonly lineWidth: number
  style(name: string | undefined): LabelStyle | undefined
  boundsOf?(id: string): Rect | undefined
}

export const plain = '#3b82f6'
export const colorOf = (o: Pick<PaintOptions, 'style'>, shape: Shape): string => o.style(shape.label)?.color ?? plain

/** Below this many screen pixels a shape is a dot. */
const dot = 3
/** Points closer than this to the last one drawn are left out. */
const close = 0.8

interface Batch {
  readonly dots: number[]
  readonly outlines: { readonly ring: Ring; readonly reverse: boolean }[]
  readonly joints: KeypointsShape[]
  readonly masks: Shape[]
}

export function paintShapes(ctx: CanvasRenderingContext2D, shapes: readonly Shape[], o: PaintOptions): void {
  const batches = new Map<string, Batch>()
  for (const shape of shapes) {
    const r = o.boundsOf?.(shape.id) ?? bounds(shape)
    if (isEmpty(r)) continue
    const color = colorOf(o, shape)
    let batch = batches.get(color)
    if (!batch) batches.set(color, (batch = { dots: [], outlines: [], joints: [], masks: [] }))
    if ((r.maxX - r.minX) * o.view.scale < dot && (r.maxY - r.minY) * o.view.scale < dot) batch.dots.push((r.minX + r.maxX) / 2, (r.minY + r.maxY) / 2)
    else sort(shape, batch)
  }
  for (const [color, batch] of batches) paintBatch(ctx, color, batch, o)
  ctx.globalAlpha = 1
}

function sort(shape: Shape, batch: Batch): void {
  if (shape.type === 'box') batch.outlines.push({ ring: flat(corners(shape)), reverse: false })
  else if (shape.type === 'mask') batch.masks.push(shape)
  else {
    if (shape.type === 'keypoints') batch.joints.push(shape)
    // All rings one way round and all holes the other, so that overlapping shapes of one path do not cut each other out.
    for (const ring of shape.rings ?? []) batch.outlines.push({ ring, reverse: signedArea2(ring) < 0 })
    if (shape.type === 'polygon') for (const ring of shape.holes ?? []) batch.outlines.push({ ring, reverse: signedArea2(ring) > 0 })
  }
}

function paintBatch(ctx: CanvasRenderingContext2D, color: string, batch: Batch, o: PaintOptions): void {
  const { scale, x, y } = o.view
  ctx.fillStyle = ctx.strokeStyle = color
  ctx.lineWidth = o.lineWidth
  ctx.lineJoin = 'round'
  for (const shape of batch.masks) paintMask(ctx, shape, color, o)
  if (batch.outlines.length > 0) {
    ctx.beginPath()
    for (const { ring, reverse } of batch.outlines) trace(ctx, ring, reverse, o.view)
    ctx.globalAlpha = o.opacity
    if (o.opacity > 0) ctx.fill()
    ctx.globalAlpha = 1
    ctx.stroke()
  }
  ctx.globalAlpha = 1
  for (const shape of batch.joints) paintJoints(ctx, shape, o)
  for (let i = 0; i < batch.dots.length; i += 2) ctx.fillRect((batch.dots[i] as number) * scale + x - 1, (batch.dots[i + 1] as number) * scale + y - 1, 2, 2)
}

function trace(ctx: CanvasRenderingContext2D, ring: Ring, reverse: boolean, { scale, x, y }: Viewport): void {
  const n = ring.length >> 1
  let [lastX, lastY] = [NaN, NaN]
  for (let i = 0; i < n; i += 1) {
    const k = (reverse ? n - 1 - i : i) * 2
    const px = (ring[k] as number) * scale + x
    const py = (ring[k + 1] as number) * scale + y
    if (Number.isNaN(lastX)) ctx.moveTo(px, py)
    else if (Math.abs(px - lastX) + Math.abs(py - lastY) < close) continue
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

function paintMask(ctx: CanvasRenderingContext2D, shape: Shape, color: string, o: PaintOptions): void {
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
  ctx.globalAlpha = Math.max(0.15, o.opacity)
  ctx.imageSmoothingEnabled = scale < 1
  ctx.drawImage(picture.canvas, at.minX * scale + x, at.minY * scale + y, w * scale, h * scale)
  ctx.globalAlpha = 1
}
