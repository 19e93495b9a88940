import { Segmented } from 'antd'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl, runsUrl } from '../../app/links'
import { ForbiddenPage, NotFoundPage } from '../../app/pages'
import { offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { RunTable } from './RunTable'

/** Between the trainings of a project and all their runs. */
export function TrainingsOrRuns({ value }: { value: 'trainings' | 'runs' }) {
  const { t, w } = useI18n()
  const { project, kind } = useApp()
  const navigate = useNavigate()
  const trainings = kind('training')
  if (!trainings || !project) return null
  const to = { trainings: listUrl(trainings, project) ?? '/', runs: runsUrl(project.name) }
  return <Segmented aria-label={t('runs.title')} value={value} onChange={(next: 'trainings' | 'runs') => void navigate(to[next])} options={[{ value: 'trainings', label: w(trainings.titles) }, { value: 'runs', label: t('runs.all') }]} />
}

/** Beside the heading of the trainings. */
export function TrainingsChoice() {
  return <TrainingsOrRuns value="trainings" />
}

/** All runs of a project, of whatever training. */
export function RunsPage() {
  const { t } = useI18n()
  const { project, session, kind: byName } = useApp()
  const kind = byName('training_instance')
  useTitle(t('runs.all'), project?.name)
  if (!kind || !project) return <NotFoundPage />
  if (!offers(session, kind, 'list', project.id)) return <ForbiddenPage permission={kind.permissions.list ?? kind.permissions.read ?? null} />
  return (
    <section className="list" aria-labelledby="page-title">
      <div className="page-head"><div className="row wrap"><h1 id="page-title">{t('runs.title')}</h1><TrainingsOrRuns value="runs" /></div></div>
      <RunTable key={project.id} kind={kind} />
    </section>
  )
}
