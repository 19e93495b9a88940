import { Button } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import { ProblemPage } from '../../app/pages'
import type { Item, Kind } from '../../api/kinds'
import { useCount, useItem } from '../../api/objects'
import { offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { Dialogs, type Open } from '../objects/Dialogs'
import { ObjectTabs } from '../objects/ObjectTabs'
import { QuotaShow } from './Quota'

export function Overview() {
  const { t } = useI18n()
  const { project, kind, session } = useApp()
  const [open, setOpen] = useState<Open | null>(null)
  const projects = kind('project')
  const found = useItem(projects, {}, project?.id ?? NaN, project !== null)
  useTitle(t('menu.overview'), project?.name)
  if (!projects || !project) return null
  if (found.error) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  const item = found.data
  if (!item) return <div className="skeleton" aria-busy="true"><div /><div /></div>
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
      <ObjectTabs kind={projects} item={item} overview={<Summary item={item} />} />
      <Dialogs kind={projects} place={{}} open={open} onClose={() => setOpen(null)} />
    </article>
  )
}

function Summary({ item }: { item: Item }) {
  const { t } = useI18n()
  const { kinds, session, project, kind } = useApp()
  const shown = kinds.filter((k) => k.scope === 'project' && k.menu && offers(session, k, 'list', project?.id))
  const member = kind('member')
  const projects = kind('project')
  return (
    <div className="summary">
      <section aria-label={t('project.contents')}>
        <ul className="tiles">
          {shown.map((k) => <KindTile key={k.name} kind={k} />)}
          {member && projects && offers(session, member, 'list', item.id) && <CountTile kind={member} place={{ parent: { kind: projects, id: item.id } }} url={`?tab=${member.plural}`} />}
        </ul>
      </section>
      <section className="block">
        <h2>{t('project.quota')}</h2>
        <QuotaShow value={item['quota']} short={false} />
      </section>
    </div>
  )
}

function KindTile({ kind }: { kind: Kind }) {
  const { project } = useApp()
  const url = listUrl(kind, project)
  return url ? <CountTile kind={kind} place={{ project: project?.id }} url={url} /> : null
}

function CountTile({ kind, place, url }: { kind: Kind; place: Parameters<typeof useCount>[1]; url: string }) {
  const { w, n, t } = useI18n()
  const count = useCount(kind, place)
  return (
    <li>
      <Link className="tile" to={url}>
        <span className="tile-count num">{count.data === undefined ? t('value.none') : n(count.data)}</span>
        <span>{w(kind.titles)}</span>
      </Link>
    </li>
  )
}
