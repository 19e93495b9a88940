import { Segmented } from 'antd'
import { Suspense } from 'react'
import { useParams, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { ForbiddenPage, NotFoundPage } from '../../app/pages'
import { offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { ListView } from './ListView'
import { choiceOf } from './special'

export function ListPage() {
  const { t, w } = useI18n()
  const [params, setParams] = useSearchParams()
  const { plural, project: projectName } = useParams()
  const { kinds, project, session } = useApp()
  const scope = projectName === undefined ? 'platform' : 'project'
  const kind = kinds.find((k) => k.plural === plural && k.scope === scope && k.verbs.includes('list'))
  useTitle(w(kind?.titles), project?.name)
  if (!kind) return <NotFoundPage />
  if (!offers(session, kind, 'list', project?.id)) return <ForbiddenPage permission={kind.permissions.list ?? kind.permissions.read ?? null} />
  const others = kind.scope === 'project' && kind.public && params.get('of') === 'all'
  const choice = kind.scope === 'project' && kind.public && (
    <Segmented
      aria-label={w(kind.titles)} value={others ? 'all' : 'mine'} onChange={(value) => setParams(value === 'all' ? { of: 'all' } : {}, { replace: true })}
      options={[{ value: 'mine', label: t('list.ofProject') }, { value: 'all', label: t('list.public') }]}
    />
  )
  if (others) return <ListView key={`${kind.name}-public`} kind={kind} place={{}} fixed="public = true" title choice={choice} here />
  const Choice = choiceOf[kind.name]
  return <ListView key={`${kind.name}-${project?.id ?? 0}`} kind={kind} place={kind.scope === 'project' ? { project: project?.id } : {}} title choice={Choice ? <Suspense fallback={null}><Choice /></Suspense> : choice} />
}
