import { expect, test } from 'vitest'
import { createDocument } from './document'
import { relabelled } from './relabel'

test('names change everywhere, and two labels that become one are one', () => {
  const names = { cat: 'tomcat', dog: 'tomcat' }
  expect(relabelled({ labels: ['cat', 'cow', 'dog'], scores: { cat: 0.2, dog: 0.7 } }, names)).toEqual({ labels: ['cow', 'tomcat'], scores: { tomcat: 0.7 } })
  expect(relabelled({ spans: [{ start: 0, end: 2, label: 'cat' }, { start: 2, end: 3, label: 'cow' }], text: 'x' }, names)).toEqual({ spans: [{ start: 0, end: 2, label: 'tomcat' }, { start: 2, end: 3, label: 'cow' }], text: 'x' })
})

test('a document hears of it as one change', () => {
  const document = createDocument({ type: 'detection', width: 10, height: 10, annotation: { shapes: [{ id: 'a', type: 'box', label: 'cat', x: 1, y: 1, w: 2, h: 2 }, { id: 'b', type: 'box', label: 'cow', x: 1, y: 1, w: 2, h: 2 }] } })
  document.receive({ op: 'relabel', labels: { cat: 'tomcat' } })
  expect(document.shapes.map((s) => s.label)).toEqual(['tomcat', 'cow'])
})
