import { Link, useParams } from 'react-router'
import { useApp } from '../../app/context'
import { NotFoundPage } from '../../app/pages'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { ListView } from '../objects/ListView'
import { AccountForm } from './AccountForm'
import { PasswordForm } from './PasswordForm'

/** One's own account: /profile, /profile/password and the kinds of scope "own" (tokens, sessions). */
export function Profile() {
  const { t, w } = useI18n()
  const { plural } = useParams()
  const { kinds, session } = useApp()
  const own = kinds.filter((k) => k.scope === 'own' && k.verbs.includes('list'))
  const tabs = [
    { path: '', title: t('profile.account') },
    { path: 'password', title: t('profile.password') },
    ...own.map((k) => ({ path: k.plural, title: w(k.titles) })),
  ]
  const now = tabs.find((tab) => tab.path === (plural ?? ''))
  useTitle(now?.title, t('profile.title'))
  if (!now) return <NotFoundPage />
  const kind = own.find((k) => k.plural === plural)
  return (
    <article className="detail">
      <header className="detail-head"><h1>{session.user.display_name || session.user.name}</h1></header>
      <nav className="tabs" aria-label={t('profile.title')}>
        {tabs.map((tab) => <Link key={tab.path} to={tab.path ? `/profile/${tab.path}` : '/profile'} aria-current={tab === now ? 'page' : undefined}>{tab.title}</Link>)}
      </nav>
      {kind ? <ListView key={kind.name} kind={kind} place={{}} /> : now.path === 'password' ? <PasswordForm /> : <AccountForm />}
    </article>
  )
}
