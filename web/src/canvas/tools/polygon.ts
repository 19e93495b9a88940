// Polygons by clicks or by a free hand, holes in them, and cuts through them.
import { cleaned, cut, difference, pieces, regionArea, type Region } from '../geometry/boolean'
import { grow, round, type Point, distance, overlap } from '../geometry/point'
import { flat, ringBounds } from '../geometry/ring'
import { bounds, isSound } from '../geometry/shape'
import { simplifyLine } from '../geometry/simplify'
import { newId, type PolygonShape, type Ring, type Shape } from '../model'
import type { Stage } from '../stage'
import { createLine } from './line'
import type { MakeTool } from './tool'

const make = (stage: Stage, ring: number[]): PolygonShape => ({ id: newId(), type: 'polygon', ...(stage.labelName !== undefined && { label: stage.labelName }), rings: [ring] })

export const polygon: MakeTool = (stage) =>
  createLine(stage, { closed: true, least: 3, done: (points) => stage.put([make(stage, flat(points))], { made: true }) })

/** The button is held all the way; points are left out that a hand's shaking made. */
export const freehand: MakeTool = (stage) => {
  let line: Point[] = []
  const clear = (): void => {
    line = []
    stage.show(null)
  }
  return {
    cursor: () => 'crosshair',
    busy: () => line.length > 0,
    cancel: clear,
    down(p) {
      if (stage.readOnly) return void stage.refuse('read-only')
      line = [stage.within(p)]
    },
    move(p) {
      const last = line.at(-1)
      if (!last || line.length >= 20_000 || distance(last, p) < stage.reach(2)) return
      line.push(stage.within(p))
      stage.show({ line: [...line], closed: true })
    },
    up() {
      const points = simplifyLine(line, stage.reach(1)).map((p) => ({ x: round(p.x), y: round(p.y) }))
      clear()
      if (points.length >= 3) stage.put([make(stage, flat(points))], { made: true })
    },
  }
}

const isPolygon = (s: Shape): s is PolygonShape => s.type === 'polygon'

/** Selected polygons, or all that are open to change, whose bounds the points touch. */
function targets(stage: Stage, line: readonly number[]): PolygonShape[] {
  const r = grow(ringBounds(line), 0)
  const selected = stage.selected().filter(isPolygon).filter((s) => isSound(s) && !stage.isLocked(s) && overlap(bounds(s), r))
  if (selected.length > 0) return selected
  return stage.index.search(r).filter(isPolygon).filter((s) => !stage.isHidden(s) && !stage.isLocked(s))
}

export const hole: MakeTool = (stage) =>
  createLine(stage, {
    closed: true,
    least: 3,
    done(points) {
      const ring = flat(points)
      // Without a selection the uppermost polygon that the hole touches is meant.
      const all = targets(stage, ring).reverse()
      for (const shape of stage.selection.length > 0 ? all : all.slice(0, 1)) {
        const left = difference(shape, { rings: [ring] })
        if (left.rings.length === 0) return stage.refuse('nothing-left')
        if (Math.abs(regionArea(left) - regionArea(shape)) < 0.01) continue
        return stage.put([withRegion(shape, left)])
      }
      return stage.refuse('not-cut')
    },
  })

/** What is cut off, and the rest: of each part that the line divides the largest piece stays with the shape, its id and notes. */
function divide(shape: PolygonShape, line: readonly number[]): { rest: Region; off: Region[] } {
  const rest: { rings: Ring[]; holes: Ring[] } = { rings: [], holes: [] }
  const off: Region[] = []
  for (const part of pieces(shape.rings.length > 1 ? cleaned(shape) : shape)) {
    const [largest, ...others] = cut(part, line).sort((a, b) => regionArea(b) - regionArea(a))
    rest.rings.push(...(largest?.rings ?? []))
    rest.holes.push(...(largest?.holes ?? []))
    off.push(...others)
  }
  return { rest, off }
}

export const cutter: MakeTool = (stage) =>
  createLine(stage, {
    closed: false,
    least: 2,
    done(points) {
      const line = flat(points)
      const shapes: Shape[] = []
      for (const shape of targets(stage, line)) {
        const divided = divide(shape, line)
        if (divided.off.length > 0) shapes.push(withRegion(shape, divided.rest), ...divided.off.map((part) => ({ ...withRegion(shape, part), id: newId() })))
      }
      if (shapes.length === 0) return stage.refuse('not-cut')
      const done = stage.put(shapes)
      if (done) stage.select(shapes.map((s) => s.id))
      return done
    },
  })

/** The same shape with another outline. */
export function withRegion(shape: PolygonShape, region: { readonly rings: PolygonShape['rings']; readonly holes?: PolygonShape['holes'] | undefined }): PolygonShape {
  return { ...shape, rings: region.rings, holes: region.holes ?? [] }
}
