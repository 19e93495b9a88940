import { useQueryClient } from '@tanstack/react-query'
import { Modal } from 'antd'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { request } from '../../api/client'
import { signedInAgain } from '../../api/lost'
import { leaveFor, sessionKey, type Session } from '../../api/session'
import { useI18n } from '../../i18n'
import { Ways } from './Ways'

/** Over the page whose session has ended. The page stays as it is; whoever signs in as the same user goes on with it. */
export function SignInAgain({ user }: { user: Session['user'] }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const { pathname, search } = useLocation()
  const signedIn = useCallback(
    (opened: Session) => {
      if (opened.user.id !== user.id) return leaveFor('/')
      client.setQueryData(sessionKey, opened)
      signedInAgain()
      void client.invalidateQueries()
    },
    [client, user.id],
  )
  useElsewhere(signedIn)
  useAlone()
  return (
    <Modal
      open className="sign-in-again" rootClassName="keys-none" title={t('signIn.again')} width={400} zIndex={1900} footer={null}
      closable={false} keyboard={false} maskClosable={false} transitionName="" maskTransitionName=""
    >
      <div className="sign-in-ways">
        <p className="note" role="status">{t('signIn.lost')}</p>
        <Ways user={user.name} next={pathname + search} onSignedIn={signedIn} />
      </div>
    </Modal>
  )
}

/** Signing in in another tab counts as well: looked at when this one is looked at again. */
function useElsewhere(signedIn: (session: Session) => void): void {
  useEffect(() => {
    const look = () => {
      if (!document.hidden) request<Session>('/session', { quiet: true }).then(signedIn, () => undefined)
    }
    window.addEventListener('focus', look)
    document.addEventListener('visibilitychange', look)
    return () => {
      window.removeEventListener('focus', look)
      document.removeEventListener('visibilitychange', look)
    }
  }, [signedIn])
}

/** Everything else can neither be clicked nor reached by keyboard; afterwards the focus is where it was. */
function useAlone(): void {
  const [before] = useState(() => document.activeElement)
  const others = useRef<Element[]>([])
  useEffect(() => {
    others.current = [...document.body.children].filter((e) => !e.querySelector('.sign-in-again') && !e.hasAttribute('inert'))
    for (const other of others.current) other.setAttribute('inert', '')
    return () => {
      const nowhere = document.activeElement === null || document.activeElement === document.body
      if (nowhere && before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [before])
  // At once when it goes, not some time after: the page takes clicks from the moment it is seen.
  useLayoutEffect(() => () => {
    for (const other of others.current) other.removeAttribute('inert')
  }, [])
}
