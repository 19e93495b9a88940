import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { request, type Schema } from '../api/client'
import { offers } from '../api/session'
import type { IconName } from '../components/Icon'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { elsewhere, fitOf } from './fuzzy'
import { useRegisteredKeys } from './keys'
import { itemUrl, listUrl, projectUrl } from './links'
import { iconOf, menuGroups } from './menu'
import { language, theme } from './prefs'
import { recentOf } from './recent'
import { useShownProject } from './shownProject'
import { useAskedSignOut } from './useAskedSignOut'

export interface Entry {
  id: string
  title: string
  /** What it is: the kind, the part of the menu. */
  note: string
  icon: IconName
  run: () => void
  /** Another text of it, that has what was typed. */
  about?: string | null
}

/** What can be shown of an entry that fits. */
export interface Found extends Entry {
  marks: [number, number][]
  aboutMarks: [number, number][]
}

// What fits equally well comes in this order.
const places = ['recent', 'object', 'project', 'page', 'here', 'action'] as const
type Placed = Entry & { place: (typeof places)[number] }

const shownRecent = 6

/** Everything that does not have to be asked for. */
function useFixed(): Placed[] {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, kinds, kind: byName } = useApp()
  const project = useShownProject()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const signOut = useAskedSignOut()
  const registered = useRegisteredKeys()
  return useMemo(() => {
    const go = (url: string) => () => void navigate(url)
    const [pages, actions] = [t('palette.pages'), t('palette.actions')]
    const recent = recentOf(session.user.id).filter((one) => one.url !== pathname).map((one): Placed => {
      const kind = byName(one.kind)
      return { place: 'recent', id: one.url, title: one.title, note: kind ? `${w(kind.title)} · ${t('palette.recent')}` : t('palette.recent'), icon: iconOf(one.kind), run: go(one.url) }
    })
    const page = (url: string, title: string, icon: IconName, note = pages): Placed => ({ place: 'page', id: url, title, note, icon, run: go(url) })
    const action = (id: string, title: string, icon: IconName, run: () => void): Placed => ({ place: 'action', id, title, note: actions, icon, run })
    const creates = kinds.flatMap((kind) => {
      const url = listUrl(kind, project)
      return url && kind.menu && offers(session, kind, 'create', project?.id) ? [action(`new-${kind.name}`, t('palette.create', { title: w(kind.title) }), 'plus', go(`${url}?new=1`))] : []
    })
    // What the page behind it can do.
    const here = registered.filter((s) => s.group === 'page' && !s.plain).map((s, i): Placed => ({ ...action(`key-${i}-${s.label}`, t(s.label, s.values), 'bolt', () => s.run(new KeyboardEvent('keydown'))), place: 'here', note: s.keys || actions }))
    return [
      ...recent,
      ...session.projects.map((p): Placed => ({ place: 'project', id: projectUrl(p.name), title: p.name, note: t('palette.projects'), icon: iconOf('project'), run: go(projectUrl(p.name)) })),
      ...menuGroups(kinds, session, project, i18n).flatMap((g) => g.entries.map((e) => page(e.url, e.title, e.icon, g.title || pages))),
      page('/profile', t('user.profile'), 'user'),
      ...kinds.filter((kind) => kind.scope === 'own' && kind.verbs.includes('list')).map((kind) => page(`/profile/${kind.plural}`, w(kind.titles), kind.name === 'token' ? 'key' : 'screen')),
      ...here,
      ...creates,
      action('theme', `${t('theme.label')}: ${t(theme.dark() ? 'theme.light' : 'theme.dark')}`, theme.dark() ? 'sun' : 'moon', () => theme.set(theme.dark() ? 'light' : 'dark')),
      action('lang', `${t('language.label')}: ${t(i18n.language === 'zh' ? 'language.en' : 'language.zh')}`, 'globe', () => language.set(i18n.language === 'zh' ? 'en' : 'zh')),
      action('out', t('user.signOut'), 'out', () => void signOut()),
    ]
  }, [kinds, byName, session, project, i18n, t, w, navigate, pathname, signOut, registered])
}

/** Objects of all kinds that have a page in the menu, in one question to the server. */
function useObjects(q: string): { entries: Placed[]; asking: boolean } {
  const i18n = useI18n()
  const { session, kinds } = useApp()
  const project = useShownProject()
  const navigate = useNavigate()
  const asked = useQuery({
    queryKey: ['objects', 'search', project?.id ?? 0, q],
    queryFn: ({ signal }) => request<Schema<'Found'>>('/search', { query: { q, project: project?.id, limit: 30 }, signal }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 60_000,
  })
  const entries = useMemo(() => {
    const listed = new Map(menuGroups(kinds, session, project, i18n).flatMap((g) => g.entries).flatMap((e) => (e.kind ? [[e.kind.name, e.kind]] : [])))
    return (asked.data?.items ?? []).flatMap((one): Placed[] => {
      const kind = listed.get(one.kind) ?? kinds.find((k) => k.name === 'project' && one.kind === 'project')
      const title = one.name ?? `#${one.id}`
      const url = kind && (kind.name === 'project' ? projectUrl(title) : itemUrl(kind, one.id, project))
      return kind && url ? [{ place: 'object', id: url, title, note: i18n.w(kind.title), icon: iconOf(kind.name), run: () => void navigate(url), about: one.about }] : []
    })
  }, [asked.data, kinds, session, project, i18n, navigate])
  return { entries: q === '' ? [] : entries, asking: asked.isFetching }
}

/** What the typed text finds, the best first; nothing typed: what was open last, then all there is to go to and to do. */
export function useEntries(typed: string, q: string): { entries: Found[]; asking: boolean } {
  const fixed = useFixed()
  const objects = useObjects(q)
  const entries = useMemo(() => {
    const once = new Map<string, Placed>()
    for (const entry of [...fixed, ...objects.entries]) if (!once.has(entry.id)) once.set(entry.id, entry)
    const all = [...once.values()]
    if (typed === '') return [...all.filter((e) => e.place === 'recent').slice(0, shownRecent), ...all.filter((e) => e.place !== 'recent')].map((e) => ({ ...e, marks: [], aboutMarks: [] }))
    const fitting = all.flatMap((entry) => {
      const fit = fitOf(entry.title, typed) ?? (entry.about ? { rank: elsewhere, marks: [] } : null)
      const about = entry.about ? fitOf(entry.about, typed) : null
      return fit ? [{ ...entry, ...fit, aboutMarks: about?.marks ?? [] }] : []
    })
    return fitting.sort((a, b) => a.rank - b.rank || places.indexOf(a.place) - places.indexOf(b.place))
  }, [fixed, objects.entries, typed])
  return { entries, asking: objects.asking }
}
