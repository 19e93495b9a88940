import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, Input, Radio, Select } from 'antd'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { request, type Schema } from '../../api/client'
import { allItems, invalidate, useList } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { SecretDialog } from '../../components/SecretDialog'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { useSameTask } from './sameTask'

type Deployment = Schema<'Deployment'>

/** From a model version to a service that answers: a new service, or a version of one that is there. */
export function Deploy({ version, onClose }: { version: Version; onClose: () => void }) {
  const { t } = useI18n()
  const { project, kind: byName } = useApp()
  const navigate = useNavigate()
  const client = useQueryClient()
  const kind = byName('service')
  const services = allItems(useList(kind ?? version.kind, { project: project?.id }, {}).data)
  const [name, setName] = useState(useSearchParams()[0].get('service') ?? nameOf(version.parentKind, version.parent))
  const [role, setRole] = useState<'canary' | 'production'>('canary')
  const same = useSameTask(version.item.id, true).slice(0, 5)
  const there = services.some((one) => one['name'] === name)
  const [made, setMade] = useState<Deployment | null>(null)
  const deploy = useMutation({
    mutationFn: () => request<Deployment>('/services/deploy', { method: 'POST', body: { project: project?.id, name, model_version: version.item.id, role: there ? role : 'production' } }),
    onSuccess: async (answer) => {
      await invalidate(client, 'service')
      if (answer.key) setMade(answer)
      else go(answer)
    },
  })
  const go = (answer: Deployment) => {
    onClose()
    const url = kind && itemUrl(kind, answer.service.id, project)
    if (url) void navigate(url)
  }
  if (made) {
    const secret = String((made.key as Record<string, unknown>)['secret'])
    return (
      <SecretDialog title={t('deploy.key')} label={t('deploy.keyLabel')} secret={secret} onClose={() => go(made)}>
        <pre>{`export INGOT_KEY=${secret}`}</pre>
      </SecretDialog>
    )
  }
  return (
    <FormDialog title={t('deploy.title', { name: `${nameOf(version.parentKind, version.parent)} ${nameOf(version.kind, version.item)}` })} submitText={t('deploy.submit')} dirty={false} busy={deploy.isPending} submittable={name.trim() !== ''} onSubmit={() => deploy.mutate()} onClose={onClose}>
      {same.length > 0 && (
        <div className="field deploy-same" role="group" aria-label={t('deploy.sameTask')}>
          <span>{t('deploy.sameTask')}</span>
          {same.map((one) => (
            <Button key={one.id} size="small" aria-pressed={there && name === one.name && role === 'canary'} onClick={() => { setName(one.name); setRole('canary') }}>{t('deploy.canaryOf', { name: one.name })}</Button>
          ))}
        </div>
      )}
      <div className="field">
        <label htmlFor="deploy-name">{t('deploy.service')}</label>
        <Input id="deploy-name" value={name} maxLength={50} onChange={(e) => setName(e.target.value)} autoFocus />
        {services.length > 0 && <Select aria-label={t('deploy.existing')} placeholder={t('deploy.existing')} value={there ? name : null} onChange={(value: string) => setName(value)} options={services.map((one) => ({ value: String(one['name']), label: String(one['name']) }))} />}
        <p className="field-help">{t(there ? 'deploy.thereText' : 'deploy.newText')}</p>
      </div>
      {there && <Radio.Group value={role} onChange={(e) => setRole(e.target.value as 'canary' | 'production')} options={[{ value: 'canary', label: t('deploy.asCanary') }, { value: 'production', label: t('deploy.asProduction') }]} />}
      {deploy.error && <ProblemNote error={deploy.error} />}
    </FormDialog>
  )
}
