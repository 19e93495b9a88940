import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Dropdown, Input } from 'antd'
import { useRef, useState, type DragEvent } from 'react'
import { Link, useSearchParams } from 'react-router'
import { apiUrl, request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { formatBytes } from '../../components/format'
import { FormDialog } from '../../components/FormDialog'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { ProblemNote } from '../../components/ProblemNote'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { ofDrop, ofInput, type Dropped } from '../datasets/uploadModel'
import { Bar } from '../tasks/Bar'
import { FilePreview } from './FilePreview'
import { fileUrl, join, putFile, useFiles, type FileItem } from './files'

/** The files of a version, folder by folder. */
export function FileBrowser({ version }: { version: Version }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { message, modal } = App.useApp()
  const client = useQueryClient()
  const [params] = useSearchParams()
  const folder = params.get('path') ?? ''
  const file = params.get('file')
  const found = useFiles(version, folder)
  const files = useRef<HTMLInputElement>(null)
  const folders = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [sending, setSending] = useState<{ name: string; done: number; count: number; sent: number; total: number } | null>(null)
  const [renaming, setRenaming] = useState<string | null>(null)
  const refresh = () => invalidate(client, version.kind.name)

  const upload = async (list: Dropped[]) => {
    const total = list.reduce((sum, f) => sum + f.file.size, 0)
    let before = 0
    try {
      for (const [i, { name, file: content }] of list.entries()) {
        setSending({ name, done: i, count: list.length, sent: before, total })
        await putFile(version, join(folder, name), content, (sent) => setSending({ name, done: i, count: list.length, sent: before + sent, total }))
        before += content.size
      }
      if (list.length > 0) void message.success(t('files.uploaded', { n: n(list.length) }))
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
    setSending(null)
    await refresh()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (version.open) void ofDrop(event.dataTransfer).then(upload)
  }
  const remove = (item: FileItem) => {
    const path = join(folder, item.name)
    void modal.confirm({
      title: t('files.deleteTitle', { name: path }), content: t(item.folder ? 'files.deleteFolder' : 'files.deleteText', { n: n(item.files) }), okText: t('delete.confirm'), cancelText: t('form.cancel'), okButtonProps: { danger: true }, icon: null,
      onOk: () => request(`${version.path}/change`, { method: 'POST', body: { remove: [path] } }).catch((error: unknown) => void message.error(problemText(error, i18n))).then(refresh),
    })
  }
  const act = (key: string, item: FileItem) => {
    if (key === 'delete') remove(item)
    else setRenaming(join(folder, item.name))
  }
  const crumbs = folder ? folder.split('/') : []
  const items = found.data ?? []
  return (
    <section className={over ? 'files over' : 'files'} onDragOver={(e) => { if (version.open) { e.preventDefault(); setOver(true) } }} onDragLeave={() => setOver(false)} onDrop={drop}>
      <div className="tools">
        <nav className="crumbs path" aria-label={t('files.path')}>
          <ol>
            <li><Link to="?tab=files">{nameOf(version.kind, version.item)}</Link></li>
            {crumbs.map((part, i) => <li key={i}><Link to={`?path=${encodeURIComponent(crumbs.slice(0, i + 1).join('/'))}`}>{part}</Link></li>)}
            {file && <li aria-current="page">{file}</li>}
          </ol>
        </nav>
        <span className="grow" />
        {version.open && <>
          <Button icon={<Icon name="up" size={14} />} onClick={() => files.current?.click()}>{t('files.upload')}</Button>
          <Button onClick={() => folders.current?.click()}>{t('files.uploadFolder')}</Button>
        </>}
        {items.length > 0 && <Button href={apiUrl(`${version.path}/archive`, { path: folder })} download icon={<Icon name="down" size={14} />}>{t('files.zip')}</Button>}
        <input ref={files} data-testid="upload-files" type="file" multiple hidden onChange={(e) => { void upload(ofInput(e.target.files)); e.target.value = '' }} />
        <input ref={folders} type="file" hidden {...{ webkitdirectory: '' }} onChange={(e) => { void upload(ofInput(e.target.files)); e.target.value = '' }} />
      </div>
      {sending && (
        <div className="running"><Bar share={sending.total > 0 ? sending.sent / sending.total : null} label={t('files.upload')} /><span className="muted num" role="status">{`${n(sending.done + 1)} / ${n(sending.count)} · ${sending.name} · ${formatBytes(sending.sent)} / ${formatBytes(sending.total)}`}</span></div>
      )}
      {file ? <FilePreview version={version} path={join(folder, file)} size={items.find((i) => i.name === file)?.size} /> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : found.isPending ? <Skeleton n={2} /> : items.length === 0 ? (
        <Empty title={t('files.empty')} text={t(version.open ? 'files.emptyHint' : 'list.emptyReadOnly')}>{version.open && <Button type="primary" onClick={() => files.current?.click()}>{t('files.upload')}</Button>}</Empty>
      ) : (
        <div className="table-box">
          <table className="table">
            <thead><tr><th scope="col">{t('gallery.name')}</th><th scope="col" className="right">{t('versions.size')}</th><th scope="col" className="actions-head"><span className="visually-hidden">{t('list.actions')}</span></th></tr></thead>
            <tbody>
              {items.map((item) => {
                const path = join(folder, item.name)
                return (
                  <tr key={item.name}>
                    <td className="first"><Link className="row-name file-name" to={item.folder ? `?path=${encodeURIComponent(path)}` : `?${new URLSearchParams({ ...(folder ? { path: folder } : {}), file: item.name }).toString()}`}><Icon name={item.folder ? 'folder' : 'file'} size={14} />{item.name}{item.folder ? '/' : ''}</Link></td>
                    <td className="right">{formatBytes(item.size)}{item.folder && <span className="muted">{` · ${t('versions.files', { n: n(item.files) })}`}</span>}</td>
                    <td className="actions-cell">
                      <span className="row-actions">
                        <Button type="text" size="small" aria-label={t('files.download', { name: item.name })} icon={<Icon name="down" size={14} />} href={item.folder ? apiUrl(`${version.path}/archive`, { path }) : fileUrl(version, path, true)} download />
                        {version.open && <Dropdown trigger={['click']} menu={{ items: [{ key: 'rename', label: t('files.rename') }, { key: 'delete', label: t('object.delete'), danger: true }], onClick: ({ key }) => act(key, item) }}><Button type="text" size="small" aria-label={t('list.rowActions', { name: item.name })} icon={<Icon name="more" size={14} />} /></Dropdown>}
                      </span>
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
      {renaming !== null && <Rename version={version} path={renaming} onClose={() => setRenaming(null)} onDone={refresh} />}
    </section>
  )
}

function Rename({ version, path, onClose, onDone }: { version: Version; path: string; onClose: () => void; onDone: () => Promise<void> }) {
  const { t } = useI18n()
  const [to, setTo] = useState(path)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  const submit = async () => {
    if (to.trim() === '' || to === path) return onClose()
    setBusy(true)
    try {
      await request(`${version.path}/change`, { method: 'POST', body: { move: [{ from: path, to: to.trim() }] } })
      onClose()
      await onDone()
    } catch (error) {
      setFailed(error)
      setBusy(false)
    }
  }
  return (
    <FormDialog title={t('files.renameTitle', { name: path })} dirty={to !== path} busy={busy} submitText={t('files.rename')} onClose={onClose} onSubmit={() => void submit()} error={failed === null ? null : <ProblemNote error={failed} />}>
      <div className="field"><label htmlFor="rename-to">{t('files.newPath')}</label><Input id="rename-to" value={to} maxLength={1024} onChange={(e) => setTo(e.target.value)} /></div>
    </FormDialog>
  )
}
