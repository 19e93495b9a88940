import { useQueryClient } from '@tanstack/react-query'
import { Button, Checkbox, Input, InputNumber, Select, Tabs } from 'antd'
import { useEffect, useId, useRef, useState, type DragEvent } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { formatBytes, formatDuration } from '../../components/format'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { Bar } from '../tasks/Bar'
import { TaskView } from '../tasks/TaskView'
import type { Task } from '../tasks/tasks'
import { FormatField } from './FormatField'
import type { Version } from './samples'
import { SourceForm } from './SourceForm'
import { bodyOf, isComplete, sources, type SourceKind, type SourceValues } from './sources'
import { merge, ofDrop, ofInput, rateOf, sumOf, type Dropped } from './uploadModel'
import { begin, dismiss, pause, resume, useBatches, type Batch, type ImportOptions } from './uploads'

const video = /\.(mp4|avi|mov|mkv|webm|m4v|mpe?g|wmv|flv)$/i
const archive = /\.(zip|tar|tgz|tar\.\w+|rar|7z)$/i

/** Files that were chosen but not sent yet, by version: looking at another tab or page loses none. */
const chosen = new Map<string, Dropped[]>()

export function ImportTab({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const { project } = useApp()
  const client = useQueryClient()
  const id = useId()
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [list, setList] = useState<Dropped[]>(() => chosen.get(version.path) ?? [])
  useEffect(() => {
    if (list.length > 0) chosen.set(version.path, list)
    else chosen.delete(version.path)
  }, [list, version.path])
  const [over, setOver] = useState(false)
  const [asking, setAsking] = useState(false)
  const [format, setFormat] = useState('')
  const [frames, setFrames] = useState<'every' | 'per_second'>('every')
  const [amount, setAmount] = useState(25)
  const [replace, setReplace] = useState(false)
  const [source, setSource] = useState<'folder' | SourceKind>('folder')
  const [directory, setDirectory] = useState('')
  const [remote, setRemote] = useState<SourceValues>({})
  const [secret, setSecret] = useState('')
  const [folderTask, setFolderTask] = useState<number | null>(null)
  const [failed, setFailed] = useState<unknown>(null)
  const batches = useBatches().filter((b) => b.path === version.path)
  const add = (more: Dropped[]) => setList((old) => merge(old, more))
  const mayHoldVideo = version.parent['data_type'] === 'image' && (directory !== '' || source === 's3' || list.some((f) => video.test(f.name) || archive.test(f.name)))
  const options: ImportOptions = { ...(format ? { format } : {}), ...(mayHoldVideo ? { [frames]: amount } : {}), ...(replace ? { replace } : {}) }
  const url = versionUrl(version.parentKind, version.parent.id, Number(version.item['number']), project)
  const refresh = () => void invalidate(client, 'dataset_version')

  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void ofDrop(event.dataTransfer).then(add, setFailed)
  }
  const run = () => {
    setFailed(null)
    if (list.length > 0 && project) {
      begin({ path: version.path, url, title: `${nameOf(version.parentKind, version.parent)} ${nameOf(version.kind, version.item)}`, project: project.id, options }, list)
      setList([])
    } else if (ready) {
      const from = source === 'folder' ? { directory: directory.trim() } : bodyOf(source, remote, secret)
      setAsking(true)
      request<Task>(`${version.path}/import`, { method: 'POST', body: { ...from, ...options } }).then((task) => { setFolderTask(task.id); setSecret('') }, setFailed).finally(() => setAsking(false))
    }
  }
  const ready = source === 'folder' ? directory.trim() !== '' : isComplete(source, remote)
  const bytes = list.reduce((sum, f) => sum + f.file.size, 0)
  return (
    <div className="import">
      {batches.map((batch) => <Running key={batch.id} batch={batch} url={url} onOver={refresh} />)}
      {folderTask !== null && <section className="running"><TaskView id={folderTask} onOver={refresh} /><div><Link to={url}>{t('import.see')}</Link></div></section>}
      <div className={over ? 'drop over' : 'drop'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <Icon name="up" size={24} />
        <p><strong>{t('import.drop')}</strong></p>
        <p className="muted">{t('import.dropHint')}</p>
        <div className="row wrap">
          <Button onClick={() => files.current?.click()}>{t('import.files')}</Button>
          <Button onClick={() => folder.current?.click()}>{t('import.folder')}</Button>
        </div>
        <input ref={files} data-testid="import-files" type="file" multiple hidden onChange={(e) => { add(ofInput(e.target.files)); e.target.value = '' }} />
        <input ref={folder} type="file" hidden {...{ webkitdirectory: '' }} onChange={(e) => { add(ofInput(e.target.files)); e.target.value = '' }} />
      </div>
      {list.length > 0 && (
        <section className="chosen" aria-label={t('import.chosen')}>
          <div className="section-head"><h2>{t('import.chosenCount', { n: n(list.length), size: formatBytes(bytes) })}</h2><span className="grow" /><Button size="small" type="text" onClick={() => setList([])}>{t('import.clear')}</Button></div>
          <ul className="file-list">
            {list.slice(0, 50).map((f) => <li key={f.name}><span className="clip-line">{f.name}</span><span className="muted num">{formatBytes(f.file.size)}</span><Button type="text" size="small" aria-label={t('import.remove', { name: f.name })} icon={<Icon name="close" size={12} />} onClick={() => setList((old) => old.filter((x) => x !== f))} /></li>)}
            {list.length > 50 && <li className="muted">{t('value.more', { n: n(list.length - 50) })}</li>}
          </ul>
        </section>
      )}
      <div className="import-options">
        <FormatField type={version.parent['annotation_type']} value={format} onChange={setFormat} />
        {mayHoldVideo && (
          <div className="field">
            <label htmlFor={`${id}-frames`}>{t('import.video')}</label>
            <div className="row wrap">
              <Select id={`${id}-frames`} value={frames} onChange={(value) => { setFrames(value); setAmount(value === 'every' ? 25 : 1) }} options={[{ value: 'every', label: t('import.every') }, { value: 'per_second', label: t('import.perSecond') }]} />
              <InputNumber aria-label={t('import.video')} min={frames === 'every' ? 1 : 0.01} max={frames === 'every' ? 1_000_000 : 1000} precision={frames === 'every' ? 0 : undefined} value={amount} onChange={(value) => setAmount(value ?? 1)} />
            </div>
          </div>
        )}
        <div className="field">
          <Checkbox checked={replace} onChange={(e) => setReplace(e.target.checked)}>{t('import.replace')}</Checkbox>
          <p className="field-help">{t('import.replaceHint')}</p>
        </div>
      </div>
      {list.length === 0 && (
        <details className="field" onToggle={(e) => { if (!e.currentTarget.open) setSource('folder') }}>
          <summary>{t('import.elsewhere')}</summary>
          <Tabs
            size="small"
            activeKey={source}
            onChange={(key) => { setSource(key as typeof source); setRemote({}); setSecret('') }}
            items={[
              {
                key: 'folder',
                label: t('import.server'),
                children: (
                  <>
                    <Input aria-label={t('import.server')} value={directory} onChange={(e) => setDirectory(e.target.value)} />
                    <p className="field-help">{t('import.serverHint')}</p>
                  </>
                ),
              },
              ...(['s3', 'database'] as const).map((kind) => ({
                key: kind,
                label: t(sources[kind].title),
                children: <SourceForm kind={kind} values={remote} secret={secret} onChange={setRemote} onSecret={setSecret} />,
              })),
            ]}
          />
        </details>
      )}
      {failed !== null && <ProblemNote error={failed} />}
      <div><Button type="primary" disabled={list.length === 0 && !ready} loading={asking} onClick={run}>{t('import.start')}</Button></div>
    </div>
  )
}

/** An upload that becomes an import. */
export function Running({ batch, url, onOver, compact }: { batch: Batch; url: string; onOver?: () => void; compact?: boolean }) {
  const { t, n, language } = useI18n()
  if (batch.state === 'started' && batch.task !== null) {
    return (
      <section className="running">
        <TaskView id={batch.task} onOver={onOver} />
        <div className="row">{!batch.body && <Link to={url}>{t('import.see')}</Link>}<span className="grow" /><Button size="small" type="text" onClick={() => dismiss(batch)}>{t('import.hide')}</Button></div>
      </section>
    )
  }
  const sum = sumOf(batch.entries)
  const rate = batch.state === 'sending' ? rateOf(batch.points) : null
  return (
    <section className="running">
      <Bar share={sum.total > 0 ? sum.sent / sum.total : 1} label={t('import.uploading')} />
      <div className="row wrap">
        <span className="num" role="status">
          {t(batch.state === 'paused' ? 'import.paused' : batch.state === 'failed' ? 'import.stopped' : 'import.uploading')}
          {` · ${n(sum.done)} / ${n(sum.files)} · ${formatBytes(sum.sent)} / ${formatBytes(sum.total)}`}
          {rate !== null && ` · ${formatBytes(Math.round(rate))}/s · ${t('task.left', { time: formatDuration((sum.total - sum.sent) / rate, language) })}`}
        </span>
        <span className="grow" />
        {batch.state === 'sending' && <Button size="small" onClick={() => pause(batch)}>{t('import.pause')}</Button>}
        {(batch.state === 'paused' || batch.state === 'failed') && <Button size="small" onClick={() => resume(batch)}>{t(batch.state === 'paused' ? 'import.resume' : 'error.retry')}</Button>}
        <Button size="small" type="text" onClick={() => dismiss(batch)}>{t('form.cancel')}</Button>
      </div>
      {batch.state === 'failed' && !compact && <ProblemNote error={batch.error} />}
    </section>
  )
}
