import { useMemo, useSyncExternalStore } from 'react'
import type { Words } from '../api/kinds'
import { language, type Language } from '../app/prefs'
import { en, type Key } from './en'
import { fill } from './format'
import { zh } from './zh'

export type { Key } from './en'

const catalogues: Record<Language, Record<Key, string>> = { en, zh }

export interface I18n {
  language: Language
  t: (key: Key, values?: Record<string, string | number>) => string
  /** Words of the server in this language. */
  w: (words: Words | null | undefined) => string
  /** The same inside a sentence: "New label set", but "New API token". */
  wl: (words: Words | null | undefined) => string
  /** A count with separators. */
  n: (value: number, digits?: number) => string
}

function make(lang: Language): I18n {
  const texts = catalogues[lang]
  const locale = lang === 'zh' ? 'zh-CN' : 'en-GB'
  return {
    language: lang,
    t: (key, values) => fill(texts[key], values),
    w: (words) => (words ? words[lang] || words.en : ''),
    wl: (words) => {
      const text = words ? words[lang] || words.en : ''
      if (lang === 'zh') return /^[A-Za-z]/.test(text) ? ` ${text}` : text
      return /^[A-Z][^A-Z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
    },
    n: (value, digits = 3) => value.toLocaleString(locale, { maximumFractionDigits: digits }),
  }
}

const made: Record<Language, I18n> = { en: make('en'), zh: make('zh') }

export function i18nOf(lang: Language): I18n {
  return made[lang]
}

export function useI18n(): I18n {
  const lang = useSyncExternalStore(language.subscribe, language.effective)
  return useMemo(() => made[lang], [lang])
}

export function isKey(key: string): key is Key {
  return key in en
}
