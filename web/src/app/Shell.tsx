import { useQuery } from '@tanstack/react-query'
import { Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Navigate, Outlet, useLocation, useParams } from 'react-router'
import { Problem, request } from '../api/client'
import { useEvents } from '../api/events'
import { useSessionLost, watchSession } from '../api/lost'
import type { Page, Ref } from '../api/kinds'
import { lasting } from '../api/objects'
import { useKinds, useSession, type Session } from '../api/session'
import { useNarrow } from '../components/hooks'
import { FirstPaint, Skeleton } from '../components/States'
import { useI18n } from '../i18n'
import { AppDataProvider } from './context'
import { useKeyDispatcher, useKeys, type Shortcut } from './keys'
import { ProblemPage } from './pages'
import { lazyPart, part } from './part'
import { language, lastProject } from './prefs'
import { SideMenu } from './SideMenu'
import { TopBar } from './TopBar'

const palettePart = () => part(() => import('./Palette'))
const Palette = lazyPart(palettePart, 'Palette')
const Tray = lazyPart(() => import('../features/tasks/Tray'), 'Tray')
const SignInAgain = lazyPart(() => import('../features/sign-in/SignInAgain'), 'SignInAgain')
const Drawer = lazyPart(() => import('antd/es/drawer'), 'default')
const KeyHelp = lazyPart(() => import('./KeyHelp'), 'KeyHelp')

/** The project that the address names. Administrators may enter projects they are no member of. */
function useProject(name: string | undefined, session: Session | undefined) {
  const own = session?.projects.find((p) => p.name === name)
  const found = useQuery({
    queryKey: ['objects', 'project', 'named', name],
    queryFn: async (): Promise<Ref> => {
      const page = await request<Page>('/projects', { query: { filter: `name = ${JSON.stringify(name)}`, limit: 1 } })
      const item = page.items[0]
      if (!item) throw new Problem(404, { code: 'not_found' })
      return { id: item.id, name: String(item['name']) }
    },
    enabled: name !== undefined && session !== undefined && own === undefined,
  })
  if (name === undefined) return { project: null, error: null, pending: false }
  if (own) return { project: own, error: null, pending: false }
  return { project: found.data ?? null, error: lasting(found), pending: found.isPending }
}

/** The pages behind the sign-in. When the session ends under way, one signs in again above the page. */
export function Shell() {
  const user = useSession().data?.user
  const lost = useSessionLost()
  const known = user !== undefined
  useLayoutEffect(() => (known ? watchSession() : undefined), [known])
  return (
    <>
      <Frame lost={lost} />
      <Suspense fallback={null}>{user && lost && <SignInAgain user={user} />}</Suspense>
    </>
  )
}

function Frame({ lost }: { lost: boolean }) {
  const { t } = useI18n()
  const session = useSession()
  const kinds = useKinds()
  const location = useLocation()
  const params = useParams()
  const narrow = useNarrow()
  const [drawer, setDrawer] = useState(false)
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  const main = useRef<HTMLElement>(null)
  const { project: found, error, pending } = useProject(params['project'], session.data)
  const id = found?.id
  const name = found?.name
  const project = useMemo(() => (id !== undefined && name !== undefined ? { id, name } : null), [id, name])

  useKeyDispatcher()
  const shortcuts = useMemo<Shortcut[]>(
    () => [
      { keys: 'Ctrl+k', label: 'keys.palette', group: 'everywhere', inFields: true, run: () => setPalette(true) },
      { keys: '?', label: 'keys.help', group: 'everywhere', run: () => setHelp(true) },
    ],
    [],
  )
  useKeys(shortcuts)
  useEvents(project?.id, session.data !== undefined && !lost)

  useEffect(() => {
    if (project) lastProject.set(project.name)
    else if (error instanceof Problem && error.status === 404) lastProject.set(null)
  }, [project, error])
  const [openMenu, openPalette, openHelp] = [useCallback(() => setDrawer(true), []), useCallback(() => setPalette(true), []), useCallback(() => setHelp(true), [])]
  useEffect(() => setDrawer(false), [location.pathname])
  useEffect(() => {
    // It is there when somebody asks for it; if it does not come now, it is asked for again then.
    const timer = window.setTimeout(() => void palettePart().catch(() => undefined), 2000)
    return () => window.clearTimeout(timer)
  }, [])
  const preferred = session.data?.user.language
  useEffect(() => {
    if (language.get() === null && (preferred === 'en' || preferred === 'zh')) language.set(preferred)
  }, [preferred])

  if (session.error instanceof Problem && session.error.status === 401) {
    return <Navigate to={`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`} replace />
  }
  const failed = session.data ? kinds.data ? null : kinds.error : session.error
  if (failed) return <ProblemPage error={failed} onRetry={() => void (session.error ? session.refetch() : kinds.refetch())} />
  if (!session.data || !kinds.data) return <FirstPaint />

  const menu = <SideMenu />
  return (
    <AppDataProvider session={session.data} kinds={kinds.data} project={project}>
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>{t('app.skip')}</a>
      <div className="shell">
        <TopBar narrow={narrow} onMenu={openMenu} onSearch={openPalette} onHelp={openHelp} />
        {narrow ? (
          <Suspense fallback={null}>
            <Drawer open={drawer} onClose={() => setDrawer(false)} placement="left" width={264} title={t('app.name')} styles={{ body: { padding: 0 } }}>
              {menu}
            </Drawer>
          </Suspense>
        ) : (
          <aside className="side">{menu}</aside>
        )}
        <main id="main" ref={main} tabIndex={-1} className="main">
          {error ? <ProblemPage error={error} /> : pending ? <Skeleton as="page" /> : <Outlet />}
        </main>
      </div>
      <Suspense fallback={null}>{project && <Tray key={project.id} project={project} />}</Suspense>
      {/* What is typed while it is being fetched is not for the page. */}
      <Suspense fallback={<div className="keys-none" hidden />}>
        {palette && <Palette onClose={() => setPalette(false)} />}
        {help && <KeyHelp onClose={() => setHelp(false)} />}
      </Suspense>
    </AppDataProvider>
  )
}
