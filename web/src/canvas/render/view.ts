// Where the picture stands in the window. Screen coordinates are CSS pixels from the host's upper left corner.
import type { Viewport } from '../api'
import { clamp, type Point, type Rect } from '../geometry/point'

export interface Size {
  readonly width: number
  readonly height: number
}

const most = 64

export const toScreen = (v: Viewport, p: Point): Point => ({ x: p.x * v.scale + v.x, y: p.y * v.scale + v.y })
export const toPicture = (v: Viewport, p: Point): Point => ({ x: (p.x - v.x) / v.scale, y: (p.y - v.y) / v.scale })

/** The part of the picture's plane that the window shows. */
export function visible(v: Viewport, window: Size): Rect {
  const [a, b] = [toPicture(v, { x: 0, y: 0 }), toPicture(v, { x: window.width, y: window.height })]
  return { minX: a.x, minY: a.y, maxX: b.x, maxY: b.y }
}

export function fit(picture: Size, window: Size, space = 16): Viewport {
  const room = { width: Math.max(1, window.width - 2 * space), height: Math.max(1, window.height - 2 * space) }
  const scale = picture.width > 0 && picture.height > 0 ? Math.min(room.width / picture.width, room.height / picture.height, most) : 1
  return { scale, x: (window.width - picture.width * scale) / 2, y: (window.height - picture.height * scale) / 2 }
}

/** The same place of the picture stays under `at`. */
export function zoomed(v: Viewport, scale: number, at: Point, picture: Size, window: Size): Viewport {
  const least = Math.min(0.05, fit(picture, window).scale / 4)
  const s = clamp(Number.isFinite(scale) ? scale : v.scale, least, most)
  const p = toPicture(v, at)
  return { scale: s, x: at.x - p.x * s, y: at.y - p.y * s }
}

/** A part of the picture always stays in sight. */
export function kept(v: Viewport, picture: Size, window: Size): Viewport {
  const stay = 40
  return {
    scale: v.scale,
    x: clamp(v.x, stay - picture.width * v.scale, window.width - stay),
    y: clamp(v.y, stay - picture.height * v.scale, window.height - stay),
  }
}

/** Shows a rectangle whole, with space around it; nearer only when it would be too small to see. */
export function shown(v: Viewport, r: Rect, window: Size): Viewport {
  const [w, h] = [Math.max(1, r.maxX - r.minX), Math.max(1, r.maxY - r.minY)]
  const largest = Math.min((window.width * 0.8) / w, (window.height * 0.8) / h, most)
  const scale = v.scale > largest ? largest : Math.max(w, h) * v.scale < 24 ? Math.min(largest, 48 / Math.max(w, h)) : v.scale
  const seen = visible(v, window)
  const inSight = scale === v.scale && r.minX >= seen.minX && r.maxX <= seen.maxX && r.minY >= seen.minY && r.maxY <= seen.maxY
  if (inSight) return v
  return { scale, x: window.width / 2 - ((r.minX + r.maxX) / 2) * scale, y: window.height / 2 - ((r.minY + r.maxY) / 2) * scale }
}
