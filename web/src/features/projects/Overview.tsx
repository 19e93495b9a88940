import { Button } from 'antd'
import { Suspense, useState } from 'react'
import { Navigate } from 'react-router'
import { useApp } from '../../app/context'
import { myTasksUrl } from '../../app/links'
import { lazyPart } from '../../app/part'
import { ProblemPage } from '../../app/pages'
import { useRecent } from '../../app/recent'
import { lasting, useItem } from '../../api/objects'
import { isWorker, offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Dialogs, type Open } from '../objects/Dialogs'
import { ObjectTabs } from '../objects/ObjectTabs'

const ProjectHome = lazyPart(() => import('../overview/ProjectHome'), 'ProjectHome')

export function Overview() {
  const { t } = useI18n()
  const { project, kind, session } = useApp()
  const [open, setOpen] = useState<Open | null>(null)
  const projects = kind('project')
  const found = useItem(projects, {}, project?.id ?? NaN, project !== null)
  useTitle(t('menu.overview'), project?.name)
  useRecent('project', project?.name ?? null, lasting(found))
  if (!projects || !project) return null
  if (isWorker(session, project.id)) return <Navigate to={myTasksUrl(project.name)} replace />
  const error = lasting(found)
  if (error) return <ProblemPage error={error} onRetry={() => void found.refetch()} />
  const item = found.data
  if (!item) return <Skeleton n={2} />
  const own = session.projects.find((p) => p.id === project.id)
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{project.name}</h1>
        {own?.role && <span className="tag" title={t('project.role')}>{own.role}</span>}
        <span className="grow" />
        {offers(session, projects, 'update', project.id) && <Button onClick={() => setOpen({ what: 'edit', item })}>{t('project.settings')}</Button>}
      </header>
      {typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
      <ObjectTabs kind={projects} item={item} overview={<Suspense fallback={<Skeleton />}><ProjectHome item={item} /></Suspense>} />
      <Dialogs kind={projects} place={{}} open={open} onClose={() => setOpen(null)} />
    </article>
  )
}
