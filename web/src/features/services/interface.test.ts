import { expect, test } from 'vitest'
import { operationsOf } from './interface'

const document = {
  servers: [{ url: 'http://h:8082/vision/fruit' }],
  paths: {
    '/predict': { post: { summary: 'A picture', requestBody: { content: { 'text/plain': {}, 'multipart/form-data': {} } } } },
    '/v2/models/fruit': { get: { summary: 'About' } },
    '/v2/models/fruit/infer': { post: { summary: 'Tensors', requestBody: { content: { 'application/json': { example: { inputs: [{ name: "it's", shape: [1], datatype: 'FP32', data: [0] }] } } } } } },
  },
}

test('the operations of a document, with commands that can be copied', () => {
  const found = operationsOf(document)
  expect(found.map((o) => [o.method, o.name])).toEqual([['POST', 'predict'], ['GET', 'model'], ['POST', 'infer']])
  expect(found[0]?.takes).toEqual(['text/plain', 'multipart/form-data'])
  expect(found[0]?.example).toContain('--data-binary "Good morning"')
  expect(found[0]?.example).toContain('http://h:8082/vision/fruit/predict')
  expect(found[1]?.example).toBe('curl -H "Authorization: Bearer $INGOT_KEY" http://h:8082/vision/fruit/v2/models/fruit')
  expect(found[2]?.example).toContain(`'{"inputs":[{"name":"it'\\''s"`)
})

test('tensors that are too many to be written are sent as bytes, or looked up', () => {
  const infer = (content: object) => operationsOf({ servers: [{ url: 'http://h/p/s' }], paths: { '/v2/models/s/infer': { post: { requestBody: { content } } } } })[0]?.example
  expect(infer({ 'application/json': {}, 'application/octet-stream': { schema: { minLength: 602112 } } })).toMatch(/^head -c 602112 .*Inference-Header-Content-Length: 0/s)
  expect(infer({ 'application/json': {}, 'application/octet-stream': { schema: {} } })).toMatch(/http:\/\/h\/p\/s\/v2\/models\/s$/)
})

test('what is no document has none', () => {
  expect(operationsOf(null)).toEqual([])
  expect(operationsOf({ paths: { '/x': {} } })).toEqual([])
})
