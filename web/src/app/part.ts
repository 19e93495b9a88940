import { lazy, type LazyExoticComponent } from 'react'
import { serverBack } from '../api/reach'
import { wholeLanguage } from '../i18n'

/** A part of the program whose words are among the first (first.en.ts), fetched when it is first needed: when the server is
 * away, as soon as it is back. What is gone after an upgrade fails, and CrashPage loads the page anew. */
export async function firstPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    await serverBack()
    return load()
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
