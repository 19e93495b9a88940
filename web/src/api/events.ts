import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { apiUrl } from './client'
import type { Change } from './kinds'
import { serverBack, streamOpened } from './reach'
import { refreshAnswered, refreshKind } from './objects'

// A burst of changes makes one refresh of what is on the screen.
const gather = 400
// The first pages are made of all kinds, and what runs tells of itself all the time.
const gatherHome = 1500
// Before a lost stream is opened again, and one that the server refused.
const afterLoss = 500
const afterRefusal = 5000

/** Objects that show what is known about others: counts of their versions, the reason of their job. */
const shownBy: Record<string, string[]> = { dataset_version: ['dataset'], image_version: ['image'], job: ['environment', 'training_instance'] }

/** Follows the server's changes and refreshes what they touch. Nothing is followed while the tab is hidden. What was
 * answered before it is followed (at first, after a lost connection, on the tab's return) is refreshed once, as changes
 * may have been missed. */
export function useEvents(project: number | undefined, enabled: boolean): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!enabled) return
    let source: EventSource | null = null
    let timer: number | undefined
    let again: number | undefined
    let home: number | undefined
    let closed: () => void = () => undefined
    let waiting: AbortController | null = null
    const kinds = new Set<string>()

    const flush = () => {
      timer = undefined
      const changed = [...kinds]
      kinds.clear()
      for (const kind of new Set(changed.flatMap((name) => [name, ...(shownBy[name] ?? [])]))) refreshKind(client, kind)
      if (changed.some((kind) => ['member', 'role', 'project', 'group_member', 'user'].includes(kind))) {
        void client.invalidateQueries({ queryKey: ['session'] })
      }
      if (changed.length > 0) {
        refreshKind(client, 'audit')
        home ??= window.setTimeout(() => {
          home = undefined
          refreshKind(client, 'home')
        }, gatherHome)
      }
    }
    const take = (event: MessageEvent<string>) => {
      const change = JSON.parse(event.data) as Change
      kinds.add(change.kind)
      timer ??= window.setTimeout(flush, gather)
    }
    const open = () => {
      const mine = new EventSource(apiUrl('/events', { project }))
      source = mine
      mine.addEventListener('change', take)
      mine.addEventListener('open', () => {
        closed()
        closed = streamOpened()
        refreshAnswered(client)
      })
      mine.addEventListener('error', () => {
        if (source !== mine) return
        const refused = mine.readyState === EventSource.CLOSED
        close()
        // A refused one may be a session that has ended.
        if (refused) void client.invalidateQueries({ queryKey: ['session'] })
        waiting = new AbortController()
        serverBack(waiting.signal).then(() => {
          again = window.setTimeout(() => {
            if (!document.hidden && !source) open()
          }, refused ? afterRefusal : afterLoss)
        }, () => undefined)
      })
    }
    const close = () => {
      closed()
      source?.close()
      source = null
      waiting?.abort()
      window.clearTimeout(again)
    }
    const visibility = () => {
      if (document.hidden) close()
      else if (!source) open()
    }
    if (!document.hidden) open()
    document.addEventListener('visibilitychange', visibility)
    return () => {
      document.removeEventListener('visibilitychange', visibility)
      window.clearTimeout(timer)
      window.clearTimeout(home)
      close()
    }
  }, [client, project, enabled])
}
