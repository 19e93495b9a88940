// One function for all requests. Failures are thrown as Problem, whether they come from the server
// (application/problem+json) or from the network.
import { sessionAgain } from './lost'
import { isAway, serverBack } from './reach'
import type { components } from './schema'

/** A type of the API, generated from its own document. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

type ProblemBody = Partial<Schema<'Problem'>>
export type Reference = NonNullable<Schema<'Problem'>['references']>[number]

export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly detail: string
  /** The same in Chinese, where the server has it. */
  readonly detailZh: string | null
  readonly field: string | null
  readonly permission: string | null
  readonly references: Reference[]
  readonly retryAfter: number | null

  constructor(status: number, body: ProblemBody, retryAfter: number | null = null) {
    super(body.detail ?? body.title ?? body.code ?? String(status))
    this.name = 'Problem'
    this.status = status
    this.code = body.code ?? 'internal'
    this.detail = body.detail ?? ''
    this.detailZh = body.detail_zh ?? null
    this.field = body.field ?? null
    this.permission = body.permission ?? null
    this.references = body.references ?? []
    this.retryAfter = retryAfter
  }
}

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Record<string, string | number | boolean | undefined | null>
  body?: unknown
  revision?: number
  signal?: AbortSignal
  /** The caller handles 401 itself (sign-in, the first look at the session). */
  quiet?: boolean
}

export function apiUrl(path: string, query: RequestOptions['query'] = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const text = params.toString()
  return `/api/v1${path}${text ? `?${text}` : ''}`
}

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (options.body !== undefined) headers['Content-Type'] = 'application/json'
  if (options.revision !== undefined) headers['If-Match'] = `"${options.revision}"`
  const init: RequestInit = {
    method: options.method ?? 'GET',
    headers,
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
    signal: options.signal,
  }
  const response = await send(apiUrl(path, options.query), init, options.quiet)
  if (!response.ok) throw await readProblem(response)
  return (response.status === 204 ? undefined : await response.json()) as T
}

/** A reading request that failed although the server answers is sent so often again. */
const tries = 2

/** fetch() of an address of the API whose answer is not JSON. When the session ends under way it waits for the next one,
 * and what only reads waits for a server that cannot be reached. */
export async function send(url: string, init: RequestInit = {}, quiet = false): Promise<Response> {
  const reads = !quiet && (init.method ?? 'GET') === 'GET'
  const signal = init.signal ?? undefined
  for (let failed = 0; ; ) {
    let response: Response | null = null
    try {
      response = await fetch(url, { credentials: 'same-origin', ...init })
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
    }
    if (!response || isAway(response.status)) {
      if (reads && failed < tries) {
        failed += 1
        await serverBack(signal)
        continue
      }
      if (!response) throw new Problem(0, { code: 'network' })
    }
    if (response.status !== 401 || quiet || !(await sessionAgain(signal))) return response
  }
}

/** What an answer that is no success says. */
export async function readProblem(response: Response): Promise<Problem> {
  const wait = Number(response.headers.get('Retry-After'))
  let body: ProblemBody = {}
  try {
    body = (await response.json()) as ProblemBody
  } catch {
    // Not JSON: a proxy in between answered. The status is all there is.
    body = { code: response.status >= 500 ? 'unavailable' : 'malformed' }
  }
  return new Problem(response.status, body, Number.isFinite(wait) && wait > 0 ? wait : null)
}
