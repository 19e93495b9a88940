import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useEffect, useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { safeNext } from '../../app/links'
import { LanguageMenu, ThemeMenu } from '../../app/PrefMenus'
import { apiUrl, Problem, request } from '../../api/client'
import { sessionKey, useSession, type Session, type SignInWays } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'

export function SignIn() {
  const i18n = useI18n()
  const { t } = i18n
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const session = useSession()
  const next = safeNext(params.get('next'))
  const ways = useQuery({ queryKey: ['sign-in'], queryFn: () => request<SignInWays>('/sign-in', { quiet: true }), staleTime: 60_000 })
  useTitle(t('signIn.submit'))
  const lost = params.get('lost') === '1'
  useEffect(() => {
    if (session.data && !session.error && !lost && !session.isFetching) void navigate(next, { replace: true })
  }, [session.data, session.error, session.isFetching, lost, next, navigate])

  const note = params.get('changed') === '1' ? t('signIn.passwordChanged') : lost ? t('signIn.lost') : null
  const failure = params.get('error')
  return (
    <div className="sign-in">
      <header className="sign-in-top">
        <LanguageMenu />
        <ThemeMenu />
      </header>
      <main className="sign-in-box">
        <img src="/ingot.svg" alt="" width={40} height={40} />
        <h1>{t('signIn.title')}</h1>
        <p className="muted">{t('app.tagline')}</p>
        {note && <p className="note" role="status">{note}</p>}
        {failure && <p className="note note-error" role="alert">{t('signIn.failed', { detail: failure })}</p>}
        {ways.error && <p className="note note-error" role="alert">{problemText(ways.error, i18n)}</p>}
        {ways.data?.password !== false && <PasswordForm next={next} />}
        {ways.data?.password && ways.data.providers.length > 0 && <p className="or"><span>{t('signIn.or')}</span></p>}
        {ways.data?.providers.map((provider) => (
          <Button key={provider.id} block href={apiUrl(`/sign-in/${encodeURIComponent(provider.id)}`, { next })}>{t('signIn.with', { title: provider.title })}</Button>
        ))}
      </main>
    </div>
  )
}

function PasswordForm({ next }: { next: string }) {
  const i18n = useI18n()
  const { t } = i18n
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const signIn = useMutation({
    mutationFn: () => request<Session>('/sessions', { method: 'POST', body: { name, password }, quiet: true }),
    onSuccess: (session) => {
      client.clear()
      client.setQueryData(sessionKey, session)
      void navigate(next, { replace: true })
    },
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
        <label htmlFor="name">{t('signIn.name')}</label>
        <Input id="name" size="large" autoComplete="username" autoFocus spellCheck={false} autoCapitalize="none" value={name} onChange={(e) => setName(e.target.value)} status={missing.name ? 'error' : undefined} aria-invalid={missing.name || undefined} aria-describedby={missing.name ? 'name-error' : undefined} />
        {missing.name && <p id="name-error" className="field-error">{t('signIn.missingName')}</p>}
      </div>
      <div className="field">
        <label htmlFor="password">{t('signIn.password')}</label>
        <Input.Password id="password" size="large" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} status={missing.password ? 'error' : undefined} aria-invalid={missing.password || undefined} aria-describedby={missing.password ? 'password-error' : undefined} />
        {missing.password && <p id="password-error" className="field-error">{t('signIn.missingPassword')}</p>}
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
