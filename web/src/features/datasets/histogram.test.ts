import { describe, expect, it } from 'vitest'
import { below, endNear } from './histogram'

const bins = [{ from: 0, to: 2, samples: 4 }, { from: 2, to: 8, samples: 6 }, { from: 8, to: 18, samples: 0 }]

describe('a histogram', () => {
  it('counts what lies below', () => {
    expect([0, 1, 2, 5, 8, 100].map((v) => below(bins, v))).toEqual([0, 2, 4, 7, 10, 10])
  })
  it('finds the nearest end of a bin', () => {
    expect([-1, 0.9, 1.1, 6, 17, 99].map((v) => endNear(bins, v))).toEqual([0, 0, 1, 2, 3, 3])
  })
})
