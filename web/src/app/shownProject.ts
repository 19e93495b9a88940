import { useMemo } from 'react'
import type { Ref } from '../api/kinds'
import { useApp } from './context'
import { lastProject } from './prefs'

/** The project of the address; on pages outside of projects the last one, so that the way back stays. */
export function useShownProject(): Ref | null {
  const { project, session } = useApp()
  return useMemo(() => {
    if (project) return project
    const last = session.projects.find((p) => p.name === lastProject.get()) ?? session.projects[0]
    return last ? { id: last.id, name: last.name } : null
  }, [project, session])
}
