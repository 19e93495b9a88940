import { lazy, memo, Suspense, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router'
import { useLatest } from '../components/hooks'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { projectUrl } from './links'
import { firstPart } from './part'
import { useShownProject } from './shownProject'

const ProjectSelect = lazy(async () => ({ default: (await firstPart(() => import('./ProjectSelect'))).ProjectSelect }))

export function ProjectSwitcher() {
  const { session } = useApp()
  const project = useShownProject()
  const navigate = useNavigate()
  const go = useLatest((name: string) => void navigate(projectUrl(name)))
  return <Switcher name={project?.name ?? null} projects={session.projects} onChoose={go} />
}

/** Apart from what hears of every change of the address. Until somebody wants to choose it is a button that looks like the
 * select: that is a fifth of the first load. */
const Switcher = memo(function Switcher({ name, projects, onChoose }: { name: string | null; projects: readonly { name: string }[]; onChoose: (name: string) => void }) {
  const { t } = useI18n()
  const [wanted, setWanted] = useState<string | null>(null) // what was typed to open it
  const onKeyDown = (event: KeyboardEvent) => {
    const typed = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey
    if (!typed && event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    event.stopPropagation()
    setWanted((before) => (before ?? '') + (typed ? event.key : ''))
  }
  const button = (
    <button type="button" className="project-switcher project-button" role="combobox" aria-expanded={wanted !== null} aria-controls="project-select" aria-label={t('project.switch')} onClick={() => setWanted('')} onKeyDown={onKeyDown}>
      <span>{name ?? t('project.none')}</span>
      <svg viewBox="0 0 12 12" width="10" height="10" aria-hidden="true"><path d="M1.5 4 6 8.5 10.5 4" fill="none" stroke="currentColor" strokeWidth="1.5" /></svg>
    </button>
  )
  return wanted !== null ? <Suspense fallback={button}><ProjectSelect typed={wanted} name={name} projects={projects} onChoose={onChoose} /></Suspense> : button
})
