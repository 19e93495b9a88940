import { expect, test } from 'vitest'
import { bytesForInput, parseBytes } from '../../components/format'
import { quotaFromRows, quotaToRows } from './quotaModel'

test('a quota survives being edited', () => {
  const quota = { cpus: 8, memory: 16 * 1024 ** 3, storage: 2 * 1024 ** 4, accelerators: { 'nvidia-a100': 4 } }
  expect(quotaFromRows(quotaToRows(quota, bytesForInput), parseBytes)).toEqual({ quota, bad: null })
})

test('empty means no limit, zero none at all', () => {
  const rows = { cpu: '', memory: '0', storage: ' ', accelerators: [{ kind: 'gcu', number: '0' }, { kind: 'nvidia', number: '' }] }
  const quota = { memory: 0, accelerators: { gcu: 0 } }
  expect(quotaFromRows(rows, parseBytes)).toEqual({ quota, bad: null })
  expect(quotaFromRows(quotaToRows(quota, bytesForInput), parseBytes)).toEqual({ quota, bad: null })
  expect(quotaFromRows(quotaToRows({ cpus: null, accelerators: { gcu: null } }, bytesForInput), parseBytes)).toEqual({ quota: {}, bad: null })
})

test('mistakes are named', () => {
  const rows = { cpu: '', memory: '', storage: '', accelerators: [] }
  expect(quotaFromRows({ ...rows, memory: 'lots' }, parseBytes).bad).toBe('bytes')
  expect(quotaFromRows({ ...rows, cpu: '-1' }, parseBytes).bad).toBe('number')
  expect(quotaFromRows({ ...rows, accelerators: [{ kind: ' ', number: '1' }] }, parseBytes).bad).toBe('kind')
})
