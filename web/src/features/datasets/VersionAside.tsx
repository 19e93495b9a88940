import { Segmented } from 'antd'
import { useState, useSyncExternalStore, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import type { Field, Item, Kind } from '../../api/kinds'
import { listPage, useCount } from '../../api/objects'
import { CopyText } from '../../components/CopyText'
import { FieldValue, RefLink } from '../../components/FieldValue'
import { formatBytes } from '../../components/format'
import { nameOf } from '../../components/names'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { isEmpty } from '../objects/empty'
import { Bar } from '../tasks/Bar'
import { useStatistics, type Version } from './samples'
import { snippets } from './snippets'
import { useColorOf } from './Splits'
import { NewButton, StateTag } from './Versions'
import { useQuery } from '@tanstack/react-query'

const wide = globalThis.window?.matchMedia?.('(min-width: 1180px)')

function watch(listener: () => void): () => void {
  wide?.addEventListener('change', listener)
  return () => wide?.removeEventListener('change', listener)
}

/** What is known about a version and what it belongs to: beside the thing itself, or folded above it where there is no room. */
export function VersionAside({ version }: { version: Version }) {
  const { t } = useI18n()
  const beside = useSyncExternalStore(watch, () => wide?.matches === true)
  const content = (
    <>
      <VersionList version={version} />
      {version.kind.name === 'dataset_version' && Number(version.item['samples']) > 0 && <Balance version={version} />}
      <Details version={version} />
      <UseIt version={version} />
    </>
  )
  return beside ? <aside className="version-aside" aria-label={t('versions.about')}>{content}</aside> : <details className="version-aside"><summary>{t('versions.about')}</summary>{content}</details>
}

function Part({ title, extra, children }: { title: string; extra?: ReactNode; children: ReactNode }) {
  return <section><div className="section-head"><h2>{title}</h2>{extra}</div>{children}</section>
}

const newest = 5

/** The newest versions, and this one however old it is. */
function useVersions({ kind, parentKind, parent, item }: Version) {
  const place = { parent: { kind: parentKind, id: parent.id } }
  const list = useQuery({
    queryKey: ['objects', kind.name, 'newest', parent.id],
    queryFn: async ({ signal }) => (await listPage(kind, place, { sort: '-number', limit: newest }, signal)).items,
  })
  const count = useCount(kind, place)
  const items = list.data ?? []
  return { items: items.some((one) => one.id === item.id) ? items : [...items, item], count: count.data ?? 0 }
}

function VersionList({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const { project } = useApp()
  const { kind, parentKind, parent, item } = version
  const { items, count } = useVersions(version)
  const amount = (one: Item) => (kind.name === 'dataset_version' ? t('versions.samples', { n: n(Number(one['samples'])) }) : t('versions.files', { n: n(Number(one['files'])) }))
  return (
    <Part title={t('versions.title')} extra={<NewButton kind={kind} parentKind={parentKind} parent={parent} small />}>
      <ul className="version-list">
        {items.map((one) => (
          <li key={one.id}>
            <Link to={versionUrl(parentKind, parent.id, Number(one['number']), project)} aria-current={one.id === item.id ? 'true' : undefined}>{nameOf(kind, one)}</Link>
            <StateTag item={one} />
            <span className="muted clip-line">{amount(one)}</span>
            <span className="muted"><Time at={one.created_at} /></span>
          </li>
        ))}
      </ul>
      {count > items.length && <p className="more-link"><Link to="?tab=versions">{t('versions.all', { n: n(count) })}</Link></p>}
    </Part>
  )
}

const shownLabels = 8

/** How far the labelling is, and how often each label is used. */
function Balance({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const colorOf = useColorOf(version)
  const statistics = useStatistics(version)
  const samples = Number(version.item['samples'])
  const annotated = Number(version.item['annotated'])
  const labels = [...(statistics.data?.labels ?? [])].sort((a, b) => b.samples - a.samples)
  const most = Math.max(1, labels[0]?.samples ?? 1)
  return (
    <>
      <Part title={t('versions.progress')}>
        <Bar share={annotated / samples} label={t('versions.progress')} />
        <p className="version-progress num"><span>{t('versions.annotatedOf', { done: n(annotated), n: n(samples) })}</span><span className="muted">{`${n(Math.floor((annotated / samples) * 100))} %`}</span></p>
      </Part>
      {labels.length > 0 && (
        <Part title={t('versions.balance')} extra={labels.length > shownLabels && <Link to="?tab=statistics">{t('value.more', { n: n(labels.length - shownLabels) })}</Link>}>
          <ul className="balance">
            {labels.slice(0, shownLabels).map((l) => (
              <li key={l.label}>
                <Link className="clip-line" to={`?label=${encodeURIComponent(l.label)}`}>{l.label}</Link>
                <span className="num">{n(l.samples)}</span>
                <span className="balance-bar" style={{ width: `${(l.samples / most) * 100}%`, background: colorOf(l.label) }} />
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  )
}

// Told elsewhere on the page.
const told = ['name', 'versions', 'samples', 'annotated', 'description']

function Details({ version: { kind, parentKind, parent, item } }: { version: Version }) {
  const { t, w } = useI18n()
  const shown = (k: Kind, fields: readonly Field[]) => fields.filter((f) => !f.secret && !f.long && f.type !== 'json' && !told.includes(f.name) && !isEmpty((k === kind ? item : parent)[f.name]))
  const description = parent['description']
  return (
    <Part title={t('versions.details')}>
      {typeof description === 'string' && description !== '' && <p className="pre">{description}</p>}
      <dl className="facts-narrow">
        {shown(parentKind, parentKind.fields).map((field) => (
          <div key={field.name}><dt>{w(field.title)}</dt><dd><FieldValue field={field} kindName={parentKind.name} value={parent[field.name]} item={parent} /></dd></div>
        ))}
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(Number(item['bytes']))}</dd></div>
        <div><dt>{t('object.createdBy')}</dt><dd>{item.created_by ? <RefLink kindName="user" value={item.created_by} /> : t('value.none')}</dd></div>
        <div><dt>{t('object.created')}</dt><dd><Time at={item.created_at} /></dd></div>
        <div><dt>{t('object.id')}</dt><dd className="num">{item.id}</dd></div>
      </dl>
    </Part>
  )
}

/** How to get this version elsewhere. */
function UseIt({ version }: { version: Version }) {
  const { t } = useI18n()
  const { project } = useApp()
  const all = snippets({ kind: version.parentKind, project: version.parent.project?.name ?? project?.name ?? '', name: nameOf(version.parentKind, version.parent), number: Number(version.item['number']) })
  const [name, setName] = useState('CLI')
  const shown = all.find((one) => one.name === name) ?? all[0]
  return (
    <Part title={t('versions.use')} extra={<Segmented size="small" aria-label={t('versions.use')} value={name} onChange={setName} options={all.map((one) => one.name)} />}>
      {shown && <CopyText text={shown.text} label={shown.name} />}
    </Part>
  )
}
