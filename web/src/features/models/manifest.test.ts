import { expect, test } from 'vitest'
import { fromJson, isAbout, lines, numbersText, parseNumbers, preparationOf, preparations, withField, withItem, withTask, type Manifest } from './manifest'

const manifest: Manifest = {
  ingot: 1, task: 'image-class', labels: ['cat', 'dog'], parts: [{ name: 'model', file: 'model.onnx' }],
  inputs: [{ kind: 'picture', name: 'x', size: [32, 32], scale: 1 / 255 }], outputs: [{ reading: 'softmax', name: 'y' }], thresholds: { score: 0.2 },
}

test('a field that is as it is without saying goes', () => {
  const fit = { name: 'fit', type: 'choice' as const, otherwise: 'stretch' }
  expect(withField({ kind: 'picture' }, fit, 'crop')).toEqual({ kind: 'picture', fit: 'crop' })
  expect(withField({ kind: 'picture', fit: 'crop' }, fit, 'stretch')).toEqual({ kind: 'picture' })
  expect(withField({ kind: 'picture', fit: 'crop' }, fit, undefined)).toEqual({ kind: 'picture' })
})

test('numbers of a line', () => {
  expect(parseNumbers('0.485, 0.456 0.406', true)).toEqual([0.485, 0.456, 0.406])
  expect(parseNumbers('0.5', true)).toBe(0.5)
  expect(parseNumbers('224', false)).toEqual([224])
  expect(parseNumbers(' ', true)).toBeUndefined()
  expect(parseNumbers('a, 1', true)).toBeNull()
  expect(numbersText([224, 224])).toBe('224, 224')
})

test('known preparations are recognised', () => {
  expect(preparationOf(manifest.inputs[0] ?? {})).toBe('unit')
  expect(preparationOf({ ...preparations['imagenet'] })).toBe('imagenet')
  expect(preparationOf({})).toBe('raw')
  expect(preparationOf({ scale: 0.5 })).toBeNull()
})

test('another task takes what fits along', () => {
  const detection = withTask(manifest, 'detection')
  expect(detection).toMatchObject({ task: 'detection', labels: ['cat', 'dog'], inputs: manifest.inputs, outputs: [{ reading: 'softmax', name: 'y' }], thresholds: { score: 0.2 } })
  const sound = withTask(manifest, 'audio-class')
  expect(sound.inputs).toEqual([{ kind: 'sound', name: 'x' }])
  const embedding = withTask(manifest, 'embedding')
  expect(embedding.labels).toBeUndefined()
  expect(embedding.thresholds).toBeUndefined()
  expect(embedding.outputs).toEqual([{ reading: 'vector', name: 'y' }])
})

test('lists, lines and places', () => {
  expect(withItem([1, 2], 2, 3)).toEqual([1, 2, 3])
  expect(withItem([1, 2], 0, null)).toEqual([2])
  expect(lines(' cat \n\ndog\r\n')).toEqual(['cat', 'dog'])
  expect(isAbout('inputs[0].mean[1]', 'inputs[0].mean')).toBe(true)
  expect(isAbout('inputs[0].size', 'inputs[0].scale')).toBe(false)
  expect(isAbout(null, 'task')).toBe(false)
})

test('what is no manifest is none', () => {
  expect(fromJson([])).toBeNull()
  expect(fromJson({ inputs: 'x' })).toMatchObject({ task: 'image-class', parts: [], inputs: [], outputs: [] })
})
