import { expect, test } from 'vitest'
import { typesOf } from './firstFiles'

const named = (...names: string[]) => names.map((name) => ({ name }))

test('files that are alike say what data it is; others do not', () => {
  expect(typesOf(named('a.png', 'b/c.JPG'))?.data_type).toBe('image')
  expect(typesOf(named('a.wav'))?.annotation_type).toBe('audio-class')
  expect(typesOf(named('a.txt', 'notes.md'))?.data_type).toBe('text')
  expect(typesOf(named('a.png', 'labels.txt'))).toBeNull()
  expect(typesOf(named('coco.zip'))).toBeNull()
})
