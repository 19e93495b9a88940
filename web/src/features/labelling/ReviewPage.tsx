import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { useApp } from '../../app/context'
import { myTasksUrl, projectUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { lasting } from '../../api/objects'
import { isWorker } from '../../api/session'
import { formatBytes } from '../../components/format'
import { useTitle } from '../../components/hooks'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import '../datasets/data.css'
import { colorsOf } from '../datasets/samples'
import { StateTag } from '../datasets/Versions'
import { ReviewNote } from './PublishReview'
import { VersionLabelling } from './VersionLabelling'

const colorOf = colorsOf([])

/** The version that reviewers were asked about, for those too who see nothing else of its dataset: figures, and their word. */
export function ReviewPage() {
  const { t, n } = useI18n()
  const { session, project } = useApp()
  const { dataset, version } = useParams()
  const known = /^[1-9]\d{0,15}$/.test(dataset ?? '') && /^[1-9]\d{0,15}$/.test(version ?? '')
  const path = `/datasets/${dataset ?? ''}/versions/${version ?? ''}`
  const found = useQuery({ queryKey: ['objects', 'dataset_version', 'item', Number(version)], queryFn: ({ signal }) => request<Item>(path, { signal }), enabled: known })
  const name = found.data ? `${(found.data['dataset'] as { name?: string } | undefined)?.name ?? ''} ${String(found.data['name'] ?? '')}`.trim() : ''
  useTitle(name || null, t('publishReview.title'), project?.name)
  if (!known) return <NotFoundPage />
  const error = lasting(found)
  if (error) return <ProblemPage error={error} onRetry={() => void found.refetch()} />
  const item = found.data
  if (!item || !project) return <Skeleton n={2} />
  return (
    <article className="detail">
      <nav className="crumbs" aria-label={t('object.path')}>
        <ol><li><Link to={isWorker(session, project.id) ? myTasksUrl(project.name) : projectUrl(project.name)}>{isWorker(session, project.id) ? t('myTasks.title') : project.name}</Link></li><li>{t('publishReview.title')}</li></ol>
      </nav>
      <header className="detail-head version-head">
        <h1>{name}</h1>
        <StateTag item={item} />
        <span className="muted num version-facts">{t('versions.samples', { n: n(Number(item['samples'])) })}{' · '}{formatBytes(Number(item['bytes']))}</span>
      </header>
      <ReviewNote path={path} item={item} name={name} />
      <VersionLabelling path={path} colorOf={colorOf} />
    </article>
  )
}
