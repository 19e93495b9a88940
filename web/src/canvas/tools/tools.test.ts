import { beforeEach, describe, expect, it } from 'vitest'
import type { BoxShape, KeypointsShape, PolygonShape, Shape } from '../model'
import { boxAt, open, square, type Hand } from './hand'
import { tools } from './registry'

let h: Hand

describe('boxes', () => {
  it('are drawn by a drag, in any direction, cut at the edge, rounded', () => {
    h = open('detection', 'box')
    h.drag([50.1234, 40], [-30, 20.5678])
    const { id, ...rest } = h.only<BoxShape>()
    expect(rest).toEqual({ type: 'box', label: 'cat', x: 0, y: 20.57, w: 50.12, h: 19.43 })
    expect(h.stage.selection).toEqual([id])
    expect(h.events).toContainEqual({ type: 'made', ids: [id] })
  })
  it('are drawn by two clicks', () => {
    h = open('detection', 'box')
    h.click(10, 10)
    expect(h.document.shapes).toHaveLength(0)
    h.click(30, 50)
    expect(h.only()).toMatchObject({ x: 10, y: 10, w: 20, h: 40 })
  })
  it('are drawn by four extreme points', () => {
    h = open('detection', 'box-extreme')
    for (const [x, y] of [[20, 5], [10, 20], [25, 40], [60, 22]] as const) h.click(x, y)
    expect(h.only()).toMatchObject({ x: 10, y: 5, w: 50, h: 35 })
  })
  it('are turned by an edge and a width', () => {
    h = open('rotated-detection', 'rotated')
    h.click(50, 50)
    h.click(90, 50)
    h.click(70, 70)
    expect(h.only()).toMatchObject({ x: 50, y: 50, w: 40, h: 20 })
    h = open('rotated-detection', 'rotated')
    h.click(50, 30)
    h.click(80, 60)
    h.click(70, 80)
    expect(h.only<BoxShape>().angle).toBeCloseTo(45)
  })
  it('without area are refused, and so is what the type does not take', () => {
    h = open('detection', 'box')
    h.click(10, 10)
    h.click(10, 10)
    expect(h.refused()).toEqual(['too-small'])
    h = open('segmentation', 'box')
    h.drag([10, 10], [50, 50])
    expect(h.refused()).toEqual(['wrong-type'])
    h = open('detection', 'box', [], { readOnly: true })
    h.drag([10, 10], [50, 50])
    expect(h.refused()).toContain('read-only')
    expect(h.document.shapes).toHaveLength(0)
  })
})

describe('select', () => {
  beforeEach(() => void (h = open('detection', 'select', [boxAt('a', 10, 10, 40, 40), boxAt('b', 100, 10, 40, 40), boxAt('locked', 60, 60, 20, 20)])))
  it('moves within the picture, one step of undo', () => {
    h.drag([30, 30], [-100, 45])
    expect(h.document.shape('a')).toMatchObject({ x: 0, y: 25 })
    expect(h.run('undo')).toBe(true)
    expect(h.document.shape('a')).toMatchObject({ x: 10, y: 10 })
    expect(h.run('undo')).toBe(false)
  })
  it('resizes by a corner', () => {
    h.click(30, 30)
    h.drag([50, 50], [70, 80])
    expect(h.document.shape('a')).toMatchObject({ x: 10, y: 10, w: 60, h: 70 })
  })
  it('adds with shift and moves all of them', () => {
    h.click(30, 30)
    h.click(120, 30, { shift: true })
    expect(h.stage.selection).toEqual(['a', 'b'])
    h.drag([30, 30], [40, 30])
    expect(h.document.shapes.map((s) => (s as BoxShape).x)).toEqual([20, 110, 60])
    h.click(120, 30, { shift: true })
    expect(h.stage.selection).toEqual(['a'])
  })
  it('takes what a rubber band holds; leftward also what it touches; nothing locked', () => {
    h.drag([5, 5], [120, 90])
    expect(h.stage.selection).toEqual(['a'])
    h.drag([199, 99], [45, 5])
    expect(h.stage.selection).toEqual(['a', 'b'])
    h.click(70, 70)
    expect(h.stage.selection).toEqual([])
  })
  it('nudges, duplicates, copies, pastes, deletes', () => {
    h.click(30, 30)
    h.run('nudge-right')
    h.run('nudge-down-far')
    expect(h.document.shape('a')).toMatchObject({ x: 11, y: 20 })
    h.run('duplicate')
    expect(h.document.shapes).toHaveLength(4)
    h.run('copy')
    h.run('delete')
    h.run('paste')
    expect(h.document.shapes).toHaveLength(4)
    h.run('select-all')
    expect(h.stage.selection).not.toContain('locked')
    h.run('delete')
    expect(h.document.shapes.map((s) => s.id)).toEqual(['locked'])
  })
  it('leaves what is locked as it is, also when it was selected elsewhere, and says so', () => {
    const before = h.document.shape('locked')
    h.stage.select(['locked'])
    for (const command of ['delete', 'nudge-left', 'to-front', 'toggle-occluded'] as const) expect(h.run(command)).toBe(false)
    expect(h.document.shape('locked')).toBe(before)
    expect(h.refused()).toContain('locked')
    h.stage.select(['a', 'locked'])
    h.run('delete')
    expect(h.document.shapes.map((s) => s.id)).toEqual(['b', 'locked'])
  })
  it('cuts no hole into what is locked', () => {
    h = open('segmentation', 'hole', [square('locked', 10, 10, 50)])
    h.stage.select(['locked'])
    for (const [x, y] of [[20, 20], [40, 20], [40, 40], [20, 20]] as const) h.click(x, y)
    expect(h.only<PolygonShape>().holes).toBeUndefined()
  })
  it('changes the order and flags', () => {
    h.stage.select(['a'])
    h.run('to-front')
    expect(h.document.indexOf('a')).toBe(2)
    h.run('backward')
    expect(h.document.indexOf('a')).toBe(1)
    h.run('toggle-occluded')
    expect(h.document.shape('a')?.occluded).toBe(true)
    h.run('toggle-occluded')
    expect(h.document.shape('a')).not.toHaveProperty('occluded')
  })
  it('forgets a shape that somebody else removed', () => {
    h.click(30, 30)
    h.document.receive({ op: 'remove', shape: 'a' })
    expect(h.stage.selection).toEqual([])
  })
  it('turns with the handle above', () => {
    h = open('rotated-detection', 'select', [boxAt('a', 50, 40, 40, 20)])
    h.stage.select(['a'])
    h.drag([70, 16], [110, 50], { shift: true })
    expect(h.document.shape('a')).toMatchObject({ angle: 90 })
    h.run('rotate-left')
    expect(h.document.shape('a')).toMatchObject({ angle: 89 })
  })
})

describe('keypoints', () => {
  it('are set in order; alt hides, a command leaves out', () => {
    h = open('keypoints', 'keypoints')
    h.click(50, 50)
    expect(h.events).toContainEqual({ type: 'keypoint', index: 1, name: 'left_eye' })
    h.click(60, 40, { alt: true })
    h.run('skip-point')
    expect(h.only<KeypointsShape>().points).toEqual([[50, 50, 2], [60, 40, 1], [0, 0, 0]])
  })
  it('come as a whole skeleton and are moved one by one', () => {
    h = open('keypoints', 'skeleton')
    h.drag([20, 20], [60, 80])
    const points = h.only<KeypointsShape>().points
    expect(points).toHaveLength(3)
    expect(points.every(([x, y, v]) => x >= 20 && x <= 60 && y >= 20 && y <= 80 && v === 2)).toBe(true)
    h.tool = tools.select(h.stage)
    const [x, y] = h.only<KeypointsShape>().points[0] as readonly [number, number, number]
    h.drag([x, y], [100, 90])
    expect(h.only<KeypointsShape>().points[0]).toEqual([100, 90, 2])
    h.click(100, 90)
    h.run('toggle-visible')
    expect(h.only<KeypointsShape>().points[0]).toEqual([100, 90, 1])
    const before = h.only<KeypointsShape>().points
    h.run('mirror')
    const [least, most] = [Math.min(...before.map((k) => k[0])), Math.max(...before.map((k) => k[0]))]
    expect(h.only<KeypointsShape>().points[1]?.[0]).toBeCloseTo(least + most - (before[2]?.[0] ?? 0))
  })
  it('need a skeleton', () => {
    h = open('keypoints', 'keypoints', [], { noLabel: true })
    h.click(1, 1)
    expect(h.refused()).toEqual(['no-skeleton'])
  })
})

describe('reading order', () => {
  const words = [boxAt('d', 100, 60, 40, 10), boxAt('b', 100, 12, 40, 10), boxAt('c', 10, 60, 40, 10), boxAt('a', 10, 10, 40, 10)]
  it('is set by clicks', () => {
    h = open('ocr', 'order', words)
    for (const [x, y] of [[30, 15], [120, 17], [30, 65], [120, 65]] as const) h.click(x, y)
    expect(h.document.shapes.map((s) => s.id)).toEqual(['a', 'b', 'c', 'd'])
  })
  it('is found by lines', () => {
    h = open('ocr', 'select', words)
    h.run('order-lines')
    expect(h.document.shapes.map((s) => s.id)).toEqual(['a', 'b', 'c', 'd'])
    expect(h.run('order-lines')).toBe(false)
  })
})

describe('broken annotations', () => {
  it('are neither hit nor in the way', () => {
    const broken = [
      { id: 'nan', type: 'polygon', rings: [[NaN, 1, 2, 3]] }, { id: 'none', type: 'polygon' }, { id: 'odd', type: 'box', x: 1, y: NaN, w: 5, h: 5 },
      { id: 'mask', type: 'mask', size: [10, 10], counts: '~~~' }, { id: 'what', type: 'blob' }, { id: 'joints', type: 'keypoints' },
      { id: 'long', type: 'polygon', rings: [Array.from({ length: 40_000 }, (_, i) => (i * 7919) % 100)] },
    ] as unknown as Shape[]
    h = open('segmentation', 'select', [...broken, square('a', 120, 10, 40)])
    h.stage.select(['long'])
    h.run('nudge-right')
    expect(h.refused()).toEqual(['too-many-points'])
    for (const { id } of broken.slice(0, -1)) {
      h.stage.select([id])
      for (const name of ['nudge-left', 'simplify', 'mirror', 'toggle-visible', 'toggle-occluded', 'duplicate', 'to-front', 'merge', 'rotate-left'] as const) h.run(name)
      h.tool.cursor({ x: 1, y: 1 })
      h.drag([1, 1], [9, 9])
    }
    h.click(140, 30)
    expect(h.stage.selection).toEqual(['a'])
    h.drag([0, 0], [199, 99])
    h.run('select-all')
    h.run('delete')
    expect(h.document.shapes).toHaveLength(0)
  })
})
