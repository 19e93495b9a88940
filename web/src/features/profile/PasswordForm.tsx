import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import { Problem, request } from '../../api/client'
import { leaveFor } from '../../api/session'
import { characters } from '../../components/format'
import { ProblemNote } from '../../components/ProblemNote'
import { fieldProblem } from '../../components/useForm'
import { useI18n, type Key } from '../../i18n'

type Name = 'old' | 'new' | 'repeat'

export function PasswordForm() {
  const i18n = useI18n()
  const { t } = i18n
  const { session } = useApp()
  const client = useQueryClient()
  const [values, setValues] = useState<Record<Name, string>>({ old: '', new: '', repeat: '' })
  const [tried, setTried] = useState(false)
  const change = useMutation({
    mutationFn: () => request('/profile/password', { method: 'POST', body: { old: values.old, new: values.new }, quiet: true }),
    onSuccess: () => {
      client.clear()
      leaveFor('/sign-in?next=%2F&changed=password')
    },
  })
  const refused = change.error instanceof Problem ? change.error : null
  const length = characters(values.new)
  const rule: Record<Name, string | null> = {
    old: values.old === '' ? t('rule.required') : null,
    new: length < 6 ? t('rule.minLength', { n: 6 }) : length > 128 ? t('rule.maxLength', { max: 128, n: length }) : null,
    repeat: values.repeat !== values.new ? t('profile.mismatch') : null,
  }
  const wrong = (name: Name): string | null => {
    if (refused?.field === name) return name === 'old' ? t('profile.wrongOld') : fieldProblem(refused, i18n)
    return tried || (values[name] !== '' && name !== 'old') ? rule[name] : null
  }
  const input = (name: Name, label: Key, autoComplete: string, help?: string) => {
    const error = wrong(name)
    return (
      <div className="field">
        <label htmlFor={`password-${name}`}>{t(label)}</label>
        <Input.Password
          id={`password-${name}`} autoComplete={autoComplete} value={values[name]} status={error ? 'error' : undefined} aria-invalid={error ? true : undefined} aria-describedby={`password-${name}-note`}
          onChange={(e) => {
            change.reset()
            setValues({ ...values, [name]: e.target.value })
          }}
        />
        <p id={`password-${name}-note`} className={error ? 'field-error' : 'field-help'} role={error ? 'alert' : undefined}>{error ?? help}</p>
      </div>
    )
  }
  return (
    <form
      className="form page-form" noValidate
      onSubmit={(e) => {
        e.preventDefault()
        setTried(true)
        if (!rule.old && !rule.new && !rule.repeat && !change.isPending) change.mutate()
      }}
    >
      <p className="note">{t('profile.changeHint')}</p>
      {refused && refused.field !== 'old' && refused.field !== 'new' && <ProblemNote error={refused} />}
      <input type="text" hidden readOnly autoComplete="username" value={session.user.name} />
      {input('old', 'profile.old', 'current-password')}
      {input('new', 'profile.new', 'new-password', t('profile.newHelp'))}
      {input('repeat', 'profile.repeat', 'new-password')}
      <div><Button type="primary" htmlType="submit" loading={change.isPending}>{t('profile.change')}</Button></div>
    </form>
  )
}
