// A tool is a small state machine: it gets the pointer in the picture's pixels and ends in stage.put or stage.change.
import type { CommandName } from '../api'
import type { Point } from '../geometry/point'
import type { Stage } from '../stage'

export interface Pointer extends Point {
  readonly shift: boolean
  readonly ctrl: boolean
  readonly alt: boolean
}

export interface Tool {
  /** CSS cursor over a place. */
  cursor(p: Point | null): string
  down?(p: Pointer): void
  /** With and without a button held. */
  move?(p: Pointer): void
  up?(p: Pointer): void
  double?(p: Pointer): void
  /** True when the command was for this stroke; otherwise it goes on to the commands of the selection. */
  command?(name: CommandName): boolean
  /** Forgets the unfinished stroke. */
  cancel(): void
  /** Whether a stroke is unfinished. */
  busy(): boolean
}

export type MakeTool = (stage: Stage) => Tool
