// What others say of the sample, drawn over its own shapes: each person in a colour and a dash of their own, what they do not
// agree on strongly. It has a sheet of its own, painted when the view or the layers change.
import type { Layer, Viewport } from '../api'
import { grow, isEmpty, overlap, type Point } from '../geometry/point'
import { areaOf, bounds, firstPoint, inside, toOutline } from '../geometry/shape'
import type { LabelStyle, Shape } from '../model'
import { font, tag } from './overlay'
import { paintShapes } from './paint'
import { createSheet } from './sheet'
import { resize } from './still'
import { toScreen, visible, type Size } from './view'

type StyleOf = (label: string | undefined) => LabelStyle | undefined

/** Names beyond this many are left out, and those of shapes smaller than this many screen pixels. */
const mostNames = 250
const leastNamed = 28

function skeletonIn(color: string, style: StyleOf): StyleOf {
  return (label) => {
    const own = style(label)
    return { name: label ?? '', color, ...(own?.skeleton && { skeleton: own.skeleton }) }
  }
}

function paintLayers(ctx: CanvasRenderingContext2D, layers: readonly Layer[], view: Viewport, window: Size, style: StyleOf): void {
  const sight = visible(view, window)
  let named = 0
  layers.forEach((layer, i) => {
    const seen = layer.shapes.filter((s) => {
      const r = bounds(s)
      return !isEmpty(r) && overlap(r, sight)
    })
    const paint = (shapes: readonly Shape[], lineWidth: number, opacity: number) => {
      ctx.setLineDash([...layer.dash])
      paintShapes(ctx, shapes, { view, opacity: () => opacity, lineWidth, style: skeletonIn(layer.color, style), quick: seen.length > 2_000 })
      ctx.setLineDash([])
    }
    paint(seen.filter((s) => !layer.differing.has(s.id) && s.id !== layer.picked), 1.25, 0)
    paint(seen.filter((s) => layer.differing.has(s.id) && s.id !== layer.picked), 2.5, 0.12)
    paint(seen.filter((s) => s.id === layer.picked), 4.5, 0.25)
    ctx.font = font
    ctx.textBaseline = 'middle'
    for (const shape of seen) {
      const [at, r] = [firstPoint(shape), bounds(shape)]
      const strong = layer.differing.has(shape.id) || shape.id === layer.picked
      if (!strong || !at || named >= mostNames || (r.maxX - r.minX) * view.scale < leastNamed) continue
      named += 1
      const p = toScreen(view, at)
      // Below each other: the same thing drawn by several has one corner.
      tag(ctx, [layer.name, shape.label, shape.text].filter(Boolean).join(' · ').slice(0, 60), p.x, p.y + 10 + 18 * i, layer.color)
    }
  })
}

/** The shape of a layer at a place: an outline near it, or else the smallest around it. */
function hitOf(layers: readonly Layer[], p: Point, near: number, style: StyleOf): { layer: number; shape: string } | null {
  const all = layers.flatMap((layer) => layer.shapes.filter((s) => {
    const r = bounds(s)
    return !isEmpty(r) && overlap(grow(r, near), { minX: p.x, minY: p.y, maxX: p.x, maxY: p.y })
  }).map((shape) => ({ layer: layer.id, shape })))
  const touching = all.filter(({ shape }) => toOutline(shape, p, style(shape.label)?.skeleton?.edges) <= near)
  const around = all.filter(({ shape }) => inside(shape, p)).sort((a, b) => areaOf(a.shape) - areaOf(b.shape))
  const found = touching[0] ?? around[0]
  return found ? { layer: found.layer, shape: found.shape.id } : null
}

export interface Layers {
  readonly element: HTMLCanvasElement
  set(layers: readonly Layer[]): void
  shape(id: string): Shape | undefined
  hit(p: Point, near: number): { layer: number; shape: string } | null
  /** Paints when there is something new to be seen. */
  frame(view: Viewport, window: Size, ratio: number): void
}

export function createLayers(style: StyleOf): Layers {
  const { canvas, context } = createSheet()
  let layers: readonly Layer[] = []
  let painted: { layers: readonly Layer[]; view: Viewport; window: Size; ratio: number } | null = null
  canvas.style.display = 'none'
  return {
    element: canvas,
    set(next) {
      layers = next
      canvas.style.display = next.length > 0 ? '' : 'none'
    },
    shape: (id) => layers.flatMap((l) => l.shapes).find((s) => s.id === id),
    hit: (p, near) => hitOf(layers, p, near, style),
    frame(view, window, ratio) {
      if (layers.length === 0 || (painted?.layers === layers && painted.view === view && painted.window === window && painted.ratio === ratio)) return
      painted = { layers, view, window, ratio }
      resize(canvas, window.width, window.height, ratio)
      context.setTransform(ratio, 0, 0, ratio, 0, 0)
      paintLayers(context, layers, view, window, style)
    },
  }
}
