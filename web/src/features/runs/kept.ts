import { useCallback, useState } from 'react'

function load(name: string): string[] | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? 'null')
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : null
  } catch {
    return null
  }
}

/** A list of names that a person chose, kept in this browser; null: nothing was chosen. */
export function useKeptList(scope: string): [string[] | null, (next: string[] | null) => void] {
  const name = `ingot.${scope}`
  const [value, setValue] = useState(() => load(name))
  const set = useCallback((next: string[] | null) => {
    setValue(next)
    try {
      if (next === null) localStorage.removeItem(name)
      else localStorage.setItem(name, JSON.stringify(next))
    } catch {
      // Storage is off: the choice holds until the page is closed.
    }
  }, [name])
  return [value, set]
}
