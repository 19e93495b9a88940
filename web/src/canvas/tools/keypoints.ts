// Keypoints: joint after joint in the order of the label's skeleton, or the whole skeleton in a box.
import { layoutFrom, layoutOf, placed, unset } from '../geometry/keypoints'
import { rectOf, type Point, type Rect } from '../geometry/point'
import { newId, type Keypoint, type KeypointsShape, type Skeleton } from '../model'
import type { Stage } from '../stage'
import type { MakeTool, Pointer } from './tool'

const make = (stage: Stage, points: readonly Keypoint[], id: string): KeypointsShape => ({ id, type: 'keypoints', ...(stage.labelName !== undefined && { label: stage.labelName }), points })

export const keypoints: MakeTool = (stage) => {
  let points: Keypoint[] = []
  let skeleton: Skeleton | undefined
  const tell = (): void => {
    const on = points.length > 0 && skeleton && points.length < skeleton.keypoints.length
    stage.emit({ type: 'keypoint', index: on ? points.length : null, name: on ? (skeleton?.keypoints[points.length] ?? null) : null })
  }
  const clear = (): void => {
    points = []
    stage.show(null)
    tell()
  }
  const rest = (): Keypoint[] => Array.from({ length: Math.max(0, (skeleton?.keypoints.length ?? 0) - points.length) }, () => unset)
  const finish = (): void => {
    const all = [...points, ...rest()]
    clear()
    stage.put([make(stage, all, newId())], { made: true })
  }
  const show = (p?: Point): void => {
    const next: Keypoint[] = p ? [[p.x, p.y, 1]] : []
    stage.show({ shapes: [make(stage, [...points, ...next, ...rest().slice(next.length)], 'draft')] })
  }
  const add = (point: Keypoint): void => {
    points.push(point)
    if (points.length >= (skeleton?.keypoints.length ?? 0)) return finish()
    show()
    tell()
  }
  return {
    cursor: () => 'crosshair',
    busy: () => points.length > 0,
    cancel: clear,
    down(p: Pointer) {
      if (stage.readOnly) return void stage.refuse('read-only')
      if (points.length === 0) skeleton = stage.style(stage.labelName)?.skeleton
      if (!skeleton || skeleton.keypoints.length === 0) return void stage.refuse('no-skeleton')
      const at = stage.within(p)
      add([at.x, at.y, p.alt ? 1 : 2])
    },
    move: (p) => void (points.length > 0 && show(stage.within(p))),
    command(name) {
      if (points.length === 0) return false
      const last = points.at(-1)
      if (name === 'finish') finish()
      else if (name === 'cancel') clear()
      else if (name === 'skip-point') add(unset)
      else if (name === 'toggle-visible' && last && last[2] > 0) {
        points[points.length - 1] = [last[0], last[1], last[2] === 2 ? 1 : 2]
        show()
      } else if (name === 'undo' || name === 'remove-point') {
        points.pop()
        if (points.length === 0) clear()
        else {
          show()
          tell()
        }
      } else return false
      return true
    },
  }
}

/** The pose of the last shape of the label is used again; it is nearer than any that we could make up. */
function poseFor(stage: Stage, skeleton: Skeleton): (readonly [number, number])[] {
  const last = stage.document.shapes.findLast((s): s is KeypointsShape => s.type === 'keypoints' && s.label === stage.labelName && s.points.length === skeleton.keypoints.length)
  return (last && layoutFrom(last.points)) ?? layoutOf(skeleton)
}

export const wholeSkeleton: MakeTool = (stage) => {
  let start: Point | null = null
  let pose: (readonly [number, number])[] = []
  const clear = (): void => {
    start = null
    stage.show(null)
  }
  const rect = (p: Point): Rect => rectOf(start as Point, stage.within(p))
  return {
    cursor: () => 'crosshair',
    busy: () => start !== null,
    cancel: clear,
    down(p) {
      if (stage.readOnly) return void stage.refuse('read-only')
      const skeleton = stage.style(stage.labelName)?.skeleton
      if (!skeleton || skeleton.keypoints.length === 0) return void stage.refuse('no-skeleton')
      pose = poseFor(stage, skeleton)
      start = stage.within(p)
    },
    move: (p) => void (start && stage.show({ shapes: [make(stage, placed(pose, rect(p)), 'draft')], band: rect(p) })),
    up(p) {
      if (!start) return
      const r = rect(p)
      clear()
      if (r.maxX - r.minX < stage.reach(6) || r.maxY - r.minY < stage.reach(6)) return void stage.refuse('too-small')
      stage.put([make(stage, placed(pose, r), newId())], { made: true })
    },
  }
}
