import { expect, test } from 'vitest'
import type { Kind } from '../../api/kinds'
import { pythonText, shellWord, snippets } from './snippets'

const dataset = { name: 'dataset', plural: 'datasets' } as Kind
const models = { name: 'model_set', plural: 'model-sets' } as Kind

test('names become one word of a shell, whatever is in them', () => {
  expect(shellWord('cats:v2')).toBe('cats:v2')
  expect(shellWord('交通标志:v1')).toBe('交通标志:v1')
  expect(shellWord('my $(cats)')).toBe("'my $(cats)'")
  expect(shellWord("it's")).toBe("'it'\\''s'")
})

test('names become a text of Python', () => {
  expect(pythonText('a"b\\c')).toBe('"a\\"b\\\\c"')
  expect(pythonText('一\n二')).toBe('"一\\x0a二"')
})

test('a version of a dataset is exported, one of a model downloaded', () => {
  const [cli, python] = snippets({ kind: dataset, project: 'vision', name: 'cats and dogs', number: 3 })
  expect(cli?.text).toBe("ingot dataset export 'cats and dogs:v3' --project vision --to cats-and-dogs.zip")
  expect(python?.text.split('\n').at(-1)).toBe('client.datasets.export("cats and dogs", project=project, version="v3", path="cats-and-dogs.zip")')
  const [download, take] = snippets({ kind: models, project: 'vision', name: 'fruit', number: 1 })
  expect(download?.text).toBe('ingot model-set download fruit:v1 --project vision --to fruit')
  expect(take?.text.split('\n').at(-1)).toBe('client.model_sets.download("fruit", "fruit", project=project, version="v1")')
})
