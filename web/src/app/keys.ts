import { useLayoutEffect, useSyncExternalStore } from 'react'
import type { Key } from '../i18n'

// Keys are registered objects: what they do, how they are called, and where they hold. The newest
// registration of a key wins, so that a page can take over what the shell offers.
export interface Shortcut {
  /** "Ctrl+z", "Shift+b", "?"; empty: no key, only a row of the palette. */
  keys: string
  label: Key
  /** For the placeholders of the label. */
  values?: Record<string, string | number>
  group: 'everywhere' | 'page' | 'form'
  run: (event: KeyboardEvent) => void
  /** Also while typing in a field. */
  inFields?: boolean
  /** Whether it holds now; otherwise the key is left to the browser, or to an older registration. */
  when?: () => boolean
  /** One of many of the same sort: not a row of the help. */
  plain?: boolean
}

let registered: readonly Shortcut[] = []
const listeners = new Set<() => void>()

function change(next: readonly Shortcut[]): void {
  registered = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useRegisteredKeys(): readonly Shortcut[] {
  return useSyncExternalStore(subscribe, () => registered)
}

/** Holds from the moment the page is seen. Shortcuts must be stable (useMemo), or they are registered anew at each render. */
export function useKeys(shortcuts: readonly Shortcut[], enabled = true): void {
  useLayoutEffect(() => {
    if (!enabled) return
    change([...registered, ...shortcuts])
    return () => change(registered.filter((s) => !shortcuts.includes(s)))
  }, [shortcuts, enabled])
}

/** The name of the key that was pressed. Shift is part of it with letters and keys such as Enter; other characters are what
 * Shift makes of them. */
export function nameOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>, shift = true): string {
  const parts = []
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl')
  if (event.altKey) parts.push('Alt')
  if (shift && event.shiftKey && /^(\p{L}|..+)$/u.test(event.key)) parts.push('Shift')
  parts.push(event.key.length === 1 ? event.key.toLowerCase() : event.key)
  return parts.join('+')
}

function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  if (!target) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

export function useKeyDispatcher(): void {
  useLayoutEffect(() => {
    const down = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return
      if (document.querySelector('.keys-none')) return
      // What nobody registered with Shift holds without it, too.
      const names = new Set([nameOf(event), nameOf(event, false)])
      const inField = typing(event)
      // A dialog keeps the page's keys away.
      const modal = document.querySelector('[role="dialog"]:not([data-keys="pass"])') !== null
      for (const name of names) {
        const shortcut = registered.findLast((s) => s.keys === name && (!inField || s.inFields) && !(modal && s.group === 'page') && (s.when?.() ?? true))
        if (!shortcut) continue
        event.preventDefault()
        shortcut.run(event)
        return
      }
    }
    window.addEventListener('keydown', down)
    return () => window.removeEventListener('keydown', down)
  }, [])
}
