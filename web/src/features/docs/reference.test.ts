import { expect, test } from 'vitest'
import { exampleOf, referenceOf, typeOf, type Document, type Schema } from './reference'
import { addressOf, curl, python } from './snippets'

const schemas: Record<string, Schema> = {
  Set: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1, maxLength: 50 }, labels: { type: 'array', items: { $ref: '#/components/schemas/Label' } }, parent: { anyOf: [{ $ref: '#/components/schemas/Set' }, { type: 'null' }] } } },
  Label: { type: 'object', properties: { color: { type: 'string' }, kind: { type: ['string', 'null'], enum: ['a', null] } } },
}
const problem = { description: 'What went wrong', content: { 'application/problem+json': { schema: {} } } }
const document: Document = {
  info: { version: '1' },
  tags: [{ name: 'set', description: 'Sets', 'x-title': { en: 'Sets', zh: '集' }, 'x-group': 'data' }, { name: 'none' }],
  paths: {
    '/api/v1/sets': { post: { operationId: 'set_create', tags: ['set'], requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Set' } } } }, responses: { 201: { description: 'Created', content: { 'application/json': { schema: { $ref: '#/components/schemas/Set' } } } }, 400: { $ref: '#/components/responses/Problem' } } } },
    '/api/v1/sets/{id}/picture': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }],
      get: { operationId: 'get_picture', tags: ['set'], parameters: [{ name: 'size', in: 'query', schema: { type: 'string' } }], responses: { 200: { description: 'OK', content: { 'image/jpeg': {} } } } },
    } as unknown as Document['paths'][string],
  },
  components: { schemas, responses: { Problem: problem } },
}

test('nouns with their operations', () => {
  const { nouns } = referenceOf(document)
  expect(nouns.map((noun) => [noun.name, noun.group, noun.operations.map((one) => one.id)])).toEqual([['set', 'data', ['set_create', 'get_picture']]])
  expect(nouns[0]?.operations[0]?.answers.map((one) => [one.status, one.description])).toEqual([['201', 'Created'], ['400', 'What went wrong']])
  expect(nouns[0]?.operations[1]?.parameters.map((one) => one.name)).toEqual(['id', 'size'])
})

test('examples have what a schema asks for, and end where it goes round', () => {
  expect(exampleOf({ $ref: '#/components/schemas/Set' }, schemas, false)).toEqual({ name: 'example' })
  expect(exampleOf({ $ref: '#/components/schemas/Set' }, schemas, true)).toMatchObject({ name: 'example', labels: [{ color: '#0091ff', kind: 'a' }], parent: { name: 'example' } })
  expect(typeOf({ type: 'array', items: { anyOf: [{ type: 'integer' }, { $ref: '#/components/schemas/Set' }] } })).toBe('integer | Set[]')
})

test('snippets have what was filled in, quoted for their language', () => {
  const noun = referenceOf(document).nouns[0]
  const [create, picture] = noun?.operations ?? []
  if (!noun || !create || !picture) throw new Error('no operations')
  const filled = { values: {}, body: '{"name": "it\'s", "class": true}' }
  expect(curl('http://h:1', create, filled)).toBe("curl \\\n  -H \"Authorization: Bearer $INGOT_TOKEN\" \\\n  -X POST \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"name\":\"it'\\''s\",\"class\":true}' \\\n  'http://h:1/api/v1/sets'")
  expect(python('http://h:1', noun, create, filled)).toContain('client.request("POST", "sets", json={"name": "it\'s", "class": True})')
  expect(python('http://h:1', noun, create, { ...filled, body: '{"name": "x"}' })).toContain('client.sets.create(name="x")')
  const asked = { values: { 'path id': '7', 'query size': 'a b' }, body: '' }
  expect(addressOf(picture, asked)).toBe('/api/v1/sets/7/picture?size=a+b')
  expect(curl('http://h:1', picture, asked)).toContain("-o answer \\\n  'http://h:1/api/v1/sets/7/picture?size=a+b'")
  expect(python('http://h:1', noun, picture, asked)).toContain('open("answer", "wb").write(client.checked("GET", "sets/7/picture", params={"size": "a b"}).content)')
})
