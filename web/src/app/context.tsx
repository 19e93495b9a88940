import { createContext, useContext, useMemo, type ReactNode } from 'react'
import type { FigureTitle, Kind, Kinds, Ref } from '../api/kinds'
import type { Session } from '../api/session'

/** What every page behind the sign-in knows. */
export interface AppData {
  session: Session
  kinds: Kind[]
  kind: (name: string) => Kind | undefined
  figures: FigureTitle[]
  /** The project in whose pages we are. */
  project: Ref | null
}

const Context = createContext<AppData | null>(null)

export function AppDataProvider(props: { session: Session; kinds: Kinds; project: Ref | null; children: ReactNode }) {
  const { session, kinds, project } = props
  const data = useMemo<AppData>(() => {
    const byName = new Map(kinds.items.map((k) => [k.name, k]))
    return { session, kinds: kinds.items, figures: kinds.figures, project, kind: (name) => byName.get(name) }
  }, [session, kinds, project])
  return <Context.Provider value={data}>{props.children}</Context.Provider>
}

export function useApp(): AppData {
  const data = useContext(Context)
  if (!data) throw new Error('useApp outside of the shell')
  return data
}
