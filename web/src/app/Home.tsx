import { Button } from 'antd'
import { Navigate, useNavigate } from 'react-router'
import { isWorker, offers } from '../api/session'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { myTasksUrl, projectUrl } from './links'
import { lastProject } from './prefs'

/** "/": the last project, else the first, else what one without a project can do. */
export function Home() {
  const { t } = useI18n()
  const { session, kind } = useApp()
  const navigate = useNavigate()
  const last = lastProject.get()
  const mine = session.projects.find((p) => p.name === last) ?? session.projects[0]
  // What comes with the platform is no work of anybody's: an administrator who has nothing else sees all, and what to begin with.
  if (mine?.name === 'built-in' && !last && session.user.administrator) return <Navigate to="/home" replace />
  if (mine) return <Navigate to={isWorker(session, mine.id) ? myTasksUrl(mine.name) : projectUrl(mine.name)} replace />
  if (session.user.administrator && last) return <Navigate to={projectUrl(last)} replace />
  const projects = kind('project')
  if (projects && offers(session, projects, 'create')) return <Navigate to="/admin/projects" replace />
  return (
    <section className="message-page">
      <h1>{t('project.noneTitle')}</h1>
      <p>{t('project.noneHint')}</p>
      <div className="row">
        <Button onClick={() => void navigate('/profile')}>{t('user.profile')}</Button>
      </div>
    </section>
  )
}
