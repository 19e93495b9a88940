import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Input } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { invalidate, listPage } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { isVersion } from './commands'

/** Copies a version to an image of the project one is in; no bytes are copied. */
export function CopyDialog({ kind, versions, image, version, onClose }: { kind: Kind; versions: Kind; image: Item; version: Item; onClose: () => void }) {
  const { t } = useI18n()
  const { project } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const same = image.project?.id === project?.id
  const [name, setName] = useState(same ? `${nameOf(kind, image)}-copy` : nameOf(kind, image))
  const [tag, setTag] = useState(nameOf(versions, version))
  const copy = useMutation({
    mutationFn: async () => {
      const found = (await listPage(kind, { project: project?.id }, { filter: `name = ${JSON.stringify(name)}`, limit: 1 })).items[0]
      const target = found ?? (await request<Item>('/images', { method: 'POST', body: { project: project?.id, name } }))
      await request(`/images/${target.id}/copy`, { method: 'POST', body: { from: version.id, version: tag } })
    },
    onSuccess: async () => {
      await invalidate(client, 'image')
      await invalidate(client, 'image_version')
      void message.success(t('images.copied', { name: `${name}:${tag}` }))
      onClose()
    },
  })
  const ok = name.trim() !== '' && isVersion(tag)
  return (
    <FormDialog
      title={t('images.copyTitle', { name: `${nameOf(kind, image)}:${nameOf(versions, version)}` })} dirty={false} busy={copy.isPending} submitText={t('images.copy')} onClose={onClose}
      onSubmit={() => { if (ok) copy.mutate() }} error={copy.error ? <ProblemNote error={copy.error} /> : null}
    >
      <div className="field">
        <label htmlFor="copy-name">{t('images.copyName')}</label>
        <Input id="copy-name" value={name} maxLength={50} onChange={(e) => setName(e.target.value)} />
        <p className="field-help">{t('images.copyNameHelp')}</p>
      </div>
      <div className="field">
        <label htmlFor="copy-version">{t('images.version')}</label>
        <Input id="copy-version" value={tag} status={isVersion(tag) ? '' : 'error'} onChange={(e) => setTag(e.target.value)} />
        <p className="field-help">{t('images.versionHelp')}</p>
      </div>
    </FormDialog>
  )
}
