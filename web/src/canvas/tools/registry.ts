// Every tool once. A new one: its file here in the folder, its name in api.ts, one line below.
import type { ToolName } from '../api'
import { box, extreme, rotated } from './box'
import { keypoints, wholeSkeleton } from './keypoints'
import { note } from './note'
import { order } from './order'
import { cutter, freehand, hole, polygon } from './polygon'
import { points, select } from './select'
import type { MakeTool } from './tool'

/** Panning is done by the window itself (input.ts): the tool only rests. */
const pan: MakeTool = () => ({ cursor: () => 'grab', busy: () => false, cancel: () => undefined })

export const tools: Readonly<Record<ToolName, MakeTool>> = {
  select, points, pan, box, 'box-clicks': box, 'box-extreme': extreme, rotated, polygon, freehand, cut: cutter, hole, keypoints, skeleton: wholeSkeleton, order, note,
}
