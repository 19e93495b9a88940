import { expect, test } from 'vitest'
import { operationsOf } from './interface'

const document = {
  servers: [{ url: 'http://h:8082/vision/fruit' }],
  paths: {
    '/predict': { post: { summary: 'A picture', requestBody: { content: { 'image/*': {}, 'text/plain': {} } } } },
    '/v2/models/fruit': { get: { summary: 'About' } },
    '/v2/models/fruit/infer': { post: { summary: 'Tensors', requestBody: { content: { 'application/json': {} } } } },
  },
}

test('the operations of a document, with commands that can be copied', () => {
  const found = operationsOf(document)
  expect(found.map((o) => [o.method, o.name])).toEqual([['POST', 'predict'], ['GET', 'model'], ['POST', 'infer']])
  expect(found[0]?.takes).toEqual(['image/*', 'text/plain'])
  expect(found[0]?.example).toContain('--data-binary @picture.jpg')
  expect(found[0]?.example).toContain('http://h:8082/vision/fruit/predict')
  expect(found[1]?.example).toBe('curl -H "Authorization: Bearer $INGOT_KEY" http://h:8082/vision/fruit/v2/models/fruit')
  expect(found[2]?.example).toContain('"inputs"')
})

test('what is no document has none', () => {
  expect(operationsOf(null)).toEqual([])
  expect(operationsOf({ paths: { '/x': {} } })).toEqual([])
})
