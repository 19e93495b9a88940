import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, AutoComplete, Input } from 'antd'
import { useState } from 'react'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { useImageNames } from '../jobs/pick/Image'

/** The environment as it is now, as a version of an image: everything but its mounted folders. */
export function SaveImage({ item, onClose }: { item: Item; onClose: () => void }) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  const [name, setName] = useState(String(item['name']).toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, ''))
  const [version, setVersion] = useState('v1')
  const names = useImageNames(name)
  const save = useMutation({
    mutationFn: () => request<Item>(`/environments/${item.id}/save`, { method: 'POST', body: { image: name, version } }),
    onSuccess: async () => {
      await Promise.all([invalidate(client, 'image'), invalidate(client, 'task')])
      void message.success(t('save.started', { image: `${name}:${version}` }))
      onClose()
    },
  })
  return (
    <FormDialog
      title={t('save.title')} dirty={false} submittable={name !== '' && version !== ''} busy={save.isPending} submitText={t('save.do')} onClose={onClose}
      error={save.error ? <ProblemNote error={save.error} /> : null}
      onSubmit={() => {
        if (name !== '' && version !== '') save.mutate()
      }}
    >
      <p className="field-help">{t('save.help')}</p>
      <div className="field">
        <label htmlFor="save-name">{t('save.name')}</label>
        <AutoComplete id="save-name" className="mono" value={name} onChange={setName} options={names.map((value) => ({ value }))} />
        {name === '' && <p className="field-error" role="alert">{t('rule.required')}</p>}
      </div>
      <div className="field">
        <label htmlFor="save-version">{t('save.version')}</label>
        <Input id="save-version" className="mono" value={version} onChange={(e) => setVersion(e.target.value)} autoComplete="off" />
        {version === '' && <p className="field-error" role="alert">{t('rule.required')}</p>}
      </div>
    </FormDialog>
  )
}
