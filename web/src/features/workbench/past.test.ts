import { expect, test } from 'vitest'
import { createDocument, type Annotation, type Change, type Shape } from '../../canvas'
import { linesOf, restoring, type Item } from './past'

const box = (id: string, x = 1, more: Partial<Shape> = {}): Shape => ({ id, type: 'box', label: 'cat', x, y: 1, w: 10, h: 10, ...more }) as Shape
const items = (...operations: Item['operation'][]): Item[] => operations.map((operation, i) => ({ id: `c.${i}`, revision: i + 1, at: '', client: 'c', by: { id: 1, name: 'Li' }, state: 'annotated', operation }))
const open = (annotation: Annotation) => createDocument({ annotation, type: 'ocr', width: 100, height: 100 })

test('what was done to a shape is told by what became of it', () => {
  const lines = linesOf('ocr', { shapes: [box('a'), box('b')] }, items(
    { op: 'put', shape: box('c', 5) },
    { op: 'put', shape: box('c', 9) },
    { op: 'put', shape: box('c', 9, { w: 20 } as Partial<Shape>) },
    { op: 'put', shape: box('c', 9, { w: 20, label: 'car' } as Partial<Shape>) },
    { op: 'put', shape: box('c', 9, { w: 20, label: 'car', text: 'STOP' } as Partial<Shape>) },
    { op: 'put', shape: box('c', 9, { w: 20, label: 'car', text: 'STOP', occluded: true } as Partial<Shape>) },
    { op: 'put', shape: box('c', 9, { w: 20, label: 'car', text: 'STOP', occluded: true, angle: 5 } as Partial<Shape>) },
    { op: 'put', shape: box('c', 9, { w: 20, label: 'car', text: 'STOP', occluded: true, angle: 5 } as Partial<Shape>), at: 0 },
    { op: 'remove', shape: 'b' },
    { op: 'label', label: 'street', on: true },
    { op: 'state' },
    { op: 'replace', annotation: {} },
  ))
  expect(lines.map((l) => l.did)).toEqual(['added', 'moved', 'reshaped', 'relabelled', 'wrote', 'described', 'turned', 'ordered', 'removed', 'labelled', 'state', 'replaced'])
  expect(lines[1]).toMatchObject({ by: 'Li', shape: { type: 'box', n: 3, label: 'cat' } })
  expect(lines[3]).toMatchObject({ from: 'cat', to: 'car' })
  expect(lines[8]).toMatchObject({ shape: { n: 3, label: 'cat' } })
})

test.each<[string, Annotation, Annotation]>([
  ['nothing', {}, {}],
  ['shapes changed, gone and new', { shapes: [box('a'), box('b'), box('c')] }, { shapes: [box('d'), box('b', 7), box('a')], labels: ['x'] }],
  ['text and attributes', { text: 'one', attributes: { a: 1, b: 2 } }, { attributes: { b: 3 } }],
  ['very many', { shapes: Array.from({ length: 500 }, (_, i) => box(`s${i}`)) }, { labels: ['x'] }],
])('an earlier state comes back as changes, and undo takes them back at once: %s', (_name, now, then) => {
  const document = open(now)
  const was = document.annotation()
  const changes: readonly Change[] = restoring(document, then)
  document.change(changes)
  expect(document.annotation()).toEqual(then)
  if (changes.length > 0) document.undo()
  expect(document.annotation()).toEqual(was)
})

test('what both have is not touched', () => {
  expect(restoring(open({ shapes: [box('a'), box('b')] }), { shapes: [box('a'), box('b', 5)] })).toEqual([{ op: 'put', shape: box('b', 5) }])
})
