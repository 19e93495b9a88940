import { expect, test } from 'vitest'
import { envFromRows, envToRows } from './envModel'

test('rows and back', () => {
  const env = { A: '1', _b2: '' }
  expect(envFromRows(envToRows(env))).toEqual({ env, bad: null })
  expect(envToRows(null)).toEqual([])
  expect(envFromRows([{ name: '', value: '' }])).toEqual({ env: {}, bad: null })
})

test('names that are none', () => {
  for (const name of ['1A', 'a b', '', 'a=b', '变量']) expect(envFromRows([{ name, value: 'x' }]).bad).toBe(name)
  expect(envFromRows([{ name: 'A', value: '1' }, { name: 'A', value: '2' }]).bad).toBe('A')
})
