import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import type { Item, Kind } from '../../api/kinds'
import { offers } from '../../api/session'
import { FieldValue, RefLink } from '../../components/FieldValue'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { isEmpty } from './empty'
import { isBlock } from './isBlock'
import { ListView } from './ListView'

/** Overview, one tab per kind of children, and what happened to this object. */
export function ObjectTabs({ kind, item, overview }: { kind: Kind; item: Item; overview?: ReactNode }) {
  const { t, w } = useI18n()
  const { kinds, kind: byName, session, project } = useApp()
  const [params] = useSearchParams()
  const inProject = kind.name === 'project' ? item.id : item.project?.id ?? project?.id
  const children = kinds.filter((k) => k.scope === 'child' && k.parent === kind.name && offers(session, k, 'list', inProject))
  const audit = byName('audit')
  const tabs = [
    { name: 'overview', title: t('object.overview') },
    ...children.map((k) => ({ name: k.plural, title: w(k.titles) })),
    ...(audit && kind !== audit && offers(session, audit, 'list') ? [{ name: 'activity', title: t('object.activity') }] : []),
  ]
  const now = tabs.find((tab) => tab.name === params.get('tab'))?.name ?? 'overview'
  const child = children.find((k) => k.plural === now)
  return (
    <>
      {tabs.length > 1 && <nav className="tabs" aria-label={w(kind.title)}>
        {tabs.map((tab) => (
          <Link key={tab.name} to={tab.name === 'overview' ? '?' : `?tab=${tab.name}`} aria-current={tab.name === now ? 'page' : undefined} replace>{tab.title}</Link>
        ))}
      </nav>}
      {child ? (
        <ListView key={child.name} kind={child} place={{ parent: { kind, id: item.id } }} />
      ) : now === 'activity' && audit ? (
        <ListView key="activity" kind={audit} place={{}} fixed={`kind = ${JSON.stringify(kind.name)} and object = ${item.id}`} hiddenFields={['kind', 'object', 'name', 'project']} />
      ) : (
        overview ?? <Facts kind={kind} item={item} />
      )}
    </>
  )
}

/** What is known about an object, besides its name, which stands above. `brief`: of kinds with many fields, those that say something. */
export function Facts({ kind, item, brief }: { kind: Kind; item: Item; brief?: boolean }) {
  const { t, w } = useI18n()
  const fields = kind.fields.filter((f) => !f.secret && !(f.name === 'name' && f === kind.fields[0]) && !((brief || isBlock(kind, f)) && isEmpty(item[f.name])))
  // A log's rows say themselves who and when.
  const log = fields.some((f) => f.name === 'at')
  const blocks = fields.filter((f) => isBlock(kind, f))
  return (
    <div className="facts-page">
      <dl className="facts" aria-label={t('object.facts')}>
        {fields.filter((f) => !isBlock(kind, f)).map((field) => (
          <div key={field.name}>
            <dt>{w(field.title)}</dt>
            <dd><FieldValue field={field} kindName={kind.name} value={item[field.name]} item={item} /></dd>
          </div>
        ))}
        {!log && <>
        <div><dt>{t('object.createdBy')}</dt><dd>{item.created_by ? <RefLink kindName="user" value={item.created_by} /> : t('value.none')}</dd></div>
        <div><dt>{t('object.created')}</dt><dd><Time at={item.created_at} /></dd></div>
        <div><dt>{t('object.updated')}</dt><dd><Time at={item.updated_at} /></dd></div>
        </>}
        <div><dt>{t('object.id')}</dt><dd className="num">{item.id}</dd></div>
      </dl>
      {blocks.map((field) => (
        <section key={field.name} className="block">
          <h2>{w(field.title)}</h2>
          <FieldValue field={field} kindName={kind.name} value={item[field.name]} item={item} />
        </section>
      ))}
    </div>
  )
}
