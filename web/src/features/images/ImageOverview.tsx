import { useQueryClient } from '@tanstack/react-query'
import { Button, Dropdown, Segmented, Tooltip } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { Action, Item, Kind } from '../../api/kinds'
import { allItems, invalidate, useList } from '../../api/objects'
import { may, offers } from '../../api/session'
import { CopyText } from '../../components/CopyText'
import { formatBytes } from '../../components/format'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { ActionDialog } from '../objects/ActionDialog'
import { DeleteDialog } from '../objects/DeleteDialog'
import { MoreRows } from '../objects/MoreRows'
import { Facts } from '../objects/ObjectTabs'
import type { SpecialProps } from '../objects/special'
import '../datasets/data.css'
import { ArchiveUpload } from './ArchiveUpload'
import { Builds } from './Builds'
import { clients, commandsOf, type Client } from './commands'
import { CopyDialog } from './CopyDialog'
import './images.css'

/** Versions, how to push and pull, uploads, and the facts. */
export function ImageOverview({ kind, item }: SpecialProps) {
  const { t, w } = useI18n()
  const { kind: byName, session, project } = useApp()
  const [action, setAction] = useState<Action | null>(null)
  const client = useQueryClient()
  const navigate = useNavigate()
  const versions = byName('image_version')
  const own = item.project?.id === project?.id
  const mayChange = own && may(session, 'image.update', project?.id)
  const offered = ['pull', 'build', 'derive'].map((name) => kind.actions.find((a) => a.name === name)).filter((a) => a !== undefined)
  const close = () => {
    setAction(null)
    void invalidate(client, 'image_version')
  }
  /** A build is a job: its page shows the log. */
  const show = (answer: unknown) => {
    const jobs = byName('job')
    const url = jobs && action?.name === 'build' ? itemUrl(jobs, (answer as Item).id, project) : null
    if (url) void navigate(url)
  }
  return (
    <div className="summary">
      {versions && <VersionTable kind={versions} parentKind={kind} image={item} own={own}>
        {mayChange && offered.map((a) => <Button key={a.name} onClick={() => setAction(a)}>{w(a.title)}</Button>)}
      </VersionTable>}
      {own && <Builds image={item} />}
      <Commands image={item} versions={versions} parentKind={kind} push={mayChange} />
      {mayChange && project && <section>
        <h2>{t('images.upload')}</h2>
        <ArchiveUpload kind={kind} image={item} project={project} />
      </section>}
      <Facts kind={kind} item={item} />
      {action && <ActionDialog kind={kind} place={{ project: project?.id }} action={action} item={item} onDone={show} onClose={close} />}
    </div>
  )
}

function VersionTable({ kind, parentKind, image, own, children }: { kind: Kind; parentKind: Kind; image: Item; own: boolean; children: React.ReactNode }) {
  const { t } = useI18n()
  const place = { parent: { kind: parentKind, id: image.id } }
  const list = useList(kind, place, { sort: '-pushed_at' })
  const [deleting, setDeleting] = useState<Item | null>(null)
  const [copying, setCopying] = useState<Item | null>(null)
  const items = allItems(list.data)
  return (
    <section>
      <div className="section-head"><h2>{t('versions.title')}</h2>{children}</div>
      {list.error && items.length === 0 ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : list.isPending ? <Skeleton n={2} /> : items.length === 0 ? (
        <Empty title={t('images.none')} text={t('images.noneText')} />
      ) : (
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('images.version')}</th>
                <th scope="col" className="right">{t('images.size')}</th>
                <th scope="col">{t('images.arch')}</th>
                <th scope="col" className="right">{t('images.layers')}</th>
                <th scope="col">{t('images.digest')}</th>
                <th scope="col">{t('images.pushed')}</th>
                <th scope="col" className="right">{t('images.pulls')}</th>
                <th scope="col" aria-label={t('object.more')} />
              </tr>
            </thead>
            <tbody>
              {items.map((version) => <Row key={version.id} kind={kind} version={version} own={own} onCopy={() => setCopying(version)} onDelete={() => setDeleting(version)} />)}
            </tbody>
          </table>
        </div>
      )}
      <MoreRows list={list} />
      {deleting && <DeleteDialog kind={kind} place={place} item={deleting} onClose={() => setDeleting(null)} />}
      {copying && <CopyDialog kind={parentKind} versions={kind} image={image} version={copying} onClose={() => setCopying(null)} />}
    </section>
  )
}

function Row({ kind, version, own, onCopy, onDelete }: { kind: Kind; version: Item; own: boolean; onCopy: () => void; onDelete: () => void }) {
  const { t, n } = useI18n()
  const { session, project } = useApp()
  const name = nameOf(kind, version)
  const digest = String(version['digest'] ?? '')
  const mayDelete = own && offers(session, kind, 'delete', project?.id)
  const menu = [
    ...(may(session, 'image.create', project?.id) ? [{ key: 'copy', label: t('images.copy') }] : []),
    ...(mayDelete ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  return (
    <tr>
      <td className="first"><strong>{name}</strong>{version['base'] === 'host' && <Tooltip title={t('images.onHostHelp')}> <span className="tag">{t('images.onHost')}</span></Tooltip>}</td>
      <td className="right">{formatBytes(Number(version['size'] ?? 0))}</td>
      <td>{String(version['arch'] ?? '')}</td>
      <td className="right">{n(Number(version['layers'] ?? 0))}</td>
      <td><Tooltip title={digest}><span className="digest">{digest.slice(7, 19)}</span></Tooltip></td>
      <td><Time at={String(version['pushed_at'])} /></td>
      <td className="right">{n(Number(version['pulls'] ?? 0))}</td>
      <td className="right">
        {menu.length > 0 && (
          <Dropdown trigger={['click']} menu={{ items: menu, onClick: ({ key }) => (key === 'copy' ? onCopy() : onDelete()) }}>
            <Button type="text" size="small" aria-label={t('images.actions', { name })} icon={<Icon name="more" />} />
          </Dropdown>
        )}
      </td>
    </tr>
  )
}

function Commands({ image, versions, parentKind, push }: { image: Item; versions: Kind | undefined; parentKind: Kind; push: boolean }) {
  const { t } = useI18n()
  const { session, project } = useApp()
  const [client, setClient] = useState<Client>('docker')
  const list = useList(versions ?? parentKind, versions ? { parent: { kind: parentKind, id: image.id } } : {}, { sort: versions ? '-pushed_at' : undefined })
  const newest = versions ? allItems(list.data)[0] : undefined
  const version = newest && versions ? nameOf(versions, newest) : 'v1'
  const secure = window.location.protocol === 'https:'
  const all = commandsOf(client, window.location.host, secure, String(image['repository']), version, session.user?.name ?? 'user')
  const own = image.project?.id === project?.id
  const short = own ? `${String(image['name'])}:${version}` : `${String(image['repository'])}:${version}`
  return (
    <section>
      <div className="section-head"><h2>{t('images.pushTitle')}</h2><Segmented aria-label={t('images.client')} value={client} onChange={setClient} options={[...clients]} /></div>
      <p className="muted">{t('images.pushText')}{!secure && ` ${t('images.insecure')}`}</p>
      <div className="commands">
        {all.filter((c) => push || c.label === 'images.signIn' || c.label === 'images.pull').map((command) => (
          <div key={command.label}>
            <p className="label">{t(command.label)}</p>
            <CopyText text={command.text} label={t(command.label)} />
          </div>
        ))}
        <div>
          <p className="label">{t('images.use')} <span className="muted">{t('images.useText')}</span></p>
          <CopyText text={short} label={t('images.use')} />
        </div>
      </div>
    </section>
  )
}
