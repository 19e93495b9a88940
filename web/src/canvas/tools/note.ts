// A place for a note: a click tells where. What is written there is the page's business.
import { round } from '../geometry/point'
import type { MakeTool } from './tool'

export const note: MakeTool = (stage) => ({
  cursor: () => 'crosshair',
  busy: () => false,
  cancel: () => undefined,
  down(p) {
    const at = stage.within(p)
    stage.emit({ type: 'place', x: round(at.x), y: round(at.y) })
  },
})
