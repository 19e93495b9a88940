import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { apiUrl, request } from '../../api/client'
import type { Session, SignInWays } from '../../api/session'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { PasswordSignIn } from './PasswordSignIn'

interface Props {
  /** Who is expected. */
  user?: string
  /** The address to come back to from a provider's pages. */
  next: string
  onSignedIn: (session: Session) => void
}

/** The ways to sign in that this platform offers. */
export function Ways({ user, next, onSignedIn }: Props) {
  const i18n = useI18n()
  const { t } = i18n
  const ways = useQuery({ queryKey: ['sign-in'], queryFn: () => request<SignInWays>('/sign-in', { quiet: true }), staleTime: 60_000 })
  return (
    <>
      {ways.error && <p className="note note-error" role="alert">{problemText(ways.error, i18n)}</p>}
      {ways.data?.password !== false && <PasswordSignIn user={user} onSignedIn={onSignedIn} />}
      {ways.data?.password && ways.data.providers.length > 0 && <p className="or"><span>{t('signIn.or')}</span></p>}
      {ways.data?.providers.map((provider) => (
        <Button key={provider.id} block href={apiUrl(`/sign-in/${encodeURIComponent(provider.id)}`, { next })}>{t('signIn.with', { title: provider.title })}</Button>
      ))}
    </>
  )
}
