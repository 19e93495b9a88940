// Boxes: by dragging or two clicks, by four extreme points, turned ones by an edge and a width.
import { fromEdge, fromRect, type Box } from '../geometry/box'
import { distance, rectOf, type Point } from '../geometry/point'
import { newId, type BoxShape } from '../model'
import type { Stage } from '../stage'
import type { MakeTool, Pointer } from './tool'

const make = (stage: Stage, b: Box, id = 'draft'): BoxShape => ({ id, type: 'box', ...(stage.labelName !== undefined && { label: stage.labelName }), ...b })
const finish = (stage: Stage, b: Box): void => {
  stage.show(null)
  stage.put([make(stage, b, newId())], { made: true })
}

/** A drag draws it; a click sets the first corner and the next click the other. */
export const box: MakeTool = (stage) => {
  let start: Point | null = null
  let held = false
  const clear = (): void => {
    start = null
    held = false
    stage.show(null)
  }
  const of = (p: Pointer): Box => {
    const a = start as Point
    const b = stage.within(p)
    const side = Math.max(Math.abs(b.x - a.x), Math.abs(b.y - a.y))
    return fromRect(rectOf(a, p.shift ? { x: a.x + Math.sign(b.x - a.x) * side, y: a.y + Math.sign(b.y - a.y) * side } : b))
  }
  const end = (p: Pointer): void => {
    const b = of(p)
    clear()
    finish(stage, b)
  }
  return {
    cursor: () => 'crosshair',
    busy: () => start !== null,
    cancel: clear,
    down(p) {
      if (stage.readOnly) return void stage.refuse('read-only')
      if (start) return end(p)
      start = stage.within(p)
      held = true
    },
    move: (p) => void (start && stage.show({ shapes: [make(stage, of(p))] })),
    up(p) {
      if (start && held && distance(start, p) > stage.reach(4)) end(p)
      held = false
    },
    command(name) {
      if (!start || (name !== 'cancel' && name !== 'undo')) return false
      clear()
      return true
    },
  }
}

/** A tool that collects points by clicks and makes a box of them as soon as there are enough. */
function byPoints(enough: number, boxOf: (points: readonly Point[]) => Box): MakeTool {
  return (stage) => {
    let got: Point[] = []
    let pressed: Point | null = null
    const clear = (): void => {
      got = []
      stage.show(null)
    }
    const show = (p: Point): void => {
      const all = [...got, stage.within(p)]
      stage.show({ line: all, ...(all.length >= 3 && { shapes: [make(stage, boxOf(all))] }) })
    }
    const add = (p: Point): void => {
      got.push(stage.within(p))
      if (got.length < enough) return
      const b = boxOf(got)
      clear()
      finish(stage, b)
    }
    return {
      cursor: () => 'crosshair',
      busy: () => got.length > 0,
      cancel: clear,
      down(p) {
        if (stage.readOnly) return void stage.refuse('read-only')
        pressed = p
        add(p)
      },
      move: (p) => void (got.length > 0 && show(p)),
      up(p) {
        if (pressed && got.length > 0 && distance(pressed, p) > stage.reach(6)) add(p)
        pressed = null
      },
      command(name) {
        if (got.length === 0) return false
        if (name === 'cancel') clear()
        else if (name === 'undo' || name === 'remove-point') got.pop()
        else return false
        if (got.length === 0) stage.show(null)
        return true
      },
    }
  }
}

const around = (points: readonly Point[]): Box => {
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)]
  return fromRect({ minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) })
}

/** Top, left, bottom and right of the thing, in any order. */
export const extreme = byPoints(4, around)
/** One edge, then how wide. */
export const rotated = byPoints(3, (points) => {
  const [a, b, p] = points as [Point, Point, Point]
  return fromEdge(a, b, p)
})
