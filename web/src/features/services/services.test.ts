import { describe, expect, it } from 'vitest'
import { above, ranking, shareText } from './services'
import { snippets, type ServiceModel } from './snippets'

describe('predictions', () => {
  it('hides what is below the threshold', () => {
    const shapes = [{ type: 'box' as const, score: 0.2 }, { type: 'box' as const, score: 0.8 }, { type: 'box' as const }]
    expect(above({ shapes }, 0.5).shapes).toEqual([shapes[1], shapes[2]])
  })
  it('ranks labels by score', () => {
    expect(ranking({ scores: { cat: 0.1, dog: 0.7, cow: 0.2 } }, 2)).toEqual([['dog', 0.7], ['cow', 0.2]])
    expect(ranking({ labels: ['cat'] }, 2)).toEqual([])
  })
  it('writes shares', () => {
    expect(shareText(100)).toBe('10 %')
    expect(shareText(5)).toBe('0.5 %')
  })
})

describe('snippets', () => {
  const address = 'https://127.0.0.1:8082/vision/fruit'
  const tensor = (name: string, datatype: string, shape: number[]) => ({ name, datatype, shape })
  const model: ServiceModel = {
    model_set: 1, model_version: 2, task: 'detection', predicts: true, takes: 'picture', sample: null, thresholds: {},
    graphs: [{ name: 'fruit', inputs: [tensor('images', 'FP32', [-1, 3, 8, 8])], outputs: [tensor('rows', 'FP32', [-1, 6, 4])] }],
  }
  const textOf = (of: ServiceModel | null, name: string) => snippets(address, of).find((one) => one.name === name)?.text ?? ''
  it('never hold the key itself', () => {
    for (const of of [model, null]) {
      for (const { text } of snippets(address, of)) {
        expect(text).toContain('127.0.0.1:8082/vision/fruit')
        expect(text).toContain('INGOT_KEY')
      }
    }
  })
  it('send what the model takes', () => {
    expect(textOf(model, 'curl')).toContain('@picture.jpg')
    expect(textOf({ ...model, takes: 'sound' }, 'Python')).toContain('sound.wav')
    expect(textOf({ ...model, takes: 'text' }, 'JavaScript')).not.toContain('readFile')
  })
  it('name the tensors for Triton', () => {
    const text = textOf(model, 'tritonclient')
    expect(text).toContain('InferInput("images", [1,3,8,8], "FP32")')
    expect(text).toContain('infer("fruit", [x], ')
    expect(text).toContain('ssl=True')
    expect(text).toContain('as_numpy("rows")')
  })
  it('ask no model without a task to predict', () => {
    const plain = { ...model, task: null, takes: null, predicts: false }
    expect(textOf(plain, 'curl')).toContain('/v2/models/fruit')
    expect(snippets(address, plain).some(({ text }) => text.includes('/predict'))).toBe(false)
  })
})
