import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import type { Item, Kind } from '../../api/kinds'
import { offers } from '../../api/session'
import { Beside } from '../../components/Aside'
import { nameOf } from '../../components/names'
import { useI18n } from '../../i18n'
import { Crumbs } from '../objects/Head'
import { ListView } from '../objects/ListView'
import './compute.css'

export interface Tab {
  name: string
  title: string
  content: () => ReactNode
}

interface Props {
  kind: Kind
  item: Item
  title?: string
  /** Between the list and the object, for children. */
  crumbs?: { url: string; title: string }[]
  list?: { url: string; title: string }
  /** State, and what matters most. */
  head: ReactNode
  note?: ReactNode
  buttons: ReactNode
  tabs: Tab[]
  /** What is known about it, beside the first tab. */
  aside?: ReactNode
  children?: ReactNode
}

/** The frame of a page of something that runs: where, what, its state, what can be done, tabs. */
export function ComputePage({ kind, item, title, crumbs = [], list, head, note, buttons, tabs, aside, children }: Props) {
  const { t, w } = useI18n()
  const { session, project, kind: byName } = useApp()
  const [params] = useSearchParams()
  const audit = byName('audit')
  const all: Tab[] = audit && offers(session, audit, 'list')
    ? [...tabs, { name: 'activity', title: t('object.activity'), content: () => <ListView kind={audit} place={{}} fixed={`kind = ${JSON.stringify(kind.name)} and object = ${item.id}`} hiddenFields={['kind', 'object', 'name', 'project']} /> }]
    : tabs
  const first = all[0]
  const now = all.find((tab) => tab.name === params.get('tab')) ?? first
  const url = list?.url ?? listUrl(kind, project)
  return (
    <article className="detail">
      <Crumbs of={[...(url ? [{ url, title: list?.title ?? w(kind.titles) }] : []), ...crumbs]} />
      <header className="detail-head compute-head">
        <h1>{title ?? nameOf(kind, item)}</h1>
        {head}
        <span className="grow" />
        <div className="row wrap">{buttons}</div>
      </header>
      {note}
      <nav className="tabs" aria-label={w(kind.title)}>
        {all.map((tab) => <Link key={tab.name} to={tab === first ? '?' : `?tab=${tab.name}`} aria-current={tab === now ? 'page' : undefined} replace>{tab.title}</Link>)}
      </nav>
      {aside && now === first ? <Beside label={t('object.facts')} aside={aside}>{now?.content()}</Beside> : now?.content()}
      {children}
    </article>
  )
}
