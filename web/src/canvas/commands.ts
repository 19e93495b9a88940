// What can be done to the selection without pointing. One table; the page gives names and keys.
import type { CommandName } from './api'
import { normalAngle } from './geometry/box'
import { unionAll, untangled } from './geometry/boolean'
import { mirrored } from './geometry/keypoints'
import { bounds, isSound, moved, roomFor } from './geometry/shape'
import { isEmpty } from './geometry/point'
import { simplifyRing } from './geometry/simplify'
import { count } from './geometry/ring'
import { newId, type Change, type Keypoint, type PolygonShape, type Shape } from './model'
import { around, type Stage } from './stage'
import { withRegion } from './tools/polygon'

/** Shapes copied in this tab; they can be pasted into other samples. */
export interface Clipboard {
  shapes: readonly Shape[]
}

type Command = (stage: Stage, clipboard: Clipboard) => boolean

/** The selection without what is locked; where that leaves nothing, it is said why nothing happens. */
const open = (stage: Stage): Shape[] => {
  const shapes = stage.selected().filter((s) => !stage.isLocked(s))
  if (shapes.length === 0 && stage.selection.length > 0) stage.refuse('locked')
  return shapes
}
const putChanged = (stage: Stage, change: (shape: Shape) => Shape | null): boolean => {
  const shapes = open(stage).filter(isSound).map(change).filter((s) => s !== null)
  return shapes.length > 0 && stage.put(shapes)
}

function nudge(dx: number, dy: number): Command {
  return (stage) => {
    const shapes = open(stage).filter((s) => s.type !== 'mask' && isSound(s))
    const r = around(shapes)
    if (!r) return false
    const by = stage.document.width > 0 ? roomFor(r, dx, dy, stage.document.width, stage.document.height) : { x: dx, y: dy }
    return by.x === 0 && by.y === 0 ? false : stage.put(shapes.map((s) => moved(s, by.x, by.y)))
  }
}

/** Copies a little aside, so that they are seen; not beyond the picture. */
function add(stage: Stage, all: readonly Shape[], aside: number): boolean {
  const shapes = all.filter(isSound)
  const r = around(shapes)
  if (!r) return false
  const by = aside > 0 && stage.document.width > 0 ? roomFor(r, aside, aside, stage.document.width, stage.document.height) : { x: 0, y: 0 }
  return stage.put(shapes.map((s) => ({ ...moved(s, by.x, by.y), id: newId() })), { made: true })
}

function step(by: 1 | -1): Command {
  return (stage) => {
    const all = stage.document.shapes.filter((s) => !stage.isHidden(s) && !stage.isLocked(s))
    if (all.length === 0) return false
    const at = all.findIndex((s) => s.id === stage.selection[0])
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length
    stage.select([(all[next] as Shape).id])
    return true
  }
}

/** Moves the selected shapes within the order; `to` gets the place of one and the number of all. */
function reorder(to: (at: number, count: number) => number, fromTop: boolean): Command {
  return (stage) => {
    const shapes = open(stage).sort((a, b) => stage.document.indexOf(a.id) - stage.document.indexOf(b.id))
    if (fromTop) shapes.reverse()
    return stage.change(shapes.map((shape): Change => ({ op: 'put', shape, at: to(stage.document.indexOf(shape.id), stage.document.shapes.length) })))
  }
}

const merge: Command = (stage) => {
  const shapes = open(stage).filter((s): s is PolygonShape => s.type === 'polygon' && isSound(s))
  const [first, ...others] = shapes
  if (!first || others.length === 0) return false
  const all = untangled(() => unionAll(shapes))
  if (!all) return stage.refuse('too-many-points')
  const done = stage.put([withRegion(first, all)], { also: others.map((s): Change => ({ op: 'remove', shape: s.id })) })
  if (done) stage.select([first.id])
  return done
}

const simplify: Command = (stage) =>
  putChanged(stage, (shape) => {
    if (shape.type !== 'polygon') return null
    const tolerance = Math.max(0.5, stage.reach(1.5))
    const rings = shape.rings.map((r) => simplifyRing(r, tolerance))
    const holes = shape.holes?.map((r) => simplifyRing(r, tolerance))
    const points = (all: readonly (readonly number[])[]): number => all.reduce((n, r) => n + count(r), 0)
    return points([...rings, ...(holes ?? [])]) < points([...shape.rings, ...(shape.holes ?? [])]) ? { ...shape, rings, ...(holes && { holes }) } : null
  })

const mirror: Command = (stage) =>
  putChanged(stage, (shape) => (shape.type === 'keypoints' ? { ...shape, points: mirrored(shape.points, stage.style(shape.label)?.skeleton?.keypoints ?? []) } : null))

const toggleAll: Command = (stage) =>
  putChanged(stage, (shape) => {
    if (shape.type !== 'keypoints') return null
    const hide = shape.points.some(([, , v]) => v === 2)
    return { ...shape, points: shape.points.map(([x, y, v]): Keypoint => [x, y, v === 0 ? 0 : hide ? 1 : 2]) }
  })

const flag = (name: 'occluded' | 'truncated'): Command => (stage) => {
  const on = !open(stage).every((s) => s[name])
  return putChanged(stage, (shape) => {
    const rest = Object.fromEntries(Object.entries(shape).filter(([k]) => k !== name)) as unknown as Shape
    return on ? { ...rest, [name]: true } : rest
  })
}

const rotate = (by: number): Command => (stage) => putChanged(stage, (s) => (s.type === 'box' && stage.document.type !== 'detection' ? { ...s, angle: normalAngle((s.angle ?? 0) + by) } : null))

/** Lines from top to bottom, each from left to right; shapes that overlap by half of their height are one line. */
const orderLines: Command = (stage) => {
  const placed = stage.document.shapes.map((shape) => ({ shape, r: bounds(shape) })).filter(({ r }) => !isEmpty(r)).sort((a, b) => a.r.minY - b.r.minY)
  const lines: (typeof placed)[] = []
  for (const one of placed) {
    const line = lines.at(-1)
    const first = line?.[0]
    const shared = first ? Math.min(first.r.maxY, one.r.maxY) - Math.max(first.r.minY, one.r.minY) : 0
    if (line && first && shared * 2 > Math.min(first.r.maxY - first.r.minY, one.r.maxY - one.r.minY)) line.push(one)
    else lines.push([one])
  }
  const wanted = lines.flatMap((line) => line.sort((a, b) => a.r.minX - b.r.minX).map(({ shape }) => shape))
  // Only those are sent that are not already where the ones before them put them.
  const now = stage.document.shapes.map((s) => s.id)
  const changes: Change[] = []
  wanted.forEach((shape, at) => {
    const from = now.indexOf(shape.id)
    if (from === at) return
    now.splice(from, 1)
    now.splice(at, 0, shape.id)
    changes.push({ op: 'put', shape, at })
  })
  return changes.length > 0 && stage.change(changes)
}

const commands: Partial<Record<CommandName, Command>> = {
  undo: (stage) => !stage.readOnly && stage.document.undo(),
  redo: (stage) => !stage.readOnly && stage.document.redo(),
  delete: (stage) => {
    const shapes = open(stage)
    return shapes.length > 0 && stage.change(shapes.map((s): Change => ({ op: 'remove', shape: s.id })))
  },
  duplicate: (stage) => add(stage, stage.selected(), stage.reach(12)),
  copy: (stage, clipboard) => {
    const shapes = stage.selected()
    if (shapes.length > 0) clipboard.shapes = shapes
    return shapes.length > 0
  },
  // Where they were, if that place is free; otherwise a little aside.
  paste: (stage, clipboard) => {
    const taken = clipboard.shapes.some((s) => stage.document.shape(s.id))
    return clipboard.shapes.length > 0 && add(stage, clipboard.shapes, taken ? stage.reach(12) : 0)
  },
  'select-all': (stage) => {
    stage.select(stage.document.shapes.filter((s) => !stage.isHidden(s) && !stage.isLocked(s)).map((s) => s.id))
    return stage.selection.length > 0
  },
  'select-none': (stage) => {
    const had = stage.selection.length > 0
    stage.select([])
    return had
  },
  cancel: (stage) => {
    const had = stage.selection.length > 0
    stage.select([])
    return had
  },
  'select-next': step(1),
  'select-previous': step(-1),
  merge,
  simplify,
  mirror,
  'toggle-visible': toggleAll,
  'toggle-occluded': flag('occluded'),
  'toggle-truncated': flag('truncated'),
  'to-front': reorder((_, n) => n - 1, false),
  'to-back': reorder(() => 0, true),
  forward: reorder((at, n) => Math.min(n - 1, at + 1), true),
  backward: reorder((at) => Math.max(0, at - 1), false),
  'order-lines': orderLines,
  'rotate-left': rotate(-1),
  'rotate-right': rotate(1),
  'nudge-left': nudge(-1, 0),
  'nudge-right': nudge(1, 0),
  'nudge-up': nudge(0, -1),
  'nudge-down': nudge(0, 1),
  'nudge-left-far': nudge(-10, 0),
  'nudge-right-far': nudge(10, 0),
  'nudge-up-far': nudge(0, -10),
  'nudge-down-far': nudge(0, 10),
}

export function runCommand(name: CommandName, stage: Stage, clipboard: Clipboard): boolean {
  return commands[name]?.(stage, clipboard) ?? false
}
