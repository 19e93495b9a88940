import { Segmented } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import type { Item, Kind } from '../../api/kinds'
import { listPage, useCount } from '../../api/objects'
import { AsidePart } from '../../components/Aside'
import { CopyText } from '../../components/CopyText'
import { formatBytes } from '../../components/format'
import { nameOf } from '../../components/names'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { AsideFacts } from '../objects/AsideFacts'
import { Bar } from '../tasks/Bar'
import { useStatistics, type Version } from './samples'
import { snippets } from './snippets'
import { useColorOf } from './Splits'
import { NewButton, StateTag } from './Versions'
import { useQuery } from '@tanstack/react-query'

/** What is known about a version and what it belongs to. */
export function VersionAside({ version }: { version: Version }) {
  return (
    <>
      <VersionList version={version} />
      {version.kind.name === 'dataset_version' && Number(version.item['samples']) > 0 && <Balance version={version} />}
      <Details version={version} />
      <UseIt version={version} />
    </>
  )
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
    <AsidePart title={t('versions.title')} extra={<NewButton kind={kind} parentKind={parentKind} parent={parent} small />}>
      <ul className="aside-list">
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
    </AsidePart>
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
      <AsidePart title={t('versions.progress')}>
        <Bar share={annotated / samples} label={t('versions.progress')} />
        <p className="version-progress num"><span>{t('versions.annotatedOf', { done: n(annotated), n: n(samples) })}</span><span className="muted">{`${n(Math.floor((annotated / samples) * 100))} %`}</span></p>
      </AsidePart>
      {labels.length > 0 && (
        <AsidePart title={t('versions.balance')} extra={labels.length > shownLabels && <Link to="?tab=statistics">{t('value.more', { n: n(labels.length - shownLabels) })}</Link>}>
          <ul className="balance">
            {labels.slice(0, shownLabels).map((l) => (
              <li key={l.label}>
                <Link className="clip-line" to={`?label=${encodeURIComponent(l.label)}`}>{l.label}</Link>
                <span className="num">{n(l.samples)}</span>
                <span className="balance-bar" style={{ width: `${(l.samples / most) * 100}%`, background: colorOf(l.label) }} />
              </li>
            ))}
          </ul>
        </AsidePart>
      )}
    </>
  )
}

// Told elsewhere on the page.
const told = ['name', 'versions', 'samples', 'annotated', 'description']
const untold = (kind: Kind) => [...told, ...kind.fields.filter((f) => f.long || f.type === 'json').map((f) => f.name)]

function Details({ version: { parentKind, parent, item } }: { version: Version }) {
  const { t } = useI18n()
  const description = parent['description']
  return (
    <AsidePart title={t('versions.details')}>
      {typeof description === 'string' && description !== '' && <p className="pre">{description}</p>}
      <AsideFacts item={item} of={[{ kind: parentKind, item: parent, without: untold(parentKind) }]}>
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(Number(item['bytes']))}</dd></div>
      </AsideFacts>
    </AsidePart>
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
    <AsidePart title={t('versions.use')} extra={<Segmented size="small" aria-label={t('versions.use')} value={name} onChange={setName} options={all.map((one) => one.name)} />}>
      {shown && <CopyText text={shown.text} label={shown.name} />}
    </AsidePart>
  )
}
