import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Input, Select } from 'antd'
import { useState, type ReactNode } from 'react'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { ProblemNote } from '../../components/ProblemNote'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { ActionFormProps } from '../objects/special'
import { nameFault, normalize, pathsOf, type LabelPath } from './model'

interface Uses {
  versions: number
  samples: number
  shapes: number
}

interface Usage {
  drafts: Uses
  published: Uses
  elsewhere: number
  layers: number
}

/** What renaming these labels would change, before anybody does it. */
function Forecast({ set, labels }: { set: Item; labels: readonly string[] }) {
  const { t, n } = useI18n()
  const usage = useQuery({
    queryKey: ['label-usage', set.id, labels], enabled: labels.length > 0,
    queryFn: ({ signal }) => request<Usage>(`/label-sets/${set.id}/usage`, { query: { labels: JSON.stringify(labels) }, signal }),
  })
  if (labels.length === 0) return null
  if (usage.error) return <ProblemNote error={usage.error} />
  if (!usage.data) return <Skeleton n={1} />
  const { drafts, published, elsewhere, layers } = usage.data
  return (
    <div className="note" role="status">
      <p>{drafts.versions > 0 ? t('relabel.drafts', { versions: n(drafts.versions), samples: n(drafts.samples), shapes: n(drafts.shapes) }) : t('relabel.none')}</p>
      {layers > 0 && <p>{t('relabel.layers', { n: n(layers) })}</p>}
      {published.versions > 0 && <p>{t('relabel.published', { versions: n(published.versions) })}</p>}
      {elsewhere > 0 && <p>{t('relabel.elsewhere', { n: n(elsewhere) })}</p>}
    </div>
  )
}

function useRelabel(set: Item, action: string, onClose: () => void) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Record<string, unknown>) => request(`/label-sets/${set.id}/${action}`, { method: 'POST', body }),
    onSuccess: async () => {
      await Promise.all([invalidate(client, 'label_set'), invalidate(client, 'task')])
      void message.success(t('relabel.started'))
      onClose()
    },
  })
}

const optionsOf = (labels: readonly LabelPath[]) => labels.map(({ path, color }) => ({ value: path, label: <span className="chip"><span className="dot" style={{ background: color }} aria-hidden="true" />{path}</span> }))

function Field({ id, title, error, help, children }: { id: string; title: string; error?: string | null; help?: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{title}</label>
      {children}
      {error && <p className="field-error" role="alert">{error}</p>}
      {help && !error && <p className="field-help">{help}</p>}
    </div>
  )
}

/** One label gets another name, in the set and in what is labelled. */
export function RenameDialog({ item, onClose }: ActionFormProps) {
  const { t } = useI18n()
  const labels = pathsOf(normalize(item['labels']))
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState('')
  const act = useRelabel(item, 'rename-label', onClose)
  const name = to.trim()
  const fault = name === '' ? null : labels.some((l) => l.name === name) ? t('relabel.taken') : nameFault(name) === 'name' ? t('rule.name', { characters: '/ : * ? " < \' > |' }) : nameFault(name) ? t('rule.maxLength', { max: 50, n: '>50' }) : null
  const title = t('relabel.rename')
  return (
    <FormDialog
      title={t('object.actionTitle', { action: title, name: String(item['name']) })} dirty={from !== null || to !== ''} busy={act.isPending} submittable={from !== null && name !== '' && fault === null} submitText={title} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => act.mutate({ from, to: name })}
    >
      <Field id="relabel-from" title={t('relabel.label')}>
        <Select id="relabel-from" autoFocus showSearch value={from} onChange={setFrom} options={optionsOf(labels)} className="full" />
      </Field>
      <Field id="relabel-to" title={t('relabel.to')} error={fault}>
        <Input id="relabel-to" value={to} maxLength={200} status={fault ? 'error' : undefined} onChange={(e) => setTo(e.target.value)} autoComplete="off" />
      </Field>
      {from !== null && <Forecast set={item} labels={[from]} />}
      <p className="field-help">{t('relabel.how')}</p>
    </FormDialog>
  )
}

/** Several labels become one that is there already. */
export function MergeLabelsDialog({ item, onClose }: ActionFormProps) {
  const { t } = useI18n()
  const labels = pathsOf(normalize(item['labels']))
  const [from, setFrom] = useState<string[]>([])
  const [to, setTo] = useState<string | null>(null)
  const act = useRelabel(item, 'merge-labels', onClose)
  const title = t('relabel.merge')
  return (
    <FormDialog
      title={t('object.actionTitle', { action: title, name: String(item['name']) })} dirty={from.length > 0 || to !== null} busy={act.isPending} submittable={from.length > 0 && to !== null} submitText={title} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => act.mutate({ from, to })}
    >
      <Field id="merge-from" title={t('relabel.from')} help={t('relabel.fromHelp')}>
        <Select id="merge-from" autoFocus mode="multiple" maxCount={100} value={from} onChange={setFrom} options={optionsOf(labels.filter((l) => l.path !== to && !l.above))} className="full" />
      </Field>
      <Field id="merge-to" title={t('relabel.into')}>
        <Select id="merge-to" showSearch value={to} onChange={setTo} options={optionsOf(labels.filter((l) => !from.includes(l.path)))} className="full" />
      </Field>
      {from.length > 0 && <Forecast set={item} labels={from} />}
      <p className="field-help">{t('relabel.how')}</p>
    </FormDialog>
  )
}
