import { expect, test } from 'vitest'
import { granted, implied, toggle, unknown } from './permissionModel'

test('wider grants imply', () => {
  expect(granted(['*'], 'spec', 'read')).toBe(true)
  expect(implied(['spec.*'], 'spec', 'read')).toBe(true)
  expect(implied(['*.read'], 'spec', 'read')).toBe(true)
  expect(implied(['*.read'], 'spec', 'create')).toBe(false)
  expect(implied(['spec.read'], 'spec', 'read')).toBe(false)
  expect(granted(['spec.read'], 'spec', 'read')).toBe(true)
  expect(implied(['spec.*'], 'spec', '*')).toBe(false)
})

test('ticking a wide grant drops what it covers', () => {
  expect(toggle(['spec.read', 'user.read'], 'spec.*', true)).toEqual(['user.read', 'spec.*'])
  expect(toggle(['spec.read', 'user.create'], '*.read', true)).toEqual(['user.create', '*.read'])
  expect(toggle(['spec.read'], '*', true)).toEqual(['*'])
  expect(toggle(['spec.read', '*'], '*', false)).toEqual(['spec.read'])
})

test('what is not in the table is kept and named', () => {
  expect(unknown(['old.thing', 'spec.read', '*.read', 'spec.*', '*'], [{ name: 'spec.read', kind: 'spec', verb: 'read' }])).toEqual(['old.thing'])
})
