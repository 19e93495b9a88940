// Requests as commands and programs that work when they are copied.
import { pythonText } from '../datasets/snippets'
import type { Noun, Operation } from './reference'

/** What is to be sent: texts of parameters, and of the body. */
export interface Filled {
  /** By place and name: "path id". */
  values: Readonly<Record<string, string>>
  /** JSON; empty: none. */
  body: string
}

export const slot = (parameter: { in: string; name: string }) => `${parameter.in} ${parameter.name}`

/** Path and query, with what was filled in; parts of the path that are missing stay in braces. */
export function addressOf(operation: Operation, filled: Filled): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = filled.values[`path ${name}`] ?? ''
    return value === '' ? whole : encodeURIComponent(value)
  })
  const query = operation.parameters.filter((one) => one.in === 'query' && (filled.values[slot(one)] ?? '') !== '')
  const text = new URLSearchParams(query.map((one) => [one.name, filled.values[slot(one)] ?? ''])).toString()
  return text ? `${path}?${text}` : path
}

/** The headers that were filled in. */
export function headersOf(operation: Operation, filled: Filled): [string, string][] {
  return operation.parameters.filter((one) => one.in === 'header' && (filled.values[slot(one)] ?? '') !== '').map((one) => [one.name, filled.values[slot(one)] ?? ''])
}

/** The media type of a successful answer. */
export function answersWith(operation: Operation): string | null {
  return operation.answers.find((one) => /^2/.test(one.status) && one.content)?.content?.media ?? null
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A body of one line, where it is JSON. */
function short(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

const isJson = (media: string | null | undefined) => media === 'application/json'

export function curl(origin: string, operation: Operation, filled: Filled): string {
  const lines = ['curl']
  if (!operation.open) lines.push('-H "Authorization: Bearer $INGOT_TOKEN"')
  if (operation.method !== 'GET') lines.push(`-X ${operation.method}`)
  for (const [name, value] of headersOf(operation, filled)) lines.push(`-H ${inQuotes(`${name}: ${value}`)}`)
  if (operation.body && isJson(operation.body.media)) lines.push("-H 'Content-Type: application/json'", `-d ${inQuotes(short(filled.body) || '{}')}`)
  else if (operation.body) lines.push(`-H ${inQuotes(`Content-Type: ${operation.body.media}`)}`, '--data-binary @file')
  const media = answersWith(operation)
  if (media === 'text/event-stream' || media === 'application/x-ndjson') lines.push('-N')
  else if (media && !isJson(media) && !media.startsWith('text/')) lines.push('-o answer')
  lines.push(inQuotes(origin + addressOf(operation, filled)))
  return lines.join(' \\\n  ')
}

export function pythonValue(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return pythonText(value)
  if (Array.isArray(value)) return `[${value.map((one) => pythonValue(one, indent)).join(', ')}]`
  if (typeof value === 'object') return `{${Object.entries(value).map(([name, one]) => `${pythonText(name)}: ${pythonValue(one, indent)}`).join(', ')}}`
  return String(value)
}

function parsed(body: string): unknown {
  try {
    return body.trim() === '' ? undefined : JSON.parse(body)
  } catch {
    return undefined
  }
}

const reserved = /^(class|def|from|import|in|is|not|or|and|if|else|for|global|lambda|pass|raise|return|try|while|with|yield|async|await|del|None|True|False)$/

/** Arguments of a call, as `name=value`; null where a name cannot be one. */
function named(value: unknown): string[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const entries = Object.entries(value)
  return entries.every(([name]) => /^[A-Za-z_]\w*$/.test(name) && !reserved.test(name)) ? entries.map(([name, one]) => `${name}=${pythonValue(one)}`) : null
}

/** The call of the SDK's collection that is this operation. */
function collectionCall(noun: Noun, operation: Operation, filled: Filled): string[] | null {
  const plural = /^\/api\/v1\/([a-z-]+)(?:\/\{id\})?$/.exec(operation.path)?.[1]
  if (!plural || noun.parent !== null) return null
  const collection = `client.${plural.replaceAll('-', '_')}`
  const id = filled.values['path id'] || '1'
  const fields = named(parsed(filled.body) ?? {})
  const query = operation.parameters.filter((one) => one.in === 'query' && (filled.values[slot(one)] ?? '') !== '' && /^(q|filter|sort|project|mine)$/.test(one.name))
  const given = query.map((one) => `${one.name}=${one.schema.type === 'string' ? pythonText(filled.values[slot(one)] ?? '') : pythonValue(parsed(filled.values[slot(one)] ?? '') ?? null)}`)
  switch (operation.id) {
    case `${noun.name}_list`: return [`for one in ${collection}.list(${given.join(', ')}):`, '    print(one)']
    case `${noun.name}_create`: return fields && [`print(${collection}.create(${fields.join(', ')}))`]
    case `${noun.name}_read`: return [`print(${collection}.get(${id}))`]
    case `${noun.name}_update`: return fields && [`print(${collection}.update(${[id, ...fields].join(', ')}))`]
    case `${noun.name}_delete`: return [`${collection}.delete(${id})`]
    default: return null
  }
}

function requestCall(operation: Operation, filled: Filled): string[] {
  const path = addressOf({ ...operation, parameters: [] }, filled).replace(/^\/api\/v1\//, '')
  const given = [pythonText(operation.method), pythonText(path)]
  const query = operation.parameters.filter((one) => one.in === 'query' && (filled.values[slot(one)] ?? '') !== '')
  if (query.length > 0) given.push(`params=${pythonValue(Object.fromEntries(query.map((one) => [one.name, filled.values[slot(one)]])))}`)
  const headers = headersOf(operation, filled)
  const json = !operation.body || isJson(operation.body.media)
  if (operation.body && json) given.push(`json=${pythonValue(parsed(filled.body) ?? {})}`)
  else if (operation.body) {
    given.push('content=open("file", "rb").read()')
    headers.push(['Content-Type', operation.body.media])
  }
  if (headers.length > 0) given.push(`headers=${pythonValue(Object.fromEntries(headers))}`)
  const media = answersWith(operation)
  if (media === 'text/event-stream' || media === 'application/x-ndjson') return [`for line in client.stream(${given.join(', ')}):`, '    print(line)']
  // `checked` raises on refusal, and takes bytes only.
  const call = `client.${operation.body && json ? 'send' : 'checked'}(${given.join(', ')})`
  if (media && !isJson(media) && !media.startsWith('text/')) return [`open("answer", "wb").write(${call}.content)`]
  if (!json || (media && !isJson(media))) return [`print(${call}.text)`]
  return [`print(client.request(${given.join(', ')}))`]
}

export function python(origin: string, noun: Noun, operation: Operation, filled: Filled): string {
  const call = operation.path.startsWith('/api/v1/') ? collectionCall(noun, operation, filled) ?? requestCall(operation, filled) : null
  if (!call) return ''
  return ['import os', 'import ingot', '', `with ingot.Client(${pythonText(origin)}, token=os.environ["INGOT_TOKEN"]) as client:`, ...call.map((line) => `    ${line}`)].join('\n')
}
