// The OpenAPI document of the server as nouns and what can be asked of them.
import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client'
import type { Words } from '../../api/kinds'

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  examples?: unknown[]
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}

interface Content {
  media: string
  schema: Schema
}

export interface Answer {
  status: string
  description: string
  content: Content | null
}

export interface Operation {
  id: string
  method: string
  path: string
  summary: string
  description: string
  parameters: Parameter[]
  body: Content | null
  answers: Answer[]
  /** Anybody may ask. */
  open: boolean
}

export interface Noun {
  name: string
  title: Words
  description: string
  group: string | null
  parent: string | null
  operations: Operation[]
}

export interface Reference {
  nouns: Noun[]
  schemas: Record<string, Schema>
  version: string
}

type ContentMap = Record<string, { schema?: Schema }>
interface RawAnswer { $ref?: string; description?: string; content?: ContentMap }
interface RawOperation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content: ContentMap }
  responses: Record<string, RawAnswer>
  security?: unknown[]
}
export interface Document {
  info: { version: string }
  tags: { name: string; description?: string; 'x-title'?: Words; 'x-group'?: string; 'x-parent'?: string }[]
  paths: Record<string, Record<string, RawOperation> & { parameters?: Parameter[] }>
  components: { schemas: Record<string, Schema>; responses: Record<string, RawAnswer> }
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const

function contentOf(content: ContentMap | undefined): Content | null {
  const [first] = Object.entries(content ?? {})
  return first ? { media: first[0], schema: first[1].schema ?? {} } : null
}

export function referenceOf(document: Document): Reference {
  const byName = new Map<string, Operation[]>()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      const raw = item[method]
      if (!raw) continue
      const answers = Object.entries(raw.responses).map(([status, answer]): Answer => {
        const told = answer.$ref ? document.components.responses[answer.$ref.split('/').at(-1) ?? ''] ?? answer : answer
        return { status, description: told.description ?? '', content: contentOf(told.content) }
      })
      const tag = raw.tags?.[0] ?? ''
      const list = byName.get(tag) ?? []
      byName.set(tag, list)
      list.push({
        id: raw.operationId, method: method.toUpperCase(), path, summary: raw.summary ?? path, description: raw.description ?? '',
        parameters: [...(item.parameters ?? []), ...(raw.parameters ?? [])], body: contentOf(raw.requestBody?.content), answers, open: raw.security?.length === 0,
      })
    }
  }
  const nouns = document.tags.map((tag): Noun => ({
    name: tag.name, title: tag['x-title'] ?? { en: tag.name, zh: tag.name }, description: tag.description ?? '', group: tag['x-group'] ?? null,
    parent: tag['x-parent'] ?? null, operations: byName.get(tag.name) ?? [],
  }))
  return { nouns: nouns.filter((noun) => noun.operations.length > 0), schemas: document.components.schemas, version: document.info.version }
}

export function useReference() {
  return useQuery({ queryKey: ['reference'], queryFn: async () => referenceOf(await request<Document>('/openapi.json', { quiet: true })), staleTime: Infinity })
}

const nounGroups = ['data', 'build', 'models', 'serve', 'market', 'admin']

/** The nouns as the menu groups them; those of none come last. A child follows its parent. */
export function grouped(nouns: readonly Noun[]): { name: string | null; nouns: Noun[] }[] {
  const names = [...nounGroups, null]
  return names.map((name) => ({ name, nouns: nouns.filter((noun) => noun.group === name) })).filter((group) => group.nouns.length > 0)
}

/** What a noun is called where its parent is not seen beside it: "Datasets · Versions". */
export function wholeTitle(noun: Noun, nouns: readonly Noun[], w: (words: Words) => string): string {
  const parent = nouns.find((one) => one.name === noun.parent)
  return parent ? `${w(parent.title)} · ${w(noun.title)}` : w(noun.title)
}

function pointed(schema: Schema, schemas: Reference['schemas']): Schema {
  return schema.$ref ? schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {} : schema
}

/** The properties that a schema has, its own and those of what it is made of. */
export function propertiesOf(schema: Schema, schemas: Reference['schemas']): { name: string; schema: Schema; required: boolean }[] {
  const whole = pointed(schema, schemas)
  const own = Object.entries(whole.properties ?? {}).map(([name, one]) => ({ name, schema: one, required: whole.required?.includes(name) ?? false }))
  return [...(whole.allOf ?? []).flatMap((one) => propertiesOf(one, schemas)), ...own]
}

export function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? ''
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map(typeOf).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const types = [schema.type ?? 'any'].flat()
  const shown = types.map((type) => (type === 'array' ? `${typeOf(schema.items ?? {})}[]` : type)).join(' | ')
  return schema.format && schema.format !== 'int64' ? `${shown} (${schema.format})` : shown
}

/** The name of the schema that a type is, or is a list of: for looking further. */
export function namedIn(schema: Schema): string | null {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? null
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])]) {
    const name = namedIn(one)
    if (name) return name
  }
  return null
}

/** Limits as numbers with their names. */
export function limitsOf(schema: Schema): { name: 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'minItems' | 'maxItems' | 'default'; value: string }[] {
  return (['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'default'] as const).flatMap((name) => (schema[name] === undefined ? [] : [{ name, value: JSON.stringify(schema[name]) }]))
}

const texts: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00Z', date: '2026-01-31', email: 'ann@example.org', name: 'example', color: '#0091ff', description: '', password: 'a long password', language: 'en',
}
const deepest = 6

/** A value that such a schema allows; `whole`: with everything that may be left out. */
export function exampleOf(schema: Schema, schemas: Reference['schemas'], whole: boolean, name = '', depth = 0): unknown {
  const told = schema.example ?? schema.examples?.[0] ?? schema.const ?? schema.default
  if (told !== undefined && told !== null) return told
  if (schema.enum) return schema.enum.find((value) => value !== null) ?? null
  const choice = (schema.anyOf ?? schema.oneOf)?.find((one) => one.type !== 'null')
  if (choice) return exampleOf(choice, schemas, whole, name, depth)
  if (schema.$ref) return depth >= deepest ? {} : exampleOf(pointed(schema, schemas), schemas, whole, name, depth + 1)
  const type = [schema.type ?? (schema.properties || schema.allOf ? 'object' : 'any')].flat().find((one) => one !== 'null')
  switch (type) {
    case 'object': return Object.fromEntries(propertiesOf(schema, schemas).filter((one) => whole || one.required).map((one) => [one.name, depth >= deepest ? null : exampleOf(one.schema, schemas, whole, one.name, depth + 1)]))
    case 'array': return depth >= deepest || (!whole && (schema.minItems ?? 0) === 0 && depth > 1) ? [] : [exampleOf(schema.items ?? {}, schemas, whole, name, depth + 1)]
    case 'integer': return Math.max(schema.minimum ?? 1, 1)
    case 'number': return schema.minimum ?? 0.5
    case 'boolean': return true
    case 'string': return texts[schema.format ?? ''] ?? texts[name] ?? 'text'.slice(0, schema.maxLength ?? 4).padEnd(schema.minLength ?? 0, 'x')
    default: return null
  }
}
