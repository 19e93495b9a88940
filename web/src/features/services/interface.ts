import { inputOf } from './snippets'

/** An operation of a service, as its OpenAPI document has it. */
export interface Operation {
  method: string
  path: string
  /** Which of the known ones it is, for its title. */
  name: string
  summary: string
  takes: string[]
  example: string
}

type Content = Record<string, { example?: unknown; schema?: { minLength?: number } } | undefined>

const kinds = ['picture', 'text', 'sound'] as const
const mediaOf = { picture: 'image/*', text: 'text/plain', sound: 'audio/*' }

interface Document {
  servers?: { url?: string }[]
  paths?: Record<string, Record<string, unknown> | undefined>
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function nameOf(path: string): string {
  if (path === '/predict') return 'predict'
  if (path === '/v2') return 'server'
  if (path === '/v2/health/live') return 'live'
  if (path === '/v2/health/ready') return 'serverReady'
  const last = /^\/v2\/models\/[^/]+(?:\/(ready|config|stats|infer))?$/.exec(path)
  return last ? (last[1] ?? 'model') : path === '/{path}' ? 'any' : ''
}

/** A command that works when it is copied, once $INGOT_KEY holds a key. */
function exampleOf(url: string, method: string, takes: Content): string {
  const head = `curl -H "Authorization: Bearer $INGOT_KEY"`
  if (method === 'get') return `${head} ${url}`
  const json = takes['application/json']?.example
  if (json !== undefined) return `${head} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(json).replaceAll("'", "'\\''")}' \\\n  ${url}`
  const bytes = takes['application/octet-stream']?.schema?.minLength
  if (bytes !== undefined) return `head -c ${bytes} /dev/zero | ${head} \\\n  -H 'Inference-Header-Content-Length: 0' --data-binary @- --output answer.bin \\\n  ${url}`
  // What the tensors are: to be sent by a client of the protocol.
  if (takes['application/json']) return `${head} ${url.replace(/\/infer$/, '')}`
  return `${head} ${inputOf(kinds.find((kind) => mediaOf[kind] in takes)).curl} \\\n  ${url}`
}

export function operationsOf(value: unknown): Operation[] {
  const document = (value ?? {}) as Document
  const address = document.servers?.[0]?.url ?? ''
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const found = item?.[method] as { summary?: string; requestBody?: { content?: Content } } | undefined
      if (!found) return []
      const content = found.requestBody?.content ?? {}
      return [{ method: method.toUpperCase(), path, name: nameOf(path), summary: found.summary ?? '', takes: Object.keys(content), example: exampleOf(`${address}${path === '/{path}' ? '/' : path}`, method, content) }]
    }))
}
