import { useQueryClient } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useId, useRef, useState } from 'react'
import { itemUrl } from '../../app/links'
import type { Item, Kind, Ref } from '../../api/kinds'
import { invalidate, itemPath } from '../../api/objects'
import { formatBytes } from '../../components/format'
import { nameOf } from '../../components/names'
import { useI18n } from '../../i18n'
import { Running } from '../datasets/ImportTab'
import { begin, useBatches } from '../datasets/uploads'
import { isVersion, versionOf } from './commands'

/** A saved archive on its way: upload with progress, then the task that imports it. */
export function ArchiveUpload({ kind, image, project }: { kind: Kind; image: Item; project: Ref }) {
  const { t } = useI18n()
  const id = useId()
  const client = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File | null>(null)
  const [version, setVersion] = useState('')
  const path = itemPath(kind, {}, image.id)
  const url = itemUrl(kind, image.id, project) ?? ''
  const batches = useBatches().filter((b) => b.path === path)
  const refresh = () => {
    void invalidate(client, 'image_version')
    void invalidate(client, 'image')
  }
  const choose = (chosen: File | null) => {
    setFile(chosen)
    if (chosen) setVersion(versionOf(chosen.name))
  }
  const start = () => {
    if (!file) return
    begin({ path, url, title: nameOf(kind, image), project: project.id, options: {}, body: (entries) => ({ upload: entries[0]?.upload, version }) }, [{ name: file.name, file }])
    choose(null)
  }
  return (
    <div className="import">
      {batches.map((batch) => <Running key={batch.id} batch={batch} url={url} onOver={refresh} />)}
      <p className="muted">{t('images.uploadText')}</p>
      <div className="row wrap">
        <Button onClick={() => input.current?.click()}>{t('images.choose')}</Button>
        {file && <span className="clip-line">{file.name} · {formatBytes(file.size)}</span>}
        <input ref={input} data-testid="archive-file" type="file" hidden onChange={(e) => { choose(e.target.files?.[0] ?? null); e.target.value = '' }} />
      </div>
      {file && (
        <div className="field">
          <label htmlFor={id}>{t('images.version')}</label>
          <div className="row wrap">
            <Input id={id} value={version} status={isVersion(version) ? '' : 'error'} style={{ maxWidth: 260 }} onChange={(e) => setVersion(e.target.value)} />
            <Button type="primary" disabled={!isVersion(version)} onClick={start}>{t('images.start')}</Button>
          </div>
          <p className="field-help">{t('images.versionHelp')}</p>
        </div>
      )}
    </div>
  )
}
