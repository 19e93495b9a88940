import { Button } from 'antd'
import { Suspense, useCallback, useMemo, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl, projectUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import { useRecent } from '../../app/recent'
import type { Item, Kind } from '../../api/kinds'
import { lasting, useItem, type Place } from '../../api/objects'
import { may as mayDo, offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { useVerbTitle } from '../audit/verbs'
import { taskName } from '../tasks/tasks'
import { Dialogs, type Open } from './Dialogs'
import { fits } from './fits'
import { Crumbs, MoreMenu, useObjectKeys } from './Head'
import { Facts, ObjectTabs } from './ObjectTabs'
import { belowFacts, insteadOfFacts, overviews, pages, Special } from './special'

/** What stands above an object; tasks are named in both languages, and lines of the audit log by what was done. */
function useObjectTitle(kind: Kind): (item: Item) => string {
  const { language } = useI18n()
  const verb = useVerbTitle()
  return (item) => {
    const name = nameOf(kind, item)
    return kind.name === 'task' ? taskName(name, item['name_zh'], language) : kind.name === 'audit' ? verb(name, String(item['kind'] ?? '')) : name
  }
}

export function DetailPage() {
  const { plural, id, project: projectName } = useParams()
  const { kinds } = useApp()
  const scope = projectName === undefined ? 'platform' : 'project'
  const kind = kinds.find((k) => k.plural === plural && k.scope === scope && k.verbs.includes('read'))
  const number = /^[1-9]\d{0,15}$/.test(id ?? '') ? Number(id) : NaN
  if (!kind || Number.isNaN(number)) return <NotFoundPage />
  return <Detail key={`${kind.name}-${number}`} kind={kind} id={number} />
}

function Detail({ kind, id }: { kind: Kind; id: number }) {
  const { project } = useApp()
  const place = useMemo<Place>(() => (kind.scope === 'project' ? { project: project?.id } : {}), [kind, project])
  const found = useItem(kind, place, id)
  const { w } = useI18n()
  const titleOf = useObjectTitle(kind)
  useTitle(found.data ? titleOf(found.data) : null, w(kind.titles), project?.name)
  const error = lasting(found)
  useRecent(kind.name, found.data ? titleOf(found.data) : null, error)
  if (error) return <ProblemPage error={error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton as="page" />
  const Page = pages[kind.name]
  if (Page) return <Suspense fallback={<Skeleton as="page" />}><Page kind={kind} place={place} item={found.data} /></Suspense>
  return <Loaded kind={kind} place={place} item={found.data} />
}

function Loaded({ kind, place, item }: { kind: Kind; place: Place; item: Item }) {
  const { t, w } = useI18n()
  const titleOf = useObjectTitle(kind)
  const { session, project } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const list = listUrl(kind, project)
  const inProject = kind.name === 'project' ? item.id : project?.id
  // What another project made public is only looked at.
  const readOnly = item['built_in'] === true || (kind.scope === 'project' && item.project != null && item.project.id !== project?.id)
  const mayUpdate = offers(session, kind, 'update', inProject) && !readOnly
  const mayDelete = offers(session, kind, 'delete', inProject, item) && !readOnly
  // A page of its own offers its actions itself, when they make sense.
  const actions = overviews[kind.name] ? [] : kind.actions.filter((a) => a.on === 'item' && a.method === 'POST' && fits(kind, a, item) && mayDo(session, a.permission, inProject))
  const [edit, remove] = [useCallback(() => setOpen({ what: 'edit', item }), [item]), useCallback(() => setOpen({ what: 'delete', item }), [item])]
  useObjectKeys(mayUpdate ? edit : null, mayDelete ? remove : null)
  const menu = [
    ...actions.slice(2).map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })),
    ...(mayDelete ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  const act = (name: string) => {
    const action = actions.find((a) => a.name === name)
    setOpen({ what: name === 'delete' || !action ? 'delete' : action, item })
  }
  return (
    <article className="detail">
      <Crumbs of={[{ url: list, title: w(kind.titles) }]} />
      <header className="detail-head">
        <h1>{titleOf(item)}</h1>
        <div className="row wrap">
          {kind.name === 'project' && <Button onClick={() => void navigate(projectUrl(nameOf(kind, item)))}>{t('project.open')}</Button>}
          {actions.slice(0, 2).map((a) => <Button key={a.name} danger={a.danger} onClick={() => setOpen({ what: a, item })}>{w(a.title)}</Button>)}
          {mayUpdate && <Button type="primary" onClick={() => setOpen({ what: 'edit', item })}>{t('object.edit')}</Button>}
          <MoreMenu entries={menu} onPick={act} />
        </div>
      </header>
      <ObjectTabs kind={kind} item={item} overview={overviews[kind.name] ? <Special registry={overviews} name={kind.name} kind={kind} item={item} /> : insteadOfFacts[kind.name] ? <Special registry={insteadOfFacts} name={kind.name} kind={kind} item={item} /> : belowFacts[kind.name] && <><Facts kind={kind} item={item} /><Special registry={belowFacts} name={kind.name} kind={kind} item={item} /></>} />
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(list ?? '/', { replace: true })} />
    </article>
  )
}
