// What a person prefers in this browser: language, theme, last project. Small observable values kept in
// localStorage; private windows without storage work too, they only forget.
export type Language = 'en' | 'zh'
export type Theme = 'light' | 'dark' | 'system'

function load(name: string): string | null {
  try {
    return localStorage.getItem(`ingot.${name}`)
  } catch {
    return null
  }
}

function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`ingot.${name}`)
    else localStorage.setItem(`ingot.${name}`, value)
  } catch {
    // Storage is off: the choice holds until the page is closed.
  }
}

function observable<T extends string>(name: string, valid: (text: string | null) => text is T) {
  const listeners = new Set<() => void>()
  const read = (): T | null => {
    const text = load(name)
    return valid(text) ? text : null
  }
  let value = read()
  return {
    get: () => value,
    set: (next: T | null) => {
      value = next
      store(name, next)
      for (const listener of listeners) listener()
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const languageChoice = observable('language', (t): t is Language => t === 'en' || t === 'zh')
const themeChoice = observable('theme', (t): t is Theme => t === 'light' || t === 'dark' || t === 'system')
/** How lists that can be both are shown. */
export const listLook = observable('look', (t): t is 'rows' | 'cards' => t === 'rows' || t === 'cards')
/** Milliseconds between two questions of pages that watch the platform. */
export const refreshEvery = observable('refresh', (t): t is string => t !== null)
/** The groups of the menu that are folded, by name, with commas between them. */
export const foldedMenu = observable('folded', (t): t is string => t !== null)
export const lastProject = observable('project', (t): t is string => t !== null && t !== '')

export const language = {
  ...languageChoice,
  effective: (): Language =>
    languageChoice.get() ?? (globalThis.navigator?.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'),
}

const darkQuery = globalThis.window?.matchMedia?.('(prefers-color-scheme: dark)')

export const theme = {
  set: themeChoice.set,
  get: (): Theme => themeChoice.get() ?? 'system',
  dark: (): boolean => {
    const choice = themeChoice.get() ?? 'system'
    return choice === 'dark' || (choice === 'system' && darkQuery?.matches === true)
  },
  subscribe: (listener: () => void) => {
    darkQuery?.addEventListener('change', listener)
    const off = themeChoice.subscribe(listener)
    return () => {
      darkQuery?.removeEventListener('change', listener)
      off()
    }
  },
}
