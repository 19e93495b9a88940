import { expect, test } from 'vitest'
import { fromJson, inputFields, isAbout, lines, numbersText, parseNumbers, preparationOf, preparations, tidied, withField, withItem, withNames, withoutPart, withOutput, withPart, withPartAs, withTask, type Manifest } from './manifest'

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

test('a tokenizer is always said, and takes along what only another one has', () => {
  const fields = inputFields.text
  const tokenizer = fields.find((f) => f.name === 'tokenizer')
  if (!tokenizer) throw new Error('no tokenizer')
  const choose = (section: Record<string, unknown>, name: string) => tidied(withField(section, tokenizer, name), fields)
  const words = { kind: 'text', name: 'ids', tokenizer: 'wordpiece', vocab: 'vocab.txt', lowercase: false, mask: 'mask', types: 'types' }
  expect(choose({ kind: 'text', name: 'ids' }, 'wordpiece')).toEqual({ kind: 'text', name: 'ids', tokenizer: 'wordpiece' })
  expect(choose(words, 'ngrams')).toEqual({ kind: 'text', name: 'ids', tokenizer: 'ngrams' })
  expect(choose({ kind: 'text', name: 'ids', tokenizer: 'ngrams', counts: 'count' }, 'characters')).toEqual({ kind: 'text', name: 'ids', tokenizer: 'characters' })
  const fit = inputFields.picture.find((f) => f.name === 'fit')
  if (!fit) throw new Error('no fit')
  expect(tidied(withField({ kind: 'picture', fit: 'crop', crop: 0.9, align: 'top-left' }, fit, 'letterbox'), inputFields.picture)).toEqual({ kind: 'picture', fit: 'letterbox', align: 'top-left' })
})

test('a model of several parts', () => {
  const one: Manifest = { ingot: 1, task: 'ocr', parts: [{ name: 'model', file: 'det.onnx' }], inputs: [{ kind: 'picture', name: 'x' }], outputs: [{ reading: 'text-map', name: 'map' }] }
  const graphs = [{ inputs: [{ name: 'x' }], outputs: [{ name: 'map' }] }, { inputs: [{ name: 'picture' }], outputs: [{ name: 'read' }] }]
  const two = withNames(withOutput(withPart(one, 'ocr/Rec v4.onnx'), graphs), graphs)
  expect(two).toEqual({
    ...one, parts: [{ name: 'model', file: 'det.onnx' }, { name: 'rec-v4', file: 'ocr/Rec v4.onnx' }],
    inputs: [{ kind: 'picture', name: 'x' }, { kind: 'picture', name: 'picture', part: 'rec-v4' }],
    outputs: [{ reading: 'text-map', name: 'map' }, { reading: 'ctc', name: 'read', part: 'rec-v4' }],
  })
  expect(withNames(two, graphs)).toBe(two)
  const sized = (shape: (string | number)[]) => withNames(withPart(one, 'rec.onnx'), [graphs[0], { inputs: [{ name: 'p', shape }], outputs: [] }]).inputs[1]
  expect(sized(['n', 3, 48, 'w'])).toEqual({ kind: 'picture', name: 'p', part: 'rec', size: [0, 48] })
  expect(sized([1, 24, 32, 3])).toEqual({ kind: 'picture', name: 'p', part: 'rec', size: [32, 24], layout: 'nhwc' })
  const named = withPartAs(two, 1, { name: 'recogniser', file: 'rec.onnx' })
  expect([named.inputs[1]?.['part'], named.outputs[1]?.['part'], named.inputs[0]?.['part']]).toEqual(['recogniser', 'recogniser', undefined])
  // What is of the first part without saying so goes with it.
  expect(withoutPart(named, 0)).toMatchObject({ parts: [{ name: 'recogniser' }], inputs: [{ name: 'picture' }], outputs: [{ name: 'read' }] })
  expect(withoutPart(named, 1)).toEqual({ ...one, outputs: one.outputs })
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
