import { expect, test } from 'vitest'
import { envFromRows, envFromText, envToRows, withLines } from './envModel'

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

test('lines as files of variables have them', () => {
  expect(envFromText('# mine\nexport A=1\n\nB="two words"\r\nC=\'x=y\'\n')).toEqual([{ name: 'A', value: '1' }, { name: 'B', value: 'two words' }, { name: 'C', value: 'x=y' }])
  expect(envFromText('A=')).toEqual([{ name: 'A', value: '' }])
  for (const text of ['', 'EPOCHS', 'A=1\nno line', '1A=x']) expect(envFromText(text)).toBeNull()
})

test('pasted lines take the empty row, change what is known and add the rest', () => {
  const rows = [{ name: 'A', value: '1' }, { name: '', value: '' }]
  expect(withLines(rows, 1, [{ name: 'A', value: '2' }, { name: 'B', value: '3' }, { name: 'B', value: '4' }])).toEqual([{ name: 'A', value: '2' }, { name: 'B', value: '4' }])
})
