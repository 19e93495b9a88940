// A stage without a browser and a hand that clicks and drags: shared by the tests of tools.
import { expect } from 'vitest'
import type { CanvasEvent, CommandName, ToolName, ViewSettings } from '../api'
import { runCommand } from '../commands'
import { createDocument, type CanvasDocument } from '../document'
import type { AnnotationType, BoxShape, LabelStyle, PolygonShape, Shape } from '../model'
import { createStage, type Stage } from '../stage'
import { tools } from './registry'
import type { Pointer, Tool } from './tool'

const joints = ['nose', 'left_eye', 'right_eye']
const style: LabelStyle = { name: 'cat', color: '#ff0000', skeleton: { keypoints: joints, edges: [[0, 1], [0, 2]] } }
const settings: ViewSettings = {
  brightness: 1, contrast: 1, grid: 0, minimap: false, opacity: 0.2, fills: new Map(), names: true, texts: true, hidden: new Set(), locked: new Set(['locked']), snap: true, smooth: false, theme: 'light',
}

export interface Hand {
  readonly document: CanvasDocument
  readonly stage: Stage
  readonly events: CanvasEvent[]
  tool: Tool
  click(x: number, y: number, keys?: Partial<Pointer>): void
  drag(from: [number, number], to: [number, number], keys?: Partial<Pointer>): void
  run(name: CommandName): boolean
  /** The one shape that there is. */
  only<T extends Shape>(): T
  refused(): string[]
}

export const at = (x: number, y: number, keys: Partial<Pointer> = {}): Pointer => ({ x, y, shift: false, ctrl: false, alt: false, ...keys })
export const square = (id: string, x: number, y: number, size: number): PolygonShape => ({ id, type: 'polygon', label: 'cat', rings: [[x, y, x + size, y, x + size, y + size, x, y + size]] })
export const boxAt = (id: string, x: number, y: number, w: number, h: number): BoxShape => ({ id, type: 'box', label: 'cat', x, y, w, h })

/** One screen pixel is one pixel of a picture of 200 x 100. */
export function open(type: AnnotationType, name: ToolName, shapes: Shape[] = [], how: { readOnly?: boolean; noLabel?: boolean } = {}): Hand {
  const clipboard: { shapes: readonly Shape[] } = { shapes: [] }
  const document = createDocument({ annotation: { shapes }, type, width: 200, height: 100 })
  const events: CanvasEvent[] = []
  const stage = createStage({
    document,
    readOnly: how.readOnly ?? false,
    settings: () => settings,
    scale: () => 1,
    labels: () => new Map([['cat', style]]),
    labelName: () => (how.noLabel ? undefined : 'cat'),
    emit: (e) => events.push(e),
    touched: () => undefined,
    changed: () => undefined,
  })
  const hand: Hand = {
    document,
    stage,
    events,
    tool: tools[name](stage),
    click(x, y, keys) {
      hand.tool.move?.(at(x, y, keys))
      hand.tool.down?.(at(x, y, keys))
      hand.tool.up?.(at(x, y, keys))
    },
    drag(from, to, keys) {
      hand.tool.down?.(at(...from, keys))
      for (let i = 1; i <= 10; i += 1) hand.tool.move?.(at(from[0] + ((to[0] - from[0]) * i) / 10, from[1] + ((to[1] - from[1]) * i) / 10, keys))
      hand.tool.up?.(at(...to, keys))
    },
    run: (command) => hand.tool.command?.(command) === true || runCommand(command, stage, clipboard),
    only<T extends Shape>() {
      expect(document.shapes).toHaveLength(1)
      return document.shapes[0] as T
    },
    refused: () => events.flatMap((e) => (e.type === 'refused' ? [e.reason] : [])),
  }
  return hand
}
