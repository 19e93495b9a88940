// Select, move, resize, turn; a rubber band; corners and joints of the one selected shape. The tool "points" is the same
// with edges that give new corners at once.
import { unset } from '../geometry/keypoints'
import { distance, rectOf, type Point } from '../geometry/point'
import { withoutPoint } from '../geometry/ring'
import { inBand, isSound, moved, roomFor } from '../geometry/shape'
import type { Corner } from '../geometry/snap'
import type { Keypoint, Shape } from '../model'
import { around, type Stage } from '../stage'
import { gripAt, type Grip } from './grip'
import type { MakeTool, Pointer, Tool } from './tool'

type Doing =
  | { readonly what: 'nothing' }
  | { readonly what: 'pressed'; readonly from: Pointer; readonly shape: Shape | null; readonly wasSelected: boolean }
  | { readonly what: 'moving'; readonly from: Pointer; readonly shapes: readonly Shape[] }
  | { readonly what: 'grip'; readonly from: Pointer; readonly grip: Grip; readonly far: boolean }
  | { readonly what: 'band'; readonly from: Pointer; readonly before: readonly string[] }

const threshold = 3

function createSelect(stage: Stage, edges: boolean): Tool {
  let doing: Doing = { what: 'nothing' }
  let corner: Corner | null = null

  const clear = (): void => {
    doing = { what: 'nothing' }
    stage.show(null)
  }
  const moveTo = (shapes: readonly Shape[], from: Point, p: Pointer): Shape[] => {
    let [dx, dy] = [p.x - from.x, p.y - from.y]
    if (p.shift) [dx, dy] = Math.abs(dx) > Math.abs(dy) ? [dx, 0] : [0, dy]
    const r = around(shapes)
    const by = r && stage.document.width > 0 ? roomFor(r, dx, dy, stage.document.width, stage.document.height) : { x: dx, y: dy }
    return shapes.map((s) => moved(s, by.x, by.y))
  }

  function start(p: Pointer, from: Extract<Doing, { what: 'pressed' }>): void {
    if (from.shape && !stage.readOnly) {
      const shapes = stage.selected().filter((s) => !stage.isLocked(s) && s.type !== 'mask' && isSound(s))
      doing = shapes.length > 0 ? { what: 'moving', from: from.from, shapes } : { what: 'nothing' }
    } else {
      doing = { what: 'band', from: from.from, before: p.shift ? stage.selection : [] }
    }
  }

  function drag(p: Pointer): void {
    if (doing.what === 'moving') stage.show({ shapes: moveTo(doing.shapes, doing.from, p) })
    if (doing.what === 'band') {
      const band = rectOf(doing.from, p)
      const leftward = p.x < doing.from.x
      stage.show({ band })
      const inIt = stage.index.search(band).filter((s) => !stage.isHidden(s) && !stage.isLocked(s) && inBand(s, band, leftward)).map((s) => s.id)
      stage.select([...doing.before, ...inIt])
    }
    if (doing.what === 'grip') {
      if (!doing.far && distance(doing.from, p) <= stage.reach(threshold)) return
      doing = { ...doing, far: true }
      stage.show({ shapes: doing.grip.drawn(p), snapped: null })
    }
  }

  function removeCorner(): boolean {
    const shape = corner && stage.document.shape(corner.shape)
    if (!corner || !shape || !stage.selection.includes(shape.id)) return false
    if (stage.isLocked(shape)) return stage.refuse('locked')
    const { part, ring, index } = corner
    corner = null
    stage.show(null)
    if (shape.type === 'keypoints') {
      const points = shape.points.map((k, i): Keypoint => (i === index ? unset : k))
      return points.some(([, , v]) => v > 0) ? stage.put([{ ...shape, points }]) : stage.change([{ op: 'remove', shape: shape.id }])
    }
    if (shape.type !== 'polygon') return false
    const rings = (shape[part] ?? []).map((r, i) => (i === ring ? withoutPoint(r, index) : [...r])).filter((r) => r !== null)
    return part === 'rings' && rings.length === 0 ? stage.change([{ op: 'remove', shape: shape.id }]) : stage.put([{ ...shape, [part]: rings }])
  }

  function toggleJoint(): boolean {
    const shape = corner && stage.document.shape(corner.shape)
    if (!corner || shape?.type !== 'keypoints') return false
    if (stage.isLocked(shape)) return stage.refuse('locked')
    const { index } = corner
    return stage.put([{ ...shape, points: shape.points.map((k, i): Keypoint => (i === index && k[2] > 0 ? [k[0], k[1], k[2] === 2 ? 1 : 2] : k)) }])
  }

  return {
    cursor(p) {
      if (doing.what === 'moving') return 'move'
      const grip = p && gripAt(stage, p, edges)
      return grip ? grip.cursor : p && stage.hit(p) ? 'pointer' : 'default'
    },
    busy: () => doing.what === 'moving' || doing.what === 'grip' || doing.what === 'band',
    cancel: clear,
    down(p) {
      const grip = gripAt(stage, p, edges)
      corner = grip?.corner ?? null
      if (grip) {
        doing = { what: 'grip', from: p, grip, far: false }
        stage.show({ active: grip.at })
        if (p.ctrl && grip.corner) {
          clear()
          removeCorner()
        }
        return
      }
      stage.show(null)
      const shape = stage.hit(p)
      const wasSelected = shape !== null && stage.selection.includes(shape.id)
      if (shape && !wasSelected) stage.select(p.shift ? [...stage.selection, shape.id] : [shape.id])
      doing = { what: 'pressed', from: p, shape, wasSelected }
    },
    move(p) {
      if (doing.what === 'pressed') {
        if (distance(doing.from, p) <= stage.reach(threshold)) return
        start(p, doing)
      }
      drag(p)
    },
    up(p) {
      const was = doing
      const active = was.what === 'grip' && !was.far ? was.grip.at : null
      clear()
      if (was.what === 'moving') stage.put(moveTo(was.shapes, was.from, p))
      else if (was.what === 'grip' && was.far) stage.put(was.grip.drawn(p))
      else if (was.what === 'grip' && edges && !was.grip.corner) stage.put(was.grip.drawn(was.from))
      else if (was.what === 'pressed' && !was.shape && !p.shift) stage.select([])
      else if (was.what === 'pressed' && was.shape && was.wasSelected) {
        const id = was.shape.id
        stage.select(p.shift ? stage.selection.filter((s) => s !== id) : [id])
      }
      if (active && corner) stage.show({ active })
    },
    double(p) {
      const shape = stage.hit(p)
      if (shape) stage.emit({ type: 'activate', id: shape.id })
    },
    command(name) {
      if (name === 'cancel' && doing.what !== 'nothing') {
        clear()
        return true
      }
      if (name === 'remove-point') return removeCorner()
      return name === 'toggle-visible' ? toggleJoint() : false
    },
  }
}

export const select: MakeTool = (stage) => createSelect(stage, false)
export const points: MakeTool = (stage) => createSelect(stage, true)
