// Which surface shows what: one row each.
import { shapeTypes, type AnnotationType } from '../../../canvas'
import type { Surface } from '../surface'
import { gridSurface, soundSurface, textSurface } from './own'
import { lazyPart } from '../../../app/part'

const Component = lazyPart(() => import('./PictureSurface'), 'PictureSurface')
const common = ['delete', 'cancel', 'copy', 'paste', 'duplicate', 'select-all', 'select-next', 'select-previous', 'select-below', 'nudge-left', 'nudge-right', 'nudge-up', 'nudge-down', 'nudge-left-far', 'nudge-right-far', 'nudge-up-far', 'nudge-down-far', 'to-front', 'to-back', 'toggle-occluded', 'toggle-truncated'] as const
const polygons = ['finish', 'remove-point', 'merge', 'simplify'] as const

/** Tools and commands of pictures by what is drawn on them. */
const pictures: Partial<Record<AnnotationType, { tools: readonly string[]; commands: readonly string[] }>> = {
  detection: { tools: ['select', 'box', 'box-clicks', 'box-extreme', 'pan'], commands: [...common, 'remove-point'] },
  'rotated-detection': { tools: ['select', 'rotated', 'pan'], commands: [...common, 'rotate-left', 'rotate-right', 'remove-point'] },
  segmentation: { tools: ['select', 'polygon', 'freehand', 'points', 'hole', 'cut', 'pan'], commands: [...common, ...polygons] },
  keypoints: { tools: ['select', 'keypoints', 'skeleton', 'pan'], commands: [...common, 'finish', 'remove-point', 'mirror', 'toggle-visible', 'skip-point'] },
  ocr: { tools: ['select', 'box', 'polygon', 'points', 'order', 'pan'], commands: [...common, ...polygons, 'order-lines'] },
}

export function surfaceOf(type: AnnotationType, dataType: string, grid: boolean): Surface {
  if (dataType === 'text') return textSurface
  if (dataType === 'audio') return soundSurface
  if (grid) return gridSurface
  return { Component, ...(pictures[type] ?? { tools: ['pan'], commands: [] }) }
}

/** Many at once, where one key says all there is to say. */
export function mayGrid(type: AnnotationType, dataType: string): boolean {
  return dataType === 'image' && shapeTypes[type].length === 0
}
