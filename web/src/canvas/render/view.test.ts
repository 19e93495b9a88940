import { describe, expect, it } from 'vitest'
import { fit, kept, shown, toPicture, toScreen, visible, zoomed } from './view'

const [picture, window] = [{ width: 1000, height: 500 }, { width: 532, height: 400 }]

describe('the view', () => {
  it('fits the picture into the window', () => {
    const v = fit(picture, window)
    expect(v).toEqual({ scale: 0.5, x: 16, y: 75 })
    expect(toPicture(v, toScreen(v, { x: 12, y: 34 }))).toEqual({ x: 12, y: 34 })
    expect(visible(v, window)).toEqual({ minX: -32, minY: -150, maxX: 1032, maxY: 650 })
    expect(fit({ width: 0, height: 0 }, window).scale).toBe(1)
  })
  it('keeps the place under the pointer while zooming', () => {
    const v = fit(picture, window)
    const at = { x: 100, y: 200 }
    const near = zoomed(v, 4, at, picture, window)
    expect(near.scale).toBe(4)
    expect(toPicture(near, at).x).toBeCloseTo(toPicture(v, at).x)
    expect(zoomed(v, 1e9, at, picture, window).scale).toBe(64)
    expect(zoomed(v, NaN, at, picture, window).scale).toBe(0.5)
  })
  it('never loses the picture', () => {
    expect(kept({ scale: 1, x: -9999, y: 9999 }, picture, window)).toEqual({ scale: 1, x: -960, y: 360 })
  })
  it('shows a shape: far ones are brought here, small ones enlarged, those in sight left', () => {
    const v = { scale: 1, x: 0, y: 0 }
    expect(shown(v, { minX: 10, minY: 10, maxX: 60, maxY: 60 }, window)).toBe(v)
    expect(shown(v, { minX: 900, minY: 10, maxX: 940, maxY: 50 }, window)).toEqual({ scale: 1, x: 266 - 920, y: 170 })
    expect(shown(v, { minX: 10, minY: 10, maxX: 12, maxY: 12 }, window).scale).toBe(24)
    expect(shown({ ...v, scale: 10 }, { minX: 0, minY: 0, maxX: 1000, maxY: 100 }, window).scale).toBeCloseTo(0.4256)
  })
})
