// The whole picture small in a corner, with the part that the window shows. A click or drag goes there.
import type { Viewport } from '../api'
import type { Point } from '../geometry/point'
import { resize } from './still'
import { visible, type Size } from './view'

const side = 168

export interface Minimap {
  readonly element: HTMLElement
  show(on: boolean): void
  /** Draws again when something is other than last time. */
  frame(view: Viewport, window: Size, picture: Size, image: HTMLCanvasElement | null, ratio: number, ink: string): void
  close(): void
}

export function createMinimap(go: (p: Point) => void): Minimap {
  const element = document.createElement('canvas')
  element.style.cssText = 'position:absolute;right:12px;bottom:12px;border-radius:4px;box-shadow:0 1px 6px rgb(0 0 0 / 40%);cursor:crosshair;touch-action:none;background:#55605f'
  const context = element.getContext('2d')
  // The picture is scaled down once; drawing it whole in every frame would cost more than all shapes.
  const small = document.createElement('canvas')
  let smallOf: HTMLCanvasElement | null = null
  let on = false
  let scale = 1
  let last = ''

  const follow = (e: PointerEvent): void => {
    e.stopPropagation()
    if (e.type === 'pointerdown') element.setPointerCapture(e.pointerId)
    if (e.buttons === 0) return
    go({ x: e.offsetX / scale, y: e.offsetY / scale })
  }
  element.addEventListener('pointerdown', follow)
  element.addEventListener('pointermove', follow)

  return {
    element,
    show(next) {
      on = next
      element.style.display = on ? '' : 'none'
      last = ''
    },
    frame(view, window, picture, image, ratio, ink) {
      if (!on || !context || picture.width <= 0 || picture.height <= 0) return
      const r = visible(view, window)
      const now = [r.minX, r.minY, r.maxX, r.maxY, picture.width, picture.height, ratio, ink].join()
      if (now === last && smallOf === image) return
      last = now
      scale = side / Math.max(picture.width, picture.height)
      const [w, h] = [picture.width * scale, picture.height * scale]
      if (image && smallOf !== image) {
        resize(small, w, h, ratio)
        small.getContext('2d')?.drawImage(image, 0, 0, small.width, small.height)
      }
      smallOf = image
      resize(element, w, h, ratio)
      context.setTransform(ratio, 0, 0, ratio, 0, 0)
      if (image) context.drawImage(small, 0, 0, w, h)
      context.strokeStyle = ink
      context.lineWidth = 2
      const [x0, y0] = [Math.max(1, r.minX * scale), Math.max(1, r.minY * scale)]
      context.strokeRect(x0, y0, Math.min(w - 1, r.maxX * scale) - x0, Math.min(h - 1, r.maxY * scale) - y0)
    },
    close() {
      smallOf = null
      small.width = small.height = 1
    },
  }
}
