import { useParams } from 'react-router'
import { useApp } from '../../app/context'
import { ForbiddenPage, NotFoundPage } from '../../app/pages'
import { offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { ListView } from './ListView'

export function ListPage() {
  const { w } = useI18n()
  const { plural, project: projectName } = useParams()
  const { kinds, project, session } = useApp()
  const scope = projectName === undefined ? 'platform' : 'project'
  const kind = kinds.find((k) => k.plural === plural && k.scope === scope && k.verbs.includes('list'))
  useTitle(w(kind?.titles), project?.name)
  if (!kind) return <NotFoundPage />
  if (!offers(session, kind, 'list', project?.id)) return <ForbiddenPage permission={kind.permissions.list ?? kind.permissions.read ?? null} />
  return <ListView key={`${kind.name}-${project?.id ?? 0}`} kind={kind} place={kind.scope === 'project' ? { project: project?.id } : {}} title />
}
