import type { Canvas, CanvasEvent } from './api'

export type * from './api'

/** Makes a canvas that fills its host. */
export function createCanvas(...[host]: [HTMLElement, { onEvent?: (event: CanvasEvent) => void }?]): Canvas {
  throw new Error(`${host.tagName}: the drawing part of the canvas is not on this branch yet`)
}
