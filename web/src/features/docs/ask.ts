// Asks the server what a form says, and tells of the answer while it comes.
import { addressOf, headersOf, type Filled } from './snippets'
import type { Operation } from './reference'

export interface Told {
  state: 'asking' | 'done' | 'failed'
  status: number | null
  statusText: string
  /** Until the answer was whole. */
  ms: number | null
  bytes: number
  media: string | null
  headers: [string, string][]
  text: string
  /** There is more than is shown. */
  cut: boolean
  /** Addresses of what is no text. */
  picture: string | null
  download: string | null
}

export interface Asked extends Filled {
  file: File | null
  /** In place of the session. */
  token: string
}

/** So much of an answer is shown; so much is fetched. */
const mostShown = 200_000
const mostFetched = 32 * 1024 * 1024
const shownHeaders = ['etag', 'location', 'retry-after', 'link', 'upload-offset']
const nothing: Told = { state: 'asking', status: null, statusText: '', ms: null, bytes: 0, media: null, headers: [], text: '', cut: false, picture: null, download: null }

function isText(media: string | null): boolean {
  return media === null || /^text\/|json|xml|openmetrics/.test(media)
}

function pretty(text: string, media: string | null): string {
  if (!media?.includes('json') || media.includes('ndjson')) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

async function read(response: Response, tell: (bytes: Uint8Array[], size: number) => void): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let next = await reader?.read(); next && !next.done && size < mostFetched; next = await reader?.read()) {
    pieces.push(next.value)
    size += next.value.length
    tell(pieces, size)
  }
  await reader?.cancel()
  return pieces
}

const joined = (pieces: Uint8Array[]) => new Blob(pieces as BlobPart[])

export async function ask(operation: Operation, asked: Asked, signal: AbortSignal, tell: (told: Told) => void): Promise<void> {
  let told = nothing
  const say = (change: Partial<Told>) => tell((told = { ...told, ...change }))
  say({})
  const began = performance.now()
  const headers = new Headers(headersOf(operation, asked))
  if (asked.token !== '') headers.set('Authorization', `Bearer ${asked.token}`)
  const json = operation.body?.media === 'application/json'
  if (operation.body) headers.set('Content-Type', operation.body.media)
  const body = operation.body ? (json ? asked.body || '{}' : asked.file ?? new Blob()) : undefined
  try {
    const response = await fetch(addressOf(operation, asked), { method: operation.method, headers, body, signal, credentials: asked.token === '' ? 'same-origin' : 'omit' })
    const media = response.headers.get('Content-Type')?.split(';')[0] ?? null
    say({ status: response.status, statusText: response.statusText, media, headers: shownHeaders.flatMap((name) => { const value = response.headers.get(name); return value === null ? [] : [[name, value] as [string, string]] }) })
    const decoder = new TextDecoder()
    let text = ''
    let seen = 0
    const pieces = await read(response, (all, size) => {
      for (; isText(media) && text.length < mostShown && seen < all.length; seen += 1) text += decoder.decode(all[seen], { stream: true })
      say({ bytes: size, text: text.slice(0, mostShown) })
    })
    const whole = joined(pieces)
    const cut = text.length > mostShown || whole.size > text.length * 4
    say({
      state: 'done', ms: performance.now() - began, text: cut ? told.text : pretty(text, media), cut: isText(media) && cut,
      picture: media?.startsWith('image/') && media !== 'image/svg+xml' ? URL.createObjectURL(whole) : null, download: whole.size > 0 && (!isText(media) || cut) ? URL.createObjectURL(whole) : null,
    })
  } catch {
    // Stopped by hand: what has come stays.
    say(signal.aborted ? { state: 'done', ms: performance.now() - began } : { state: 'failed' })
  }
}
