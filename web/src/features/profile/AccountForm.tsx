import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useMemo, useState } from 'react'
import { useApp } from '../../app/context'
import { language } from '../../app/prefs'
import { Problem, request } from '../../api/client'
import type { Field } from '../../api/kinds'
import { leaveFor, sessionKey } from '../../api/session'
import { FormFields } from '../../components/FormFields'
import { changedFields, outgoing, type Values } from '../../components/merge'
import { ProblemNote } from '../../components/ProblemNote'
import { useForm } from '../../components/useForm'
import { useI18n } from '../../i18n'

const editable = ['display_name', 'email', 'language']

/** What everyone may change about themselves; the rules are those of the user kind. */
export function AccountForm() {
  const { t } = useI18n()
  const { session, kind } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const fields = useMemo((): Field[] => (kind('user')?.fields ?? []).filter((f) => editable.includes(f.name)), [kind])
  const [initial, setInitial] = useState<Record<string, unknown>>(() => ({ ...session.user }))
  const form = useForm(fields, initial, false)
  const newEmail = changedFields(initial, form.values, fields).includes('email')
  const [failed, setFailed] = useState<unknown>(null)
  const save = useMutation({
    mutationFn: (values: Values) => {
      const changed = changedFields(initial, values, fields)
      const body = Object.fromEntries(fields.filter((f) => changed.includes(f.name)).map((f) => [f.name, outgoing(f, values[f.name])]))
      return request('/profile', { method: 'PATCH', body })
    },
    // What is typed while it is being saved is not saved yet.
    onSuccess: async (_, saved) => {
      if (changedFields(initial, saved, fields).includes('email')) return leaveFor('/sign-in?next=%2Fprofile&changed=email')
      setInitial(saved)
      const chosen = saved['language']
      if (chosen === 'zh' || chosen === 'en') language.set(chosen)
      await client.invalidateQueries({ queryKey: sessionKey })
      void message.success(t('profile.saved'))
    },
    onError: (error) => {
      if (!(error instanceof Problem && form.refuse(error))) setFailed(error)
    },
  })
  return (
    <form
      className="form page-form" noValidate
      onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.currentTarget.requestSubmit() }}
      onSubmit={(e) => {
        e.preventDefault()
        setFailed(null)
        if (form.check().length === 0 && form.dirty && !save.isPending) save.mutate(form.values)
      }}
    >
      {failed ? <ProblemNote error={failed} /> : null}
      <dl className="facts">
        <div><dt>{t('profile.name')}</dt><dd>{session.user.name}</dd></div>
        {session.user.administrator && <div><dt>{t('profile.permissions')}</dt><dd>{t('profile.administrator')}</dd></div>}
        {session.projects.map((p) => <div key={p.id}><dt>{p.name}</dt><dd>{p.role ?? t('value.none')}</dd></div>)}
      </dl>
      <FormFields fields={fields} kindName="user" form={form} creating={false} prefix="profile" />
      {newEmail && <p className="note" role="status">{t('profile.emailHint')}</p>}
      <div><Button type="primary" htmlType="submit" loading={save.isPending} disabled={!form.dirty}>{t('form.save')}</Button></div>
    </form>
  )
}
