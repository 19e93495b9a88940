// A transparent canvas as large as the window.
import { resize } from './still'
import type { Size } from './view'

export interface Sheet {
  readonly canvas: HTMLCanvasElement
  readonly context: CanvasRenderingContext2D
  /** Wipes it and, when there is something to paint, has that painted. One that stays blank is left alone: touching a canvas
   * costs the browser a copy of it. */
  paint(window: Size, ratio: number, something: boolean, run: (context: CanvasRenderingContext2D) => void): void
}

export function createSheet(): Sheet {
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no 2d context')
  canvas.style.cssText = 'position:absolute;left:0;top:0;pointer-events:none'
  let blank = true
  return {
    canvas,
    context,
    paint(window, ratio, something, run) {
      resize(canvas, window.width, window.height, ratio, blank)
      blank = !something
      if (blank) return
      context.setTransform(ratio, 0, 0, ratio, 0, 0)
      run(context)
    },
  }
}
