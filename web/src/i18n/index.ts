import type { Locale } from 'antd/es/locale'
import { useSyncExternalStore } from 'react'
import type { Words } from '../api/kinds'
import { language, type Language } from '../app/prefs'
import type { Key } from './en'
import { fill } from './format'

export type { Key } from './en'

/** What a language has. Each is a chunk of its own: a page loads the one that it shows. */
export interface Pack {
  texts: Record<Key, string>
  /** The texts of antd's own parts. */
  parts: Locale
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

function make(lang: Language, { texts, parts, sentence }: Pack): I18n {
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
    t: (key, values) => fill(texts[key], values),
    w: (words) => (words ? words[lang] || words.en : ''),
    wl: (words) => {
      const text = words ? words[lang] || words.en : ''
      if (lang === 'zh') return /^[A-Za-z]/.test(text) ? ` ${text}` : text
      return /^[A-Z][^A-Z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
    },
    sentence,
    n: (value, digits = 3) => format(digits).format(value),
  }
}

const made: Partial<Record<Language, I18n>> = {}
const listeners = new Set<() => void>()
let known: Record<string, string> = {}
let shown: I18n | null = null

/** Fetches a language, once. */
export async function loadLanguage(lang: Language): Promise<I18n> {
  const there = made[lang]
  if (there) return there
  const { pack } = await packs[lang]()
  known = pack.texts
  return (made[lang] ??= make(lang, pack))
}

/** Shows the chosen language as soon as it is there; until then the page stays in the one it has. A choice that changes
 * meanwhile is the one that counts. */
export async function showLanguage(): Promise<void> {
  const wanted = language.effective()
  const loaded = await loadLanguage(wanted)
  if (language.effective() !== wanted || shown === loaded) return
  shown = loaded
  for (const listener of [...listeners]) listener()
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
  return key in known
}
