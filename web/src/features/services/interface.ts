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
function exampleOf(url: string, method: string, takes: string[]): string {
  const head = `curl -H "Authorization: Bearer $INGOT_KEY"`
  if (method === 'get') return `${head} ${url}`
  if (takes.includes('application/json')) return `${head} -H 'Content-Type: application/json' \\\n  -d '{"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}]}' \\\n  ${url}`
  return `${head} --data-binary @picture.jpg \\\n  ${url}`
}

export function operationsOf(value: unknown): Operation[] {
  const document = (value ?? {}) as Document
  const address = document.servers?.[0]?.url ?? ''
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const found = item?.[method] as { summary?: string; requestBody?: { content?: object } } | undefined
      if (!found) return []
      const takes = Object.keys(found.requestBody?.content ?? {})
      return [{ method: method.toUpperCase(), path, name: nameOf(path), summary: found.summary ?? '', takes, example: exampleOf(`${address}${path === '/{path}' ? '/' : path}`, method, takes) }]
    }))
}
