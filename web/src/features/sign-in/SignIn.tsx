import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { safeNext } from '../../app/links'
import { LanguageMenu, ThemeMenu } from '../../app/PrefMenus'
import { sessionKey, useSession, type Session } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { useI18n, type Key } from '../../i18n'
import { Ways } from './Ways'

// What one changed about oneself, after which every session has ended: ?changed=
const changes: Record<string, Key> = { password: 'signIn.passwordChanged', email: 'signIn.emailChanged' }

export function SignIn() {
  const { t } = useI18n()
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const client = useQueryClient()
  const session = useSession()
  const next = safeNext(params.get('next'))
  useTitle(t('signIn.submit'))
  useEffect(() => {
    if (session.data && !session.error && !session.isFetching) void navigate(next, { replace: true })
  }, [session.data, session.error, session.isFetching, next, navigate])

  const signedIn = (opened: Session) => {
    client.clear()
    client.setQueryData(sessionKey, opened)
    void navigate(next, { replace: true })
  }
  const note = changes[params.get('changed') ?? '']
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
        {note && <p className="note" role="status">{t(note)}</p>}
        {failure && <p className="note note-error" role="alert">{t('signIn.failed', { detail: failure })}</p>}
        <Ways next={next} onSignedIn={signedIn} />
      </main>
    </div>
  )
}
