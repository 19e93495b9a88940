import { describe, expect, it } from 'vitest'
import { largestLayers, shapeText, short } from './summary'

describe('summaries of models', () => {
  it('writes shapes', () => {
    expect(shapeText(['batch', 3, null])).toBe('batch × 3 × ?')
    expect(shapeText([])).toBe('1')
    expect(shapeText(null)).toBe('?')
  })
  it('shortens counts', () => {
    expect(short(999)).toBe('999')
    expect(short(4_652_008)).toBe('4.65 M')
    expect(short(1_000)).toBe('1 k')
  })
  it('keeps the order of the largest layers', () => {
    expect(largestLayers([{ bytes: 1 }, { bytes: 9 }, { bytes: 3 }, { bytes: 9 }], 3).map((l) => l.bytes)).toEqual([9, 3, 9])
  })
})
