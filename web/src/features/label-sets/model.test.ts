import { expect, test } from 'vitest'
import { add, addChild, clean, count, faults, leafAt, move, nextColor, normalize, palette, pathsOf, remove, update, type Label } from './model'

const labels: Label[] = [
  { name: 'cat', color: '#e5484d', key: 'c', children: [{ name: 'tabby', color: '#f76b15' }, { name: 'siamese', color: '#ffb224', key: 's' }] },
  { name: 'dog', color: '#46a758', key: 'd' },
]

test('add takes a colour that is free', () => {
  expect(add(labels).at(-1)?.color).toBe('#99b80c')
  expect(addChild(labels, 1)[1]?.children).toHaveLength(1)
  expect(palette).toContain(nextColor(Array.from({ length: 40 }, (_, i) => ({ name: String(i), color: palette[i % 16] ?? '' }))))
})

test('update, remove and move touch one place only', () => {
  expect(leafAt(update(labels, [0, 1], { name: 'x' }), [0, 1])?.name).toBe('x')
  expect(remove(labels, [0, 0])[0]?.children?.map((c) => c.name)).toEqual(['siamese'])
  expect(move(labels, [0], 5).map((l) => l.name)).toEqual(['dog', 'cat'])
  expect(move(labels, [0, 1], 0)[0]?.children?.map((c) => c.name)).toEqual(['siamese', 'tabby'])
  expect(move(labels, [1], -3).map((l) => l.name)).toEqual(['dog', 'cat'])
  expect(labels[0]?.children).toHaveLength(2)
})

test('faults are found with their place', () => {
  expect(faults(labels)).toEqual([])
  expect(faults(update(labels, [1], { name: 'cat' }))).toEqual([{ path: [1], field: 'name', rule: 'duplicate' }])
  expect(faults(update(labels, [1], { key: 'S' }))[0]).toMatchObject({ path: [0, 1], field: 'key', rule: 'duplicate', other: 'dog' })
  expect(faults(update(labels, [0, 0], { name: ' ' }))[0]).toMatchObject({ path: [0, 0], rule: 'required' })
  expect(faults(update(labels, [0, 0], { name: 'a/b', color: 'red', key: '?' })).map((f) => f.field)).toEqual(['name', 'color', 'key'])
})

test('the same name is fine under two parents', () => {
  const two: Label[] = [{ name: 'a', color: '#000000', children: [{ name: 'x', color: '#000000' }] }, { name: 'b', color: '#000000', children: [{ name: 'x', color: '#000000' }] }]
  expect(faults(two)).toEqual([])
})

test('clean drops what is empty', () => {
  expect(clean([{ name: ' a ', color: '#ABCDEF', key: '', children: [] }])).toEqual([{ name: 'a', color: '#abcdef' }])
  expect(count(labels)).toBe(4)
})

test('labels that programs made without colours can be edited', () => {
  const made = normalize([{ name: 'a', children: [{ name: 'b', key: 'x' }] }, { name: 'c', color: '#123456' }])
  expect(faults(made)).toEqual([])
  expect(made[1]?.color).toBe('#123456')
  expect(normalize(null)).toEqual([])
})

test('skeleton, attributes and retirement stay with their label', () => {
  const person = { name: 'person', color: '#000000', keypoints: ['nose', 'neck'], edges: [[0, 1]] as [number, number][], attributes: [{ name: 'age', type: 'number' as const }], retired: true }
  const edited = update(normalize([{ ...person, children: [person] }]), [0], { name: 'man' })
  expect(clean(edited)).toEqual([{ ...person, name: 'man', children: [person] }])
})

test('a label is named shortly where that is enough', () => {
  const twice: Label[] = [...labels, { name: 'fish', color: '#46a758', children: [{ name: 'tabby', color: '#46a758' }] }]
  expect(pathsOf(twice).map((l) => [l.path, l.full])).toEqual([['cat', 'cat'], ['cat/tabby', 'cat/tabby'], ['siamese', 'cat/siamese'], ['dog', 'dog'], ['fish', 'fish'], ['fish/tabby', 'fish/tabby']])
})
