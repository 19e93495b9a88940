import { describe, expect, it } from 'vitest'
import { bodyOf, isComplete } from './sources'

describe('sources of imports', () => {
  it('asks for what must be given', () => {
    expect(isComplete('s3', {})).toBe(false)
    expect(isComplete('s3', { bucket: ' ' })).toBe(false)
    expect(isComplete('s3', { bucket: 'b' })).toBe(true)
    expect(isComplete('database', { host: 'h', user: 'u', database: 'd' })).toBe(false)
    expect(isComplete('database', { host: 'h', user: 'u', database: 'd', name: 'n' })).toBe(true)
  })
  it('leaves out what is empty', () => {
    expect(bodyOf('s3', { bucket: ' b ', prefix: '' }, '')).toEqual({ s3: { bucket: 'b' } })
    expect(bodyOf('database', { host: 'h', port: '3307', name: 'n' }, 'x y')).toEqual({ database: { host: 'h', port: 3307, name: 'n' }, secret: 'x y' })
  })
})
