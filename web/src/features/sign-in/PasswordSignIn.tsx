import { useMutation } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useEffect, useId, useState } from 'react'
import { Problem, request } from '../../api/client'
import type { Session } from '../../api/session'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'

/** Name and password; told of the session that they open. */
export function PasswordSignIn({ user = '', onSignedIn }: { user?: string; onSignedIn: (session: Session) => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const id = useId()
  const [name, setName] = useState(user)
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const signIn = useMutation({
    mutationFn: () => request<Session>('/sessions', { method: 'POST', body: { name, password }, quiet: true }),
    onSuccess: onSignedIn,
  })
  const wait = useWait(signIn.error)
  const error = wait > 0 ? t('signIn.wait', { n: wait }) : signIn.error ? failureText() : null
  function failureText(): string | null {
    const { error: e } = signIn
    if (!(e instanceof Problem)) return problemText(e, i18n)
    if (e.status === 429) return null
    return e.status === 401 ? t('signIn.wrong') : problemText(e, i18n)
  }
  const missing = { name: tried && name === '', password: tried && password === '' }
  return (
    <form
      className="form" noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (name !== '' && password !== '' && !signIn.isPending) signIn.mutate()
      }}
    >
      {error && <p className="note note-error" role="alert">{error}</p>}
      <div className="field">
        <label htmlFor={`${id}-name`}>{t('signIn.name')}</label>
        <Input id={`${id}-name`} size="large" autoComplete="username" autoFocus={user === ''} spellCheck={false} autoCapitalize="none" value={name} onChange={(e) => setName(e.target.value)} status={missing.name ? 'error' : undefined} aria-invalid={missing.name || undefined} aria-describedby={missing.name ? `${id}-name-error` : undefined} />
        {missing.name && <p id={`${id}-name-error`} className="field-error">{t('signIn.missingName')}</p>}
      </div>
      <div className="field">
        <label htmlFor={`${id}-password`}>{t('signIn.password')}</label>
        <Input.Password id={`${id}-password`} size="large" autoComplete="current-password" autoFocus={user !== ''} value={password} onChange={(e) => setPassword(e.target.value)} status={missing.password ? 'error' : undefined} aria-invalid={missing.password || undefined} aria-describedby={missing.password ? `${id}-password-error` : undefined} />
        {missing.password && <p id={`${id}-password-error`} className="field-error">{t('signIn.missingPassword')}</p>}
      </div>
      <Button type="primary" size="large" block htmlType="submit" loading={signIn.isPending} disabled={wait > 0}>{t('signIn.submit')}</Button>
    </form>
  )
}

/** Seconds left until the server takes the next attempt. */
function useWait(error: unknown): number {
  const [until, setUntil] = useState(0)
  const [now, setNow] = useState(0)
  useEffect(() => {
    if (!(error instanceof Problem) || error.status !== 429) return
    setNow(Date.now())
    setUntil(Date.now() + (error.retryAfter ?? 1) * 1000)
    const timer = window.setInterval(() => setNow(Date.now()), 500)
    return () => window.clearInterval(timer)
  }, [error])
  return Math.max(0, Math.ceil((until - now) / 1000))
}
