import { describe, expect, it } from 'vitest'
import { fieldType, isLarge } from './records'

describe('records', () => {
  it('names the type of a field', () => {
    expect(fieldType({ type: 'utf8', dtype: null, shape: [] })).toBe('utf8')
    expect(fieldType({ type: 'array', dtype: 'float32', shape: [3, -1] })).toBe('array float32 [3, *]')
  })
  it('knows what is only told of', () => {
    expect(isLarge({ bytes: 3, type: 'image/png' })).toBe(true)
    expect(isLarge({ bytes: 3, type: 'x', more: 1 })).toBe(false)
    expect(isLarge('text')).toBe(false)
    expect(isLarge(null)).toBe(false)
  })
})
