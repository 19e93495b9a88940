import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App } from 'antd'
import { Suspense, useState } from 'react'
import { Problem, request } from '../../api/client'
import type { Action, Item, Kind } from '../../api/kinds'
import { collectionPath, invalidate, itemPath, type Place } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { FormBody, focusField } from '../../components/FormBody'
import { outgoing } from '../../components/merge'
import { useShown } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { ProblemNote } from '../../components/ProblemNote'
import { SecretDialog } from '../../components/SecretDialog'
import { useDraft } from '../../components/useDraft'
import { useForm } from '../../components/useForm'
import { useI18n } from '../../i18n'
import { formAsides } from './special'

interface Props {
  kind: Kind
  place: Place
  action: Action
  item?: Item
  /** What the server answered, after it has been told to the user. */
  onDone?: (answer: unknown) => void
  onClose: () => void
}

/** Answers that hold something to be read once. */
function secretOf(answer: unknown): string | null {
  if (answer === null || typeof answer !== 'object') return null
  for (const name of ['secret', 'password']) {
    const value = (answer as Record<string, unknown>)[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

export function ActionDialog({ kind, place, action, item, onDone, onClose }: Props) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const [initial] = useState(() => Object.fromEntries(action.fields.map((f) => [f.name, f.default])))
  const form = useForm(action.fields, initial, true)
  const [failed, setFailed] = useState<unknown>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const shown = useShown()
  const base = item ? itemPath(kind, place, item.id) : collectionPath(kind, place)
  const [taken, setTaken] = useState(false)
  useDraft(`${base}/${action.name} ${place.project ?? 0}`, action.fields, initial, form, () => setTaken(true))
  const run = useMutation({
    mutationFn: () => {
      const values = Object.fromEntries(action.fields.map((f) => [f.name, outgoing(f, form.values[f.name])]).filter(([, v]) => v !== null && v !== ''))
      return request<unknown>(`${base}/${action.name}`, action.method === 'GET' ? { query: values as Record<string, string> } : { method: 'POST', body: values })
    },
    onSuccess: async (answer) => {
      await invalidate(client, kind.name)
      void message.success(t('object.doneToast', { action: w(action.title) }))
      if (!shown()) return
      const found = secretOf(answer)
      if (found) setSecret(found)
      else onClose()
      onDone?.(answer)
    },
    onError: (error) => {
      if (!shown()) void message.error(problemText(error, i18n))
      else if (!(error instanceof Problem && form.refuse(error))) setFailed(error)
    },
  })
  if (secret) return <SecretDialog title={t('secret.title')} label={t('secret.password')} secret={secret} onClose={onClose} />
  const name = item ? nameOf(kind, item) : w(kind.titles)
  const Aside = formAsides[`${kind.name}.${action.name}`]
  return (
    <FormDialog
      title={t('object.actionTitle', { action: w(action.title), name })} dirty={form.dirty} busy={run.isPending} submitText={w(action.title)} danger={action.danger} onClose={onClose} drawer={Aside !== undefined}
      aside={Aside && <Suspense fallback={null}><Aside values={form.values} place={place} onValues={form.setAll} /></Suspense>}
      error={failed ? <ProblemNote error={failed} /> : null}
      onSubmit={() => {
        setFailed(null)
        const wrong = form.check()
        if (wrong.length === 0) run.mutate()
        else focusField(`action-${wrong[0]}`)
      }}
    >
      {action.fields.length === 0 && <p>{t('object.confirmAction', { action: w(action.title), name })}</p>}
      <FormBody key={String(taken)} fields={action.fields} kindName={`${kind.name}.${action.name}`} form={form} creating prefix="action" />
    </FormDialog>
  )
}
