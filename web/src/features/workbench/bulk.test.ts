import { expect, test } from 'vitest'
import { createDocument } from '../../canvas'
import { relabelling } from './bulk'

const box = (id: string, label: string) => ({ id, type: 'box' as const, label, x: 0, y: 0, w: 1, h: 1 })

test('a label becomes another, or goes; undo brings it back', () => {
  const document = createDocument({ annotation: { labels: ['cat', 'pet'], shapes: [box('a', 'cat'), box('b', 'dog')] }, type: 'detection', width: 9, height: 9 })
  const before = document.annotation()
  document.change(relabelling(document, 'cat', 'lion'))
  expect(document.annotation()).toEqual({ labels: ['lion', 'pet'], shapes: [box('a', 'lion'), box('b', 'dog')] })
  document.undo()
  expect(document.annotation()).toEqual(before)
  document.change(relabelling(document, 'cat', null))
  expect(document.annotation()).toEqual({ labels: ['pet'], shapes: [box('b', 'dog')] })
  expect(relabelling(document, 'horse', null)).toEqual([])
})
