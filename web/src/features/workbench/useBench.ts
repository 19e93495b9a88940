import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSessionLost } from '../../api/lost'
import { useLatest } from '../../components/hooks'
import { createBench, type BenchOptions, type BenchState, type BenchStore } from './bench'
import { openJournal } from './journal'
import { openSync, type Sync } from './sync'
import { network } from './wire'

/** A part of the workbench's state. The function must give the same value for the same state. */
export function useBenchState<T>(bench: BenchStore, part: (state: BenchState) => T): T {
  return useSyncExternalStore(bench.listen, () => part(bench.state))
}

const lockName = (client: string) => `ingot-bench-${client}`

/** Whether another tab of this browser is at work under this name. */
async function held(client: string): Promise<boolean> {
  const state = await navigator.locks?.query()
  return state?.held?.some((lock) => lock.name === lockName(client)) ?? false
}

/** The synchronisation of this page, from when it is opened until it is left. */
function useSync(user: number): Sync | null {
  const [sync, setSync] = useState<Sync | null>(null)
  const lost = useSessionLost()
  useEffect(() => {
    const journal = openJournal()
    const made = openSync({ user, wire: network, journal, held })
    const leave = new AbortController()
    // Held until the page goes, however it goes: then others may send what it left.
    void navigator.locks?.request(lockName(made.client), () => new Promise<void>((done) => leave.signal.addEventListener('abort', () => done())))
    const online = () => made.retry()
    const ask = (event: BeforeUnloadEvent) => {
      if (made.status.waiting > 0 && made.status.journal !== 'fine') event.preventDefault()
    }
    const offline = () => made.lost()
    window.addEventListener('online', online)
    window.addEventListener('offline', offline)
    window.addEventListener('beforeunload', ask)
    setSync(made)
    return () => {
      window.removeEventListener('online', online)
      window.removeEventListener('offline', offline)
      window.removeEventListener('beforeunload', ask)
      made.close()
      journal.close()
      leave.abort()
      setSync(null)
    }
  }, [user])
  useEffect(() => {
    if (!lost) sync?.retry()
  }, [lost, sync])
  return sync
}

export function useBench(user: number, options: Omit<BenchOptions, 'sync'>): BenchStore | null {
  const { path, type, dataType, readOnly, colorOf } = options
  // The router makes a new function for every address; the workbench, with its documents and their undo, outlives them.
  const onOpen = useLatest(options.onOpen)
  const sync = useSync(user)
  const bench = useMemo(() => sync && createBench({ path, type, dataType, readOnly, colorOf, onOpen, sync }), [sync, path, type, dataType, readOnly, colorOf, onOpen])
  useEffect(() => () => bench?.close(), [bench])
  return bench
}
