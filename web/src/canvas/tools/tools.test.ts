import { beforeEach, describe, expect, it } from 'vitest'
import type { CanvasEvent, CommandName, ToolName, ViewSettings } from '../api'
import { runCommand } from '../commands'
import { createDocument, type CanvasDocument } from '../document'
import { regionArea } from '../geometry/boolean'
import type { AnnotationType, BoxShape, KeypointsShape, LabelStyle, PolygonShape, Shape } from '../model'
import { createStage, type Stage } from '../stage'
import { tools } from './registry'
import type { Pointer, Tool } from './tool'

const joints = ['nose', 'left_eye', 'right_eye']
const style: LabelStyle = { name: 'cat', color: '#ff0000', skeleton: { keypoints: joints, edges: [[0, 1], [0, 2]] } }
const settings: ViewSettings = {
  brightness: 1, contrast: 1, grid: 0, minimap: false, opacity: 0.2, names: true, texts: true, hidden: new Set(), locked: new Set(['locked']), snap: true, smooth: false, theme: 'light',
}
const clipboard: { shapes: readonly Shape[] } = { shapes: [] }
let document: CanvasDocument
let stage: Stage
let tool: Tool
let events: CanvasEvent[]

/** One screen pixel is one pixel of a picture of 200 x 100. */
function open(type: AnnotationType, name: ToolName, shapes: Shape[] = [], readOnly = false): void {
  document = createDocument({ annotation: { shapes }, type, width: 200, height: 100 })
  events = []
  stage = createStage({ document, readOnly, settings: () => settings, scale: () => 1, labels: () => new Map([['cat', style]]), labelName: () => 'cat', emit: (e) => events.push(e), touched: () => undefined, changed: () => undefined })
  tool = tools[name](stage)
}
const at = (x: number, y: number, keys: Partial<Pointer> = {}): Pointer => ({ x, y, shift: false, ctrl: false, alt: false, ...keys })
function click(x: number, y: number, keys: Partial<Pointer> = {}): void {
  tool.move?.(at(x, y, keys))
  tool.down?.(at(x, y, keys))
  tool.up?.(at(x, y, keys))
}
function drag(from: [number, number], to: [number, number], keys: Partial<Pointer> = {}): void {
  tool.down?.(at(...from, keys))
  for (let i = 1; i <= 10; i += 1) tool.move?.(at(from[0] + ((to[0] - from[0]) * i) / 10, from[1] + ((to[1] - from[1]) * i) / 10, keys))
  tool.up?.(at(...to, keys))
}
const run = (name: CommandName): boolean => tool.command?.(name) === true || runCommand(name, stage, clipboard)
const only = <T extends Shape>(): T => {
  expect(document.shapes).toHaveLength(1)
  return document.shapes[0] as T
}
const refused = (): string[] => events.flatMap((e) => (e.type === 'refused' ? [e.reason] : []))
const square = (id: string, x: number, y: number, size: number): PolygonShape => ({ id, type: 'polygon', label: 'cat', rings: [[x, y, x + size, y, x + size, y + size, x, y + size]] })
const boxAt = (id: string, x: number, y: number, w: number, h: number): BoxShape => ({ id, type: 'box', label: 'cat', x, y, w, h })

describe('boxes', () => {
  it('are drawn by a drag, in any direction, cut at the edge, rounded', () => {
    open('detection', 'box')
    drag([50.1234, 40], [-30, 20.5678])
    const { id, ...rest } = only<BoxShape>()
    expect(rest).toEqual({ type: 'box', label: 'cat', x: 0, y: 20.57, w: 50.12, h: 19.43 })
    expect(stage.selection).toEqual([id])
    expect(events).toContainEqual({ type: 'made', ids: [id] })
  })
  it('are drawn by two clicks', () => {
    open('detection', 'box')
    click(10, 10)
    expect(document.shapes).toHaveLength(0)
    click(30, 50)
    expect(only()).toMatchObject({ x: 10, y: 10, w: 20, h: 40 })
  })
  it('are drawn by four extreme points', () => {
    open('detection', 'box-extreme')
    for (const [x, y] of [[20, 5], [10, 20], [25, 40], [60, 22]] as const) click(x, y)
    expect(only()).toMatchObject({ x: 10, y: 5, w: 50, h: 35 })
  })
  it('are turned by an edge and a width', () => {
    open('rotated-detection', 'rotated')
    click(50, 50)
    click(90, 50)
    click(70, 70)
    expect(only()).toMatchObject({ x: 50, y: 50, w: 40, h: 20 })
    open('rotated-detection', 'rotated')
    click(50, 30)
    click(80, 60)
    click(70, 80)
    expect(only<BoxShape>().angle).toBeCloseTo(45)
  })
  it('without area are refused, and so is what the type does not take', () => {
    open('detection', 'box')
    click(10, 10)
    click(10, 10)
    expect(refused()).toEqual(['too-small'])
    open('segmentation', 'box')
    drag([10, 10], [50, 50])
    expect(refused()).toEqual(['wrong-type'])
    open('detection', 'box', [], true)
    drag([10, 10], [50, 50])
    expect(refused()).toContain('read-only')
    expect(document.shapes).toHaveLength(0)
  })
})

describe('select', () => {
  beforeEach(() => open('detection', 'select', [boxAt('a', 10, 10, 40, 40), boxAt('b', 100, 10, 40, 40), boxAt('locked', 60, 60, 20, 20)]))
  it('moves within the picture, one step of undo', () => {
    drag([30, 30], [-100, 45])
    expect(document.shape('a')).toMatchObject({ x: 0, y: 25 })
    expect(run('undo')).toBe(true)
    expect(document.shape('a')).toMatchObject({ x: 10, y: 10 })
    expect(run('undo')).toBe(false)
  })
  it('resizes by a corner', () => {
    click(30, 30)
    drag([50, 50], [70, 80])
    expect(document.shape('a')).toMatchObject({ x: 10, y: 10, w: 60, h: 70 })
  })
  it('adds with shift and moves all of them', () => {
    click(30, 30)
    click(120, 30, { shift: true })
    expect(stage.selection).toEqual(['a', 'b'])
    drag([30, 30], [40, 30])
    expect(document.shapes.map((s) => (s as BoxShape).x)).toEqual([20, 110, 60])
    click(120, 30, { shift: true })
    expect(stage.selection).toEqual(['a'])
  })
  it('takes what a rubber band holds; leftward also what it touches; nothing locked', () => {
    drag([5, 5], [120, 90])
    expect(stage.selection).toEqual(['a'])
    drag([199, 99], [45, 5])
    expect(stage.selection).toEqual(['a', 'b'])
    click(70, 70)
    expect(stage.selection).toEqual([])
  })
  it('nudges, duplicates, copies, pastes, deletes', () => {
    click(30, 30)
    run('nudge-right')
    run('nudge-down-far')
    expect(document.shape('a')).toMatchObject({ x: 11, y: 20 })
    run('duplicate')
    expect(document.shapes).toHaveLength(4)
    run('copy')
    run('delete')
    run('paste')
    expect(document.shapes).toHaveLength(4)
    run('select-all')
    expect(stage.selection).not.toContain('locked')
    run('delete')
    expect(document.shapes.map((s) => s.id)).toEqual(['locked'])
  })
  it('changes the order and flags', () => {
    stage.select(['a'])
    run('to-front')
    expect(document.indexOf('a')).toBe(2)
    run('backward')
    expect(document.indexOf('a')).toBe(1)
    run('toggle-occluded')
    expect(document.shape('a')?.occluded).toBe(true)
    run('toggle-occluded')
    expect(document.shape('a')).not.toHaveProperty('occluded')
  })
  it('forgets a shape that somebody else removed', () => {
    click(30, 30)
    document.receive({ op: 'remove', shape: 'a' })
    expect(stage.selection).toEqual([])
  })
  it('turns with the handle above', () => {
    open('rotated-detection', 'select', [boxAt('a', 50, 40, 40, 20)])
    stage.select(['a'])
    drag([70, 16], [110, 50], { shift: true })
    expect(document.shape('a')).toMatchObject({ angle: 90 })
    run('rotate-left')
    expect(document.shape('a')).toMatchObject({ angle: 89 })
  })
})

describe('polygons', () => {
  it('are drawn by clicks and closed on the first point', () => {
    open('segmentation', 'polygon')
    for (const [x, y] of [[10, 10], [50, 10], [50, 50], [10, 10]] as const) click(x, y)
    expect(only<PolygonShape>().rings).toEqual([[10, 10, 50, 10, 50, 50]])
  })
  it('can go back a point, be finished and be given up', () => {
    open('segmentation', 'polygon')
    for (const [x, y] of [[10, 10], [50, 10], [90, 90], [10, 50]] as const) click(x, y)
    run('remove-point')
    run('remove-point')
    run('finish')
    expect(refused()).toEqual(['too-few-points'])
    click(50, 50)
    run('finish')
    expect(only<PolygonShape>().rings).toEqual([[10, 10, 50, 10, 50, 50]])
    click(90, 90)
    run('cancel')
    expect(tool.busy()).toBe(false)
  })
  it('that cross themselves are mended and told', () => {
    open('segmentation', 'polygon')
    for (const [x, y] of [[10, 10], [50, 50], [50, 10], [10, 50]] as const) click(x, y)
    run('finish')
    expect(only<PolygonShape>().rings).toHaveLength(2)
    expect(events).toContainEqual({ type: 'mended', how: 'crossing' })
  })
  it('are drawn by a free hand', () => {
    open('segmentation', 'freehand')
    tool.down?.(at(90, 50))
    for (let i = 0; i <= 100; i += 1) tool.move?.(at(50 + 40 * Math.cos(i / 16), 50 + 40 * Math.sin(i / 16)))
    tool.up?.(at(90, 50))
    const shape = only<PolygonShape>()
    expect(shape.rings[0]?.length).toBeLessThan(80)
    expect(Math.abs(regionArea(shape) - Math.PI * 1600)).toBeLessThan(200)
  })
  it('snap to corners of neighbours', () => {
    open('segmentation', 'polygon', [square('a', 10, 10, 30)])
    for (const [x, y] of [[43, 12], [80, 10], [42, 43]] as const) click(x, y)
    run('finish')
    expect((document.shapes[1] as PolygonShape).rings).toEqual([[40, 10, 80, 10, 40, 40]])
  })
  it('share borders: a corner is moved for both, with alt for one', () => {
    open('segmentation', 'select', [square('a', 10, 10, 30), square('b', 40, 10, 30)])
    stage.select(['a'])
    drag([40, 40], [50, 60])
    expect((document.shape('a') as PolygonShape).rings[0]).toEqual([10, 10, 40, 10, 50, 60, 10, 40])
    expect((document.shape('b') as PolygonShape).rings[0]).toEqual([40, 10, 70, 10, 70, 40, 50, 60])
    document.undo()
    drag([40, 40], [45, 80], { alt: true })
    expect(document.shape('b')).toEqual(square('b', 40, 10, 30))
  })
  it('get points on edges and lose them', () => {
    open('segmentation', 'points', [square('a', 10, 10, 40)])
    stage.select(['a'])
    drag([30, 10], [30, 2])
    expect((document.shape('a') as PolygonShape).rings[0]).toEqual([10, 10, 30, 2, 50, 10, 50, 50, 10, 50])
    click(30, 2)
    expect(run('remove-point')).toBe(true)
    expect(document.shape('a')).toEqual(square('a', 10, 10, 40))
  })
  it('get holes', () => {
    open('segmentation', 'hole', [square('a', 10, 10, 80)])
    for (const [x, y] of [[30, 30], [50, 30], [50, 50], [30, 50]] as const) click(x, y)
    run('finish')
    const shape = only<PolygonShape>()
    expect(shape.id).toBe('a')
    expect(shape.holes).toHaveLength(1)
    expect(regionArea(shape)).toBe(6000)
    expect(stage.hit({ x: 40, y: 40 })).toBeNull()
    expect(stage.hit({ x: 20, y: 20 })?.id).toBe('a')
  })
  it('are cut and merged', () => {
    open('segmentation', 'cut', [square('a', 10, 10, 80)])
    click(0, 30)
    click(120, 30)
    run('finish')
    expect(document.shapes.map((s) => regionArea(s as PolygonShape)).sort((p, q) => p - q)).toEqual([1600, 4800])
    expect(regionArea(document.shape('a') as PolygonShape)).toBe(4800)
    expect(run('merge')).toBe(true)
    expect(regionArea(only<PolygonShape>())).toBe(6400)
    document.undo()
    expect(document.shapes).toHaveLength(2)
    click(150, 10)
    click(150, 90)
    run('finish')
    expect(refused()).toEqual(['not-cut'])
  })
  it('are simplified', () => {
    open('segmentation', 'select', [{ ...square('a', 0, 0, 50), rings: [[0, 0, 25, 0.1, 50, 0, 50, 25, 50, 50, 25, 50, 0, 50]] }])
    stage.select(['a'])
    run('simplify')
    expect(only<PolygonShape>().rings).toEqual([[0, 0, 50, 0, 50, 50, 0, 50]])
    expect(run('simplify')).toBe(false)
  })
})

describe('keypoints', () => {
  it('are set in order; alt hides, a command leaves out', () => {
    open('keypoints', 'keypoints')
    click(50, 50)
    expect(events).toContainEqual({ type: 'keypoint', index: 1, name: 'left_eye' })
    click(60, 40, { alt: true })
    run('skip-point')
    expect(only<KeypointsShape>().points).toEqual([[50, 50, 2], [60, 40, 1], [0, 0, 0]])
  })
  it('come as a whole skeleton, are mirrored and moved one by one', () => {
    open('keypoints', 'skeleton')
    drag([20, 20], [60, 80])
    const points = only<KeypointsShape>().points
    expect(points).toHaveLength(3)
    expect(points.every(([x, y, v]) => x >= 20 && x <= 60 && y >= 20 && y <= 80 && v === 2)).toBe(true)
    const [, left, right] = points as [unknown, readonly number[], readonly number[]]
    run('mirror')
    expect(only<KeypointsShape>().points[1]?.[0]).toBeCloseTo((left[0] as number) + (right[0] as number) - (right[0] as number))
    tool = tools.select(stage)
    const [x, y] = only<KeypointsShape>().points[0] as readonly [number, number, number]
    drag([x, y], [100, 90])
    expect(only<KeypointsShape>().points[0]).toEqual([100, 90, 2])
    click(100, 90)
    run('toggle-visible')
    expect(only<KeypointsShape>().points[0]).toEqual([100, 90, 1])
  })
  it('need a skeleton', () => {
    open('keypoints', 'keypoints')
    stage = createStage({ document, readOnly: false, settings: () => settings, scale: () => 1, labels: () => new Map(), labelName: () => undefined, emit: (e) => events.push(e), touched: () => undefined, changed: () => undefined })
    tool = tools.keypoints(stage)
    click(1, 1)
    expect(refused()).toEqual(['no-skeleton'])
  })
})

describe('reading order', () => {
  const words = [boxAt('d', 100, 60, 40, 10), boxAt('b', 100, 12, 40, 10), boxAt('c', 10, 60, 40, 10), boxAt('a', 10, 10, 40, 10)]
  it('is set by clicks', () => {
    open('ocr', 'order', words)
    for (const [x, y] of [[30, 15], [120, 17], [30, 65], [120, 65]] as const) click(x, y)
    expect(document.shapes.map((s) => s.id)).toEqual(['a', 'b', 'c', 'd'])
  })
  it('is found by lines', () => {
    open('ocr', 'select', words)
    run('order-lines')
    expect(document.shapes.map((s) => s.id)).toEqual(['a', 'b', 'c', 'd'])
    expect(run('order-lines')).toBe(false)
  })
})

describe('broken annotations', () => {
  it('are neither hit nor in the way', () => {
    const broken = [
      { id: 'nan', type: 'polygon', rings: [[NaN, 1, 2, 3]] }, { id: 'none', type: 'polygon' }, { id: 'odd', type: 'box', x: 1, y: NaN, w: 5, h: 5 },
      { id: 'mask', type: 'mask', size: [10, 10], counts: '~~~' }, { id: 'what', type: 'blob' }, { id: 'joints', type: 'keypoints' },
      { id: 'long', type: 'polygon', rings: [Array.from({ length: 40_000 }, (_, i) => (i * 7919) % 100)] },
    ] as unknown as Shape[]
    open('segmentation', 'select', [...broken, square('a', 120, 10, 40)])
    click(140, 30)
    expect(stage.selection).toEqual(['a'])
    drag([0, 0], [199, 99])
    run('select-all')
    run('delete')
    expect(document.shapes).toHaveLength(0)
  })
})
