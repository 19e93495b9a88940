import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useKeys, type Shortcut } from '../../app/keys'
import { request } from '../../api/client'
import type { BenchStore } from './bench'
import { commands, keyOf, type Command, type Page } from './commands'
import type { LabelDefinition } from './surface'

export type Keys = Readonly<Record<string, string>>

interface Preferences {
  bench?: { keys?: Keys }
}

const preferencesKey = ['preferences'] as const

/** The keys that this person changed, kept on the server. */
export function useOwnKeys(): { keys: Keys; keep: (keys: Keys) => Promise<void> } {
  const client = useQueryClient()
  const found = useQuery({ queryKey: preferencesKey, queryFn: ({ signal }) => request<Preferences>('/profile/preferences', { signal }), staleTime: 300_000 })
  const keys = found.data?.bench?.keys
  return useMemo(() => ({
    keys: keys ?? {},
    keep: async (next) => {
      // What other pages keep there stays.
      const now = await request<Preferences>('/profile/preferences')
      const all = { ...now, bench: { ...now.bench, keys: next } }
      await request('/profile/preferences', { method: 'PUT', body: all })
      client.setQueryData(preferencesKey, all)
    },
  }), [keys, client])
}

// Keys that do something wherever the focus is: in the workbench only while nothing that wants them has it. Delete is not among
// them: who chose in the list deletes there, and fields keep all keys.
const shared = /(^|\+)(Enter|Tab|Escape|Home|Page(Up|Down)|Arrow\w+| )$/

function free(): boolean {
  const focus = document.activeElement
  return focus === null || focus === document.body || focus.id === 'main' || focus.closest('.bench-surface') !== null
}

/** Registers what can be done now: keys, palette and help follow. */
export function useCommands(bench: BenchStore, page: Page, labels: readonly LabelDefinition[], own: Keys): readonly Command[] {
  const offered = useMemo(() => commands.filter((c) => c.when?.({ bench, page }) ?? true), [bench, page])
  const shortcuts = useMemo((): Shortcut[] => [
    ...offered.map((c): Shortcut => {
      const keys = keyOf(c, own)
      return { keys, label: c.title, group: 'page', run: () => c.run({ bench, page }), ...(shared.test(keys) && { when: free }) }
    }),
    ...labels.filter((l) => l.key !== null && !l.retired).map((l, i): Shortcut => ({ keys: l.key ?? '', label: 'bench.chooseLabel', values: { n: l.name }, group: 'page', plain: i >= 10, run: () => bench.choose(l.name) })),
  ], [offered, bench, page, labels, own])
  useKeys(shortcuts)
  return offered
}
