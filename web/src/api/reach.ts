// Whether the server answers. A reading request that does not get through waits until the server is back and is then sent
// once more, so that no page has to know: what is shown and typed stays. What writes is told at once, for it may be done.
import { useSyncExternalStore } from 'react'

interface Reach {
  there: boolean
  /** A part of the program cannot be had although the server answers: after an upgrade it has another name. */
  outdated: boolean
  /** When it is asked again, in ms since 1970; null while it is being asked. */
  next: number | null
}

const first = 1000
const longest = 10_000

let reach: Reach = { there: true, outdated: false, next: null }
let wait = first
let asking: Promise<boolean> | null = null
let timer: number | undefined
const listeners = new Set<() => void>()
const waiting = new Set<() => void>()

function change(next: Partial<Reach>): void {
  reach = { ...reach, ...next }
  for (const listener of listeners) listener()
}

/** Answers of a proxy that stands before a server which does not answer. */
export function isAway(status: number): boolean {
  return status === 502 || status === 504
}

async function answers(): Promise<boolean> {
  try {
    return !isAway((await fetch('/api/v1/health', { cache: 'no-store', signal: AbortSignal.timeout(5000) })).status)
  } catch {
    return false
  }
}

async function look(): Promise<boolean> {
  window.clearTimeout(timer)
  if (!reach.there) change({ there: false, next: null })
  const there = await answers()
  asking = null
  if (there) {
    wait = first
    if (!reach.there) change({ there: true, next: null })
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  } else {
    change({ there: false, next: Date.now() + wait })
    timer = window.setTimeout(() => void askServer(), wait)
    wait = Math.min(longest, wait * 2)
  }
  return there
}

/** Asks the server now, after something did not get through; those who ask at the same time share the answer. */
export function askServer(): Promise<boolean> {
  asking ??= look()
  return asking
}

/** Until the server answers again. */
export async function serverBack(signal?: AbortSignal): Promise<void> {
  if (await askServer()) return
  await new Promise<void>((done, fail) => {
    const stop = () => {
      waiting.delete(wake)
      fail(new DOMException('The request is not wanted any more.', 'AbortError'))
    }
    const wake = () => {
      signal?.removeEventListener('abort', stop)
      done()
    }
    waiting.add(wake)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** What waits for a part that does not come any more: from now on the page offers to be loaded anew. */
export function partIsGone(): void {
  change({ outdated: true })
}

let streams = 0
/** A stream of the server's is open, and tells by itself when the server goes; until the returned function is called. */
export function streamOpened(): () => void {
  streams += 1
  let open = true
  return () => {
    if (open) streams -= 1
    open = false
  }
}

const often = 2000
/** Finds out that the server is away where no stream tells: asks it now and then. */
export function watchServer(): () => void {
  const timer = window.setInterval(() => {
    if (streams === 0 && reach.there && !document.hidden) void askServer()
  }, often)
  return () => window.clearInterval(timer)
}

export function subscribeReach(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useReach(): Reach {
  return useSyncExternalStore(subscribeReach, () => reach)
}
