import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { Problem } from '../api/client'
import { useApp } from './context'

// What a person opened last in this browser, for the palette: each of them has a list of their own.
export interface Recent {
  url: string
  title: string
  /** Name of the kind; "project" for a project's first page. */
  kind: string
}

const most = 30
const nameOf = (user: number) => `ingot.recent.${user}`

export function recentOf(user: number): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(nameOf(user)) ?? '[]')
    return Array.isArray(list) ? list.filter(isRecent) : []
  } catch {
    return []
  }
}

function isRecent(one: unknown): one is Recent {
  return typeof one === 'object' && one !== null && ['url', 'title', 'kind'].every((name) => typeof (one as Record<string, unknown>)[name] === 'string')
}

function keep(user: number, list: Recent[]): void {
  try {
    localStorage.setItem(nameOf(user), JSON.stringify(list.slice(0, most)))
  } catch {
    // Storage is off: nothing is remembered.
  }
}

/** Remembers the page as this, from the moment its name is known; forgets it when its object is gone. */
export function useRecent(kind: string, title: string | null, error: Error | null = null): void {
  const user = useApp().session.user.id
  const { pathname } = useLocation()
  const gone = error instanceof Problem && error.status === 404
  useEffect(() => {
    if (!gone && title === null) return
    const others = recentOf(user).filter((one) => one.url !== pathname)
    keep(user, gone || title === null ? others : [{ url: pathname, title, kind }, ...others])
  }, [user, pathname, kind, title, gone])
}
