import { Button } from 'antd'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { useSession } from '../../api/session'
import { useKeyDispatcher, useKeys, type Shortcut } from '../../app/keys'
import { docsUrl, safeNext } from '../../app/links'
import { lazyPart } from '../../app/part'
import { LanguageMenu, ThemeMenu } from '../../app/PrefMenus'
import { useNarrow } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { DocsNav } from './DocsNav'
import './docs.css'

const Drawer = lazyPart(() => import('antd/es/drawer'), 'default')
const KeyHelp = lazyPart(() => import('../../app/KeyHelp'), 'KeyHelp')

/** The page of the product that one came from. */
function useFrom(): string {
  const { state } = useLocation()
  const [from] = useState(() => safeNext(typeof state?.from === 'string' && !state.from.startsWith('/docs') ? state.from : null))
  return from
}

/** Manuals and reference: for everybody, signed in or not. */
export function Docs() {
  const { t } = useI18n()
  const location = useLocation()
  const narrow = useNarrow()
  const from = useFrom()
  const [drawer, setDrawer] = useState(false)
  const [help, setHelp] = useState(false)
  const main = useRef<HTMLElement>(null)
  const find = useRef<HTMLInputElement>(null)
  useKeyDispatcher()
  const shortcuts = useMemo<Shortcut[]>(() => [
    { keys: '/', label: 'keys.search', group: 'everywhere', run: () => (find.current ? find.current.focus() : setDrawer(true)) },
    { keys: '?', label: 'keys.help', group: 'everywhere', run: () => setHelp(true) },
  ], [])
  useKeys(shortcuts)
  useEffect(() => {
    setDrawer(false)
    if (window.location.hash === '') main.current?.scrollTo(0, 0)
  }, [location.pathname, location.hash])
  const nav = <DocsNav key="nav" find={find} autoFocus={narrow} onGo={() => setDrawer(false)} />
  return (
    <>
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>{t('app.skip')}</a>
      <div className="shell docs">
        <header className="top">
          {narrow && <Button type="text" aria-label={t('docs.open')} icon={<Icon name="menu" />} onClick={() => setDrawer(true)} />}
          <Link to={docsUrl()} className="brand docs-brand">
            <img src="/ingot.svg" alt="" width={20} height={20} />
            <span>{narrow ? t('docs.short') : t('docs.title')}</span>
          </Link>
          <span className="grow" />
          <Who from={from} />
          <LanguageMenu />
          <ThemeMenu />
        </header>
        {narrow ? (
          <Suspense fallback={null}>
            <Drawer open={drawer} onClose={() => setDrawer(false)} placement="left" width={300} title={t('docs.title')} styles={{ body: { padding: 0 } }}>{nav}</Drawer>
          </Suspense>
        ) : <aside className="side">{nav}</aside>}
        <main id="main" ref={main} tabIndex={-1} className="main docs-main">
          <Outlet />
        </main>
      </div>
      <Suspense fallback={<div className="keys-none" hidden />}>{help && <KeyHelp onClose={() => setHelp(false)} />}</Suspense>
    </>
  )
}

/** The way back, or in. */
function Who({ from }: { from: string }) {
  const { t } = useI18n()
  const { pathname, hash } = useLocation()
  const session = useSession()
  if (session.isPending) return null
  if (session.data && !session.error) return <Link to={from} className="docs-back"><Icon name="home" size={14} /> {t('docs.back')}</Link>
  return <Link to={`/sign-in?next=${encodeURIComponent(pathname + hash)}`} className="docs-back">{t('signIn.submit')}</Link>
}
