// A session that ends while a page is open. Requests that find it out wait for somebody to sign in again and are then
// sent once more, so that no page has to know: what was typed stays, what was being saved is saved.
import { useSyncExternalStore } from 'react'

type State = 'unwatched' | 'fine' | 'lost' | 'left'

let state: State = 'unwatched'
const listeners = new Set<() => void>()
const waiting = new Set<() => void>()

function change(next: State): void {
  if (state === next) return
  state = next
  for (const listener of listeners) listener()
}

/** From now on somebody asks to sign in again when the session ends, until the returned function is called. */
export function watchSession(): () => void {
  change('fine')
  return () => {
    if (state !== 'left') change('unwatched')
    resume()
  }
}

function resume(): void {
  const woken = [...waiting]
  waiting.clear()
  for (const wake of woken) wake()
}

/** The same user is signed in again: whatever waits goes on. */
export function signedInAgain(): void {
  if (state === 'lost') change('fine')
  resume()
}

/** The page is being left for another user's, or for the sign-in page: nothing that comes in counts any more. */
export function leaveSession(): void {
  change('left')
}

/** After an answer of 401: true when the request is to be sent again, false when nobody watches. */
export function sessionAgain(signal?: AbortSignal): Promise<boolean> {
  if (state === 'unwatched') return Promise.resolve(false)
  if (state === 'left') return new Promise(() => undefined)
  change('lost')
  return new Promise((done, fail) => {
    const wake = () => {
      signal?.removeEventListener('abort', stop)
      done(state !== 'unwatched')
    }
    const stop = () => {
      waiting.delete(wake)
      fail(new DOMException('The request is not wanted any more.', 'AbortError'))
    }
    waiting.add(wake)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useSessionLost(): boolean {
  return useSyncExternalStore(subscribe, () => state === 'lost')
}
