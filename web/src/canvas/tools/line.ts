// Drawing a line point by point: shared by polygon, hole and cut. A drag adds points on the way, as a free hand would.
import type { Point } from '../geometry/point'
import { distance, round } from '../geometry/point'
import { untangled } from '../geometry/boolean'
import type { Snapped } from '../geometry/snap'
import type { Stage } from '../stage'
import type { Tool } from './tool'

export interface LineOptions {
  /** Ends where it began: a click on the first point finishes it. */
  readonly closed: boolean
  readonly least: number
  /** The line is finished; false keeps it for another try. */
  done(points: readonly Point[]): boolean
}

const most = 20_000

export function createLine(stage: Stage, { closed, least, done }: LineOptions): Tool {
  let line: Point[] = []
  let held = false
  let snapped: Snapped | null = null

  const place = (p: Point): Point => {
    const found = stage.snap(stage.within(p))
    snapped = found.snapped
    return { x: round(found.point.x), y: round(found.point.y) }
  }
  const show = (toward?: Point): void => stage.show(line.length > 0 || snapped ? { line: [...line], closed, snapped, ...(toward && { toward }) } : null)
  const clear = (): void => {
    line = []
    held = false
    snapped = null
    stage.show(null)
  }
  const finish = (): boolean => {
    if (line.length < least) return stage.refuse('too-few-points')
    const points = line
    const saved = untangled(() => done(points))
    if (saved === null) stage.refuse('too-many-points')
    if (saved) clear()
    else show()
    return true
  }
  const first = (): Point | undefined => line[0]
  const atFirst = (p: Point): boolean => closed && line.length >= least && distance(p, first() as Point) <= stage.reach(8)

  return {
    cursor: () => 'crosshair',
    busy: () => line.length > 0,
    cancel: clear,
    down(p) {
      if (stage.readOnly) return void stage.refuse('read-only')
      if (atFirst(p)) return void finish()
      const at = place(p)
      const last = line.at(-1)
      if (last && last.x === at.x && last.y === at.y) return
      if (line.length >= most) return void stage.refuse('too-many-points')
      line.push(at)
      held = true
      show()
    },
    move(p) {
      const last = line.at(-1)
      if (held && last && line.length < most && distance(last, p) > stage.reach(14)) line.push(place(p))
      show(line.length > 0 ? place(p) : (place(p), undefined))
    },
    up: () => void (held = false),
    double() {
      if (line.length >= least) finish()
    },
    command(name) {
      if (line.length === 0) return false
      if (name === 'finish') finish()
      else if (name === 'cancel') clear()
      else if (name === 'remove-point' || name === 'undo' || name === 'delete') {
        line.pop()
        show()
      } else return false
      return true
    },
  }
}
