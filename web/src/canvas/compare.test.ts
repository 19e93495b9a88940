import { describe, expect, test } from 'vitest'
import { compare, likeness } from './compare'
import { boxAt, square } from './tools/hand'
import type { KeypointsShape } from './model'

describe('likeness', () => {
  test('of areas is intersection over union', () => {
    expect(likeness(boxAt('a', 0, 0, 10, 10), boxAt('b', 5, 0, 10, 10))).toBeCloseTo(1 / 3)
    expect(likeness(square('a', 0, 0, 10), square('b', 5, 0, 10))).toBeCloseTo(1 / 3)
    // A turned box is not its bounds.
    expect(likeness(boxAt('a', 0, 0, 10, 10), { ...boxAt('b', 0, 0, 10, 10), angle: 45 })).toBeLessThan(0.8)
    expect(likeness(boxAt('a', 0, 0, 10, 10), boxAt('b', 50, 0, 10, 10))).toBe(0)
  })

  test('of skeletons is the share of joints at one place', () => {
    const person = (id: string, x: number): KeypointsShape => ({ id, type: 'keypoints', label: 'cat', points: [[0, 0, 2], [100, 0, 2], [x, 100, 2], [0, 0, 0]] })
    expect(likeness(person('a', 50), person('b', 52))).toBe(1)
    expect(likeness(person('a', 50), person('b', 90))).toBeCloseTo(2 / 3)
  })
})

describe('compare', () => {
  test('says what nobody else has, and what others called, wrote or placed otherwise', () => {
    const one = [boxAt('same', 0, 0, 20, 20), boxAt('moved', 40, 0, 20, 20), boxAt('named', 80, 0, 20, 20), { ...boxAt('read', 120, 0, 20, 20), text: 'x' }, boxAt('alone', 160, 0, 20, 20)]
    const two = [boxAt('a', 1, 0, 20, 20), boxAt('b', 48, 0, 20, 20), { ...boxAt('c', 80, 0, 20, 20), label: 'dog' }, { ...boxAt('d', 120, 0, 20, 20), text: 'y' }]
    const [first, second] = compare([one, two])
    expect(Object.fromEntries(first ?? [])).toEqual({ moved: 'place', named: 'label', read: 'text', alone: 'alone' })
    expect(Object.fromEntries(second ?? [])).toEqual({ b: 'place', c: 'label', d: 'text' })
  })

  test('one shape of another stands for one only, and the gravest of several counts', () => {
    const twice = [boxAt('a', 0, 0, 20, 20), boxAt('b', 0, 0, 20, 20)]
    expect(compare([twice, [boxAt('c', 0, 0, 20, 20)]]).map((m) => m.size)).toEqual([1, 0])
    const lists = [[boxAt('a', 0, 0, 20, 20)], [boxAt('b', 0, 0, 20, 20)], []]
    expect(compare(lists).map((m) => [...m.values()])).toEqual([['alone'], ['alone'], []])
    expect(compare([[boxAt('a', 0, 0, 20, 20)]])[0]?.size).toBe(0)
  })
})
