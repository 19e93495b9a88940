// The reading order: shapes clicked one after the other come first, in that order.
import type { MakeTool } from './tool'

export const order: MakeTool = (stage) => {
  let next = 0
  return {
    cursor: () => 'pointer',
    busy: () => next > 0,
    cancel: () => void (next = 0),
    down(p) {
      if (stage.readOnly) return void stage.refuse('read-only')
      const shape = stage.hit(p)
      if (!shape) return
      // A shape that has its number already is not numbered again.
      if (stage.document.indexOf(shape.id) < next) return
      stage.change([{ op: 'put', shape, at: next }])
      next += 1
      stage.select([shape.id])
    },
    command(name) {
      if (name !== 'cancel' && name !== 'finish') {
        if (name === 'undo' && next > 0) next -= 1
        return false
      }
      const was = next > 0
      next = 0
      return was
    },
  }
}
