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

test('secrets that are there stay unless something is typed, and go with their row', () => {
  const rows = envToRows({ TOKEN: true, MODE: true })
  expect(rows).toEqual([{ name: 'TOKEN', value: '', secret: true }, { name: 'MODE', value: '', secret: true }])
  expect(envFromRows(rows).env).toEqual({ TOKEN: true, MODE: true })
  expect(envFromRows([{ name: 'TOKEN', value: 'new', secret: true }]).env).toEqual({ TOKEN: 'new' })
  expect(withLines([...rows, { name: '', value: '' }], 2, [{ name: 'MODE', value: 'x' }])).toEqual([rows[0], { name: 'MODE', value: 'x', secret: true }])
})

test('a variable that is taken away is null', () => {
  expect(envFromRows(envToRows({ A: null, B: '' }))).toEqual({ env: { A: null, B: '' }, bad: null })
  expect(envFromRows([{ name: '', value: null }])).toEqual({ env: {}, bad: null })
})
