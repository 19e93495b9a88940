// Mouse, pen and fingers. One finger, the pen and the first mouse button are the tool's; the middle button, the held space
// key and two fingers move the picture; the wheel and the distance of two fingers scale it about where they are.
import type { Point } from './geometry/point'
import type { Pointer } from './tools/tool'

export interface InputTarget {
  /** Place in the picture of a place on the screen. */
  toPicture(p: Point): Point
  panning(): boolean
  down(p: Pointer, screen: Point): void
  move(p: Pointer): void
  up(p: Pointer): void
  double(p: Pointer): void
  /** The stroke is taken back: a second finger came, or the browser took the pointer away. */
  cancel(): void
  pan(dx: number, dy: number): void
  zoom(factor: number, at: Point): void
  hover(p: Pointer | null): void
  menu(p: Pointer, screen: Point): void
}

type Gesture = 'none' | 'tool' | 'pan' | 'pinch'

/** While a pen is in use, fingers only move the picture: the palm lies on the screen. */
const palmTime = 2_000

export function listenTo(element: HTMLElement, target: InputTarget): () => void {
  const fingers = new Map<number, Point>()
  let gesture: Gesture = 'none'
  let last: Point = { x: 0, y: 0 }
  let penAt = -Infinity
  let box = element.getBoundingClientRect()

  const screenOf = (e: MouseEvent): Point => ({ x: e.clientX - box.left, y: e.clientY - box.top })
  const pointerOf = (e: MouseEvent): Pointer => ({ ...target.toPicture(screenOf(e)), shift: e.shiftKey, ctrl: e.ctrlKey || e.metaKey, alt: e.altKey })
  const middle = (): Point => {
    const all = [...fingers.values()]
    return { x: all.reduce((s, p) => s + p.x, 0) / all.length, y: all.reduce((s, p) => s + p.y, 0) / all.length }
  }
  const span = (): number => {
    const [a, b] = [...fingers.values()]
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0
  }

  function down(e: PointerEvent): void {
    box = element.getBoundingClientRect()
    const at = screenOf(e)
    if (e.pointerType === 'pen') penAt = e.timeStamp
    element.setPointerCapture(e.pointerId)
    if (e.pointerType === 'touch') {
      fingers.set(e.pointerId, at)
      if (fingers.size === 2) {
        if (gesture === 'tool') target.cancel()
        gesture = 'pinch'
        last = middle()
        return
      }
    }
    if (gesture !== 'none' || e.button === 2) return
    last = at
    const palm = e.pointerType === 'touch' && e.timeStamp - penAt < palmTime
    gesture = e.button === 1 || target.panning() || palm ? 'pan' : 'tool'
    if (gesture === 'tool') target.down(pointerOf(e), at)
    if (e.button === 1) e.preventDefault()
  }

  function move(e: PointerEvent): void {
    const at = screenOf(e)
    if (e.pointerType === 'pen') penAt = e.timeStamp
    if (gesture === 'pinch' && fingers.has(e.pointerId)) {
      const before = span()
      fingers.set(e.pointerId, at)
      const now = middle()
      target.pan(now.x - last.x, now.y - last.y)
      if (before > 0 && span() > 0) target.zoom(span() / before, now)
      last = now
      return
    }
    if (gesture === 'pan') {
      target.pan(at.x - last.x, at.y - last.y)
      last = at
      return
    }
    const p = pointerOf(e)
    // A free hand is finer than the frames: the points in between are there too.
    if (gesture === 'tool') for (const one of e.getCoalescedEvents?.() ?? []) if (one !== e) target.move(pointerOf(one))
    target.move(p)
    target.hover(p)
  }

  function up(e: PointerEvent): void {
    fingers.delete(e.pointerId)
    if (gesture === 'tool' && e.button !== 2) {
      gesture = 'none'
      target.up(pointerOf(e))
    } else if (gesture === 'pinch' ? fingers.size === 0 : gesture === 'pan') gesture = 'none'
    else if (gesture === 'pinch') last = middle()
  }

  function cancelled(e: PointerEvent): void {
    fingers.delete(e.pointerId)
    if (gesture === 'tool') target.cancel()
    if (fingers.size === 0) gesture = 'none'
  }

  function wheel(e: WheelEvent): void {
    e.preventDefault()
    box = element.getBoundingClientRect()
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1
    if (e.shiftKey) return target.pan(-(e.deltaX || e.deltaY) * unit, 0)
    // A pinch on a touch pad comes as a wheel with ctrl and small steps.
    target.zoom(Math.exp(Math.max(-1, Math.min(1, -e.deltaY * unit * (e.ctrlKey ? 0.01 : 0.002)))), screenOf(e))
  }

  const entered = (): void => void (box = element.getBoundingClientRect())
  const left = (): void => target.hover(null)
  const double = (e: MouseEvent): void => target.double(pointerOf(e))
  const menu = (e: MouseEvent): void => {
    e.preventDefault()
    box = element.getBoundingClientRect()
    target.menu(pointerOf(e), screenOf(e))
  }
  const stop = new AbortController()
  const how = { signal: stop.signal }
  element.style.touchAction = 'none'
  element.addEventListener('pointerdown', down, how)
  element.addEventListener('pointermove', move, how)
  element.addEventListener('pointerup', up, how)
  element.addEventListener('pointercancel', cancelled, how)
  element.addEventListener('pointerenter', entered, how)
  element.addEventListener('pointerleave', left, how)
  element.addEventListener('dblclick', double, how)
  element.addEventListener('contextmenu', menu, how)
  element.addEventListener('wheel', wheel, { ...how, passive: false })
  return () => stop.abort()
}
