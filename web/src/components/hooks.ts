import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'

const query = globalThis.window?.matchMedia?.('(max-width: 720px)')

function watch(listener: () => void): () => void {
  query?.addEventListener('change', listener)
  return () => query?.removeEventListener('change', listener)
}

/** A phone's width: the menu becomes a drawer, rows become cards. */
export function useNarrow(): boolean {
  return useSyncExternalStore(watch, () => query?.matches === true)
}

export function useDebounced<T>(value: T, delay: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), delay)
    return () => window.clearTimeout(timer)
  }, [value, delay])
  return settled
}

let now = Date.now()
const ticking = new Set<() => void>()
let timer: number | undefined

function tick(listener: () => void): () => void {
  ticking.add(listener)
  timer ??= window.setInterval(() => {
    now = Date.now()
    for (const each of ticking) each()
  }, 20_000)
  return () => {
    ticking.delete(listener)
    if (ticking.size === 0) {
      window.clearInterval(timer)
      timer = undefined
    }
  }
}

/** The present, moving on every 20 s for all that show relative times. */
export function useNow(): number {
  return useSyncExternalStore(tick, () => now)
}

export function useTitle(...parts: (string | null | undefined)[]): void {
  const title = [...parts, 'Ingot'].filter(Boolean).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

/** One function for a component's whole life that does what the latest drawn one does: for the properties of memoised parts. */
export function useLatest<A extends unknown[], R>(run: (...args: A) => R): (...args: A) => R {
  const latest = useRef(run)
  useLayoutEffect(() => {
    latest.current = run
  })
  return useCallback((...args: A) => latest.current(...args), [])
}

/** Whether the component is still there: what an answer does to the page, it does to the page that asked. */
export function useShown(): () => boolean {
  const shown = useRef(false)
  useLayoutEffect(() => {
    shown.current = true
    return () => {
      shown.current = false
    }
  }, [])
  return useCallback(() => shown.current, [])
}

/** Runs one at a time: what is clicked twice before the page shows that it is at work is done once. */
export function useOnce<A extends unknown[]>(run: (...args: A) => Promise<unknown>): (...args: A) => Promise<void> {
  const running = useRef(false)
  return useLatest(async (...args: A) => {
    if (running.current) return
    running.current = true
    try {
      await run(...args)
    } finally {
      running.current = false
    }
  })
}

/** For what opens above the page: Escape counts from the moment it is seen, not only once it has the focus. */
export function useEscape(run: (() => void) | null): void {
  const latest = useRef(run)
  useLayoutEffect(() => {
    latest.current = run
  })
  useLayoutEffect(() => {
    const onEscape = (event: KeyboardEvent) => {
      const inside = document.activeElement?.closest('.ant-modal-root, .ant-drawer, .ant-select-dropdown, .ant-dropdown, .ant-popover')
      if (event.key === 'Escape' && !event.defaultPrevented && !inside) latest.current?.()
    }
    document.addEventListener('keydown', onEscape)
    return () => document.removeEventListener('keydown', onEscape)
  }, [])
}
