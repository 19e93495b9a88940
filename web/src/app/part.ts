import { lazy, type LazyExoticComponent } from 'react'
import { partIsGone, serverBack } from '../api/reach'
import { wholeLanguage } from '../i18n'

/** So often a part is asked for that does not come although the server answers, and so many ms later each time. */
const tries = 3
const pause = 400

const isMissing = (error: unknown) => error instanceof Error && /import|preload/i.test(error.message)
const shown = () => document.querySelector('main') !== null

/** A part of the program whose words are among the first (first.en.ts), fetched when it is first needed: when the server is
 * away, as soon as it is back. What is gone after an upgrade never comes: the page stays as it is and offers to be loaded
 * anew (ServerAway); where there is no page yet it fails, and CrashPage loads it anew. */
export async function firstPart<T>(load: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n += 1) {
    try {
      return await load()
    } catch (error) {
      if (!isMissing(error)) throw error
      await serverBack()
      if (n < tries) {
        await new Promise((done) => window.setTimeout(done, n * pause))
        continue
      }
      if (!shown()) throw error
      partIsGone()
      return new Promise(() => undefined)
    }
  }
}

/** Any other part: it comes with the rest of the words. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  return (await Promise.all([firstPart(load), firstPart(() => wholeLanguage())]))[0]
}

type AnyComponent = Awaited<ReturnType<Parameters<typeof lazy>[0]>>['default']

/** A component of such a part. */
export function lazyPart<K extends string, M extends Record<K, AnyComponent>>(load: () => Promise<M>, name: K): LazyExoticComponent<M[K]> {
  return lazy(async () => ({ default: (await part(load))[name] }))
}
