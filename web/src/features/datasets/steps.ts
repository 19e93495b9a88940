// Steps of preprocessing: the list and its geometry, free of React.
export type Step =
  | { op: 'blur'; threshold: number }
  | { op: 'crop'; x: number; y: number; w: number; h: number }
  | { op: 'rotate'; angle: number }
  | { op: 'mirror-h' }
  | { op: 'mirror-v' }

export const stepNames = ['blur', 'crop', 'rotate', 'mirror-h', 'mirror-v'] as const
export type StepName = (typeof stepNames)[number]

export const mostSteps = 20

/** Below it, a picture of a camera is usually blurred. */
export const usualThreshold = 50

export function newStep(op: StepName, width: number, height: number): Step {
  switch (op) {
    case 'blur': return { op, threshold: usualThreshold }
    case 'crop': return { op, x: 0, y: 0, w: Math.max(1, width), h: Math.max(1, height) }
    case 'rotate': return { op, angle: 90 }
    default: return { op }
  }
}

export function moveStep(steps: readonly Step[], from: number, by: number): Step[] {
  const to = from + by
  const result = [...steps]
  const [step] = result.splice(from, 1)
  if (!step || to < 0 || to > result.length) return [...steps]
  result.splice(to, 0, step)
  return result
}

/** The size of a picture after a step. A crop is cut at the edge; a turned picture gets the room it needs. */
export function sizeAfter(step: Step, width: number, height: number): [number, number] {
  if (step.op === 'crop') return [Math.max(0, Math.min(step.w, width - step.x)), Math.max(0, Math.min(step.h, height - step.y))]
  if (step.op === 'rotate') {
    const angle = (step.angle * Math.PI) / 180
    const [c, s] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))]
    return [Math.round(width * c + height * s), Math.round(width * s + height * c)]
  }
  return [width, height]
}
