import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useRef, useState, type DragEvent } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl, versionUrl } from '../../app/links'
import type { Item, Kind } from '../../api/kinds'
import { invalidate, lasting, listPage } from '../../api/objects'
import { offers } from '../../api/session'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Dialogs, type Open } from '../objects/Dialogs'
import { Crumbs, MoreMenu } from '../objects/Head'
import { Facts } from '../objects/ObjectTabs'
import type { PageProps } from '../objects/special'
import './data.css'
import { bringFirst } from './firstFiles'
import { ofDrop, ofInput, type Dropped } from './uploadModel'
import { useVersion } from './VersionPage'
import { NewButton, useVersionKind } from './Versions'
import { VersionView } from './VersionView'

/** A dataset, an algorithm or a model: what its newest version holds. */
export function SetPage({ kind: parentKind, item: parent, place }: PageProps) {
  const kind = useVersionKind(parentKind)
  return kind ? <Found kind={kind} parentKind={parentKind} parent={parent} place={place} /> : <Facts kind={parentKind} item={parent} />
}

function Found({ kind, parentKind, parent, place }: { kind: Kind; parentKind: Kind; parent: Item; place: PageProps['place'] }) {
  const found = useQuery({
    queryKey: ['objects', kind.name, 'last', parent.id],
    queryFn: async ({ signal }) => (await listPage(kind, { parent: { kind: parentKind, id: parent.id } }, { sort: '-number', limit: 1 }, signal)).items[0] ?? null,
  })
  const version = useVersion(kind, parentKind, parent, found.data)
  const error = lasting(found)
  if (error) return <ErrorState error={error} onRetry={() => void found.refetch()} />
  if (found.data === undefined) return <Skeleton as="page" />
  return version ? <VersionView key={version.item.id} version={version} whole /> : <WithoutVersions kind={kind} parentKind={parentKind} parent={parent} place={place} />
}

/** What is dropped here becomes the first version. */
function WithoutVersions({ kind, parentKind, parent, place }: { kind: Kind; parentKind: Kind; parent: Item; place: PageProps['place'] }) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, project } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const files = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [open, setOpen] = useState<Open | null>(null)
  const own = parent.project == null || parent.project.id === project?.id
  const may = own && offers(session, kind, 'create', project?.id)
  const data = kind.name === 'dataset_version'
  const bring = useMutation({
    mutationFn: (list: Dropped[]) => bringFirst({ kind, parentKind, parent, project: project?.id ?? 0, url: (number) => versionUrl(parentKind, parent.id, number, project) }, list),
    onSuccess: async () => {
      void navigate('?tab=import', { replace: true })
      await invalidate(client, kind.name)
    },
    onError: (error) => void message.error(problemText(error, i18n)),
  })
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (may && data) void ofDrop(event.dataTransfer).then((list) => bring.mutate(list), (error: unknown) => void message.error(problemText(error, i18n)))
  }
  const menu = [
    ...(own && offers(session, parentKind, 'update', project?.id) ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...(own && offers(session, parentKind, 'delete', project?.id, parent) ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  return (
    <article className="detail">
      <Crumbs of={[{ url: listUrl(parentKind, project), title: w(parentKind.titles) }]} />
      <header className="detail-head">
        <h1>{nameOf(parentKind, parent)}</h1>
        <MoreMenu entries={menu} onPick={(key) => setOpen({ what: key as 'edit' | 'delete', item: parent })} />
      </header>
      {may && data ? (
        <div className={over ? 'drop drop-page over' : 'drop drop-page'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
          <Icon name="up" size={24} />
          <p><strong>{t('import.drop')}</strong></p>
          <p className="muted">{t('import.dropHint')}</p>
          <div className="row wrap">
            <Button type="primary" loading={bring.isPending} onClick={() => files.current?.click()}>{t('import.files')}</Button>
            <NewButton kind={kind} parentKind={parentKind} parent={parent} small />
          </div>
          <input ref={files} data-testid="first-files" type="file" multiple hidden onChange={(e) => { bring.mutate(ofInput(e.target.files)); e.target.value = '' }} />
        </div>
      ) : (
        <Empty title={t('versions.none')} text={t(may ? 'versions.noneFiles' : 'list.emptyReadOnly')}><NewButton kind={kind} parentKind={parentKind} parent={parent} /></Empty>
      )}
      <Facts kind={parentKind} item={parent} />
      <Dialogs kind={parentKind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(parentKind, project) ?? '/', { replace: true })} />
    </article>
  )
}
