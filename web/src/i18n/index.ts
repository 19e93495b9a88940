import type { Locale } from 'antd/es/locale'
import { useSyncExternalStore } from 'react'
import type { Words } from '../api/kinds'
import { language, type Language } from '../app/prefs'
import type { FirstKey, Key } from './en'
import { fill } from './format'

export type { Key } from './en'

/** What a language has. Each is two chunks of its own: a page loads those of the one that it shows. */
export interface Pack {
  /** The words of what is shown first. */
  texts: Record<FirstKey, string>
  /** The texts of antd's own parts. */
  parts: Locale
  /** What every other page needs: `part` of app/part.ts waits for it. */
  rest: () => Promise<Rest>
}

interface Rest {
  texts: Record<Exclude<Key, FirstKey>, string>
  sentence: (text: string, own?: string | null) => string
}

export interface I18n {
  language: Language
  parts: Locale
  t: (key: Key, values?: Record<string, string | number>) => string
  /** Words of the server in this language. */
  w: (words: Words | null | undefined) => string
  /** The same inside a sentence: "New label set", but "New API token". */
  wl: (words: Words | null | undefined) => string
  /** A sentence of the server, of which it may have said the Chinese one itself. */
  sentence: (text: string, zh?: string | null) => string
  /** A count with separators. */
  n: (value: number, digits?: number) => string
}

const packs: Record<Language, () => Promise<{ pack: Pack }>> = {
  en: () => import('./pack.en'),
  zh: () => import('./pack.zh'),
}

function make(lang: Language, { texts: first, parts }: Pack, rest?: Rest): I18n {
  const texts: Partial<Record<Key, string>> = { ...first, ...rest?.texts }
  const locale = lang === 'zh' ? 'zh-CN' : 'en-GB'
  // Making one takes longer than a whole list takes to render: each is made once.
  const formats = new Map<number, Intl.NumberFormat>()
  const format = (digits: number) => {
    const there = formats.get(digits) ?? new Intl.NumberFormat(locale, { maximumFractionDigits: digits })
    formats.set(digits, there)
    return there
  }
  return {
    language: lang,
    parts,
    t: (key, values) => fill(texts[key] ?? '', values),
    w: (words) => (words ? words[lang] || words.en : ''),
    wl: (words) => {
      const text = words ? words[lang] || words.en : ''
      if (lang === 'zh') return /^[A-Za-z]/.test(text) ? ` ${text}` : text
      return /^[A-Z][^A-Z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
    },
    sentence: rest?.sentence ?? ((text, own) => (lang === 'zh' && own) || text),
    n: (value, digits = 3) => format(digits).format(value),
  }
}

const made: Partial<Record<Language, I18n>> = {}
const whole = new Set<Language>()
const listeners = new Set<() => void>()
let known: ReadonlySet<string> = new Set()
let shown: I18n | null = null

function show(next: I18n): void {
  shown = next
  for (const listener of [...listeners]) listener()
}

/** Fetches a language's first words, once. */
export async function loadLanguage(lang: Language): Promise<I18n> {
  const there = made[lang]
  if (there) return there
  const { pack } = await packs[lang]()
  known = new Set([...known, ...Object.keys(pack.texts)])
  return (made[lang] ??= make(lang, pack))
}

/** Fetches all words of a language, once. */
export async function wholeLanguage(lang: Language = language.effective()): Promise<I18n> {
  const there = made[lang]
  if (there && whole.has(lang)) return there
  const { pack } = await packs[lang]()
  const rest = await pack.rest()
  const before = made[lang]
  if (before && whole.has(lang)) return before
  const all = make(lang, pack, rest)
  made[lang] = all
  whole.add(lang)
  known = new Set([...known, ...Object.keys(pack.texts), ...Object.keys(rest.texts)])
  if (before && shown === before) show(all)
  return all
}

/** Shows the chosen language as soon as it is there; until then the page stays in the one it has. A choice that changes
 * meanwhile is the one that counts. */
export async function showLanguage(load: (lang: Language) => Promise<I18n> = wholeLanguage): Promise<void> {
  const wanted = language.effective()
  const loaded = await load(wanted)
  if (language.effective() === wanted && shown !== loaded) show(loaded)
}

// Without a network the page stays as it is; the choice is kept, and holds when the page is loaded again.
language.subscribe(() => void showLanguage().catch(() => undefined))

/** A language that was loaded. */
export function i18nOf(lang: Language): I18n {
  const there = made[lang]
  if (!there) throw new Error(`the language ${lang} is not loaded`)
  return there
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useI18n(): I18n {
  return useSyncExternalStore(subscribe, () => shown ?? i18nOf(language.effective()))
}

export function isKey(key: string): key is Key {
  return known.has(key)
}
