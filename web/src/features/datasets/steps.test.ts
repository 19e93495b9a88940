import { expect, test } from 'vitest'
import { moveStep, newStep, sizeAfter, type Step } from './steps'

test('sizes follow the steps', () => {
  expect(sizeAfter({ op: 'rotate', angle: 90 }, 20, 10)).toEqual([10, 20])
  expect(sizeAfter({ op: 'rotate', angle: 180 }, 20, 10)).toEqual([20, 10])
  expect(sizeAfter({ op: 'crop', x: 15, y: 0, w: 10, h: 4 }, 20, 10)).toEqual([5, 4])
  expect(sizeAfter({ op: 'crop', x: 30, y: 0, w: 10, h: 4 }, 20, 10)).toEqual([0, 4])
  expect(sizeAfter({ op: 'mirror-h' }, 20, 10)).toEqual([20, 10])
})

test('steps are moved within the list only', () => {
  const steps: Step[] = [newStep('blur', 1, 1), newStep('rotate', 1, 1), newStep('mirror-h', 1, 1)]
  expect(moveStep(steps, 2, -1).map((s) => s.op)).toEqual(['blur', 'mirror-h', 'rotate'])
  expect(moveStep(steps, 0, -1)).toEqual(steps)
  expect(moveStep(steps, 2, 1)).toEqual(steps)
})
