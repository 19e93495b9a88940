import { expect, test } from 'vitest'
import { fitOf } from './fuzzy'

const rank = (text: string, typed: string) => fitOf(text, typed)?.rank ?? null
const marked = (text: string, typed: string) => (fitOf(text, typed)?.marks ?? []).map(([from, to]) => Array.from(text).slice(from, to).join(''))

test('the nearer, the better', () => {
  expect(['users', 'Users of it', 'All users', 'Abusers', 'unused servers'].map((text) => rank(text, 'Users'))).toEqual([0, 1, 2, 3, 5])
  expect([rank('Step 3', 'ep'), rank('Epoch', 'ep'), rank('Runs', 'x')]).toEqual([null, 1, null])
})

test('parts of words, several words, Chinese', () => {
  expect(marked('traffic-detection', 'tect')).toEqual(['tect'])
  expect(marked('Create: Label set', 'set create')).toEqual(['set', 'Create'])
  expect(marked('黄色车辆 2', '车辆')).toEqual(['车辆'])
  expect(marked('新建：数据集', '新据')).toEqual(['新', '据'])
})

test('characters in their order, from the begin of a word on', () => {
  expect(marked('traffic-detection', 'trfdet')).toEqual(['tr', 'f', 'det'])
  expect(rank('traffic-detection', 'rfdet')).toBeNull()
  expect(rank('Datasets', 'dts')).toBe(5)
  expect(rank('', 'a')).toBeNull()
})
