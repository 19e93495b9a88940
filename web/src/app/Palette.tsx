import { useQueries } from '@tanstack/react-query'
import { Modal } from 'antd'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router'
import type { Item, Kind } from '../api/kinds'
import { listPage } from '../api/objects'
import { offers } from '../api/session'
import { useDebounced } from '../components/hooks'
import { Icon, type IconName } from '../components/Icon'
import { nameOf } from '../components/names'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { useRegisteredKeys } from './keys'
import { itemUrl, listUrl, projectUrl } from './links'
import { menuGroups } from './menu'
import { language, theme } from './prefs'
import { useShownProject } from './shownProject'
import { useAskedSignOut } from './useAskedSignOut'

interface Entry {
  id: string
  group: string
  title: string
  note?: string
  icon: IconName
  run: () => void
}

/** Objects whose searchable field begins with the text, a few of each kind. */
function useFound(q: string): { kind: Kind; item: Item }[] {
  const { kinds, session } = useApp()
  const project = useShownProject()
  const searched = kinds.filter(
    (kind) =>
      kind.scope !== 'child' && kind.scope !== 'own' && kind.menu !== null && kind.name !== 'audit' && kind.fields.some((f) => f.search) &&
      (kind.scope !== 'project' || project !== null) && offers(session, kind, 'list', project?.id),
  )
  return useQueries({
    queries: searched.map((kind) => ({
      queryKey: ['objects', kind.name, 'palette', project?.id, q],
      queryFn: ({ signal }: { signal: AbortSignal }) => listPage(kind, { project: project?.id }, { q, limit: 5 }, signal),
      enabled: q.length > 0,
      retry: false,
    })),
    combine: (results) =>
      results.flatMap((r, i) => {
        const kind = searched[i]
        return kind ? (r.data?.items ?? []).map((item) => ({ kind, item })) : []
      }),
  })
}

export function Palette({ onClose }: { onClose: () => void }) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, kinds } = useApp()
  const project = useShownProject()
  const navigate = useNavigate()
  const signOut = useAskedSignOut()
  const registered = useRegisteredKeys()
  const [text, setText] = useState('')
  // The entry one is at, not its place: what is found later comes in above others.
  const [active, setActive] = useState<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const q = useDebounced(text.trim(), 150)
  const found = useFound(q)

  const fixed = useMemo((): Entry[] => {
    const go = (url: string) => () => void navigate(url)
    const pages = menuGroups(kinds, session, project, i18n).flatMap((g) =>
      g.entries.map((e): Entry => ({ id: e.url, group: t('palette.pages'), title: e.title, note: g.title, icon: 'list', run: go(e.url) })),
    )
    const projects = session.projects.map((p): Entry => ({ id: `p${p.id}`, group: t('palette.projects'), title: p.name, icon: 'home', run: go(projectUrl(p.name)) }))
    const creates = kinds.flatMap((kind): Entry[] => {
      const url = listUrl(kind, project)
      if (!url || !kind.menu || !offers(session, kind, 'create', project?.id)) return []
      return [{ id: `new-${kind.name}`, group: t('palette.actions'), title: t('palette.create', { title: w(kind.title) }), icon: 'plus', run: go(`${url}?new=1`) }]
    })
    const actions: Entry[] = [
      { id: 'profile', group: t('palette.pages'), title: t('user.profile'), icon: 'user', run: go('/profile') },
      ...creates,
      { id: 'theme', group: t('palette.actions'), title: `${t('theme.label')}: ${t(theme.dark() ? 'theme.light' : 'theme.dark')}`, icon: 'moon', run: () => theme.set(theme.dark() ? 'light' : 'dark') },
      { id: 'lang', group: t('palette.actions'), title: `${t('language.label')}: ${t(i18n.language === 'zh' ? 'language.en' : 'language.zh')}`, icon: 'globe', run: () => language.set(i18n.language === 'zh' ? 'en' : 'zh') },
      { id: 'out', group: t('palette.actions'), title: t('user.signOut'), icon: 'out', run: () => void signOut() },
    ]
    // What the page behind it can do.
    const here = registered.filter((s) => s.group === 'page' && !s.plain).map((s, i): Entry => ({ id: `key-${i}-${s.label}`, group: t('palette.actions'), title: t(s.label, s.values), note: s.keys, icon: 'bolt', run: () => s.run(new KeyboardEvent('keydown')) }))
    return [...pages, ...projects, ...here, ...actions]
  }, [kinds, session, project, i18n, t, w, navigate, signOut, registered])

  const entries = useMemo((): Entry[] => {
    const wanted = text.trim().toLowerCase()
    const objects = found.flatMap(({ kind, item }): Entry[] => {
      const url = kind.name === 'project' ? projectUrl(String(item['name'])) : itemUrl(kind, item.id, item.project ?? project)
      return url ? [{ id: `${kind.name}${item.id}`, group: t('palette.objects'), title: nameOf(kind, item), note: w(kind.title), icon: 'bolt', run: () => void navigate(url) }] : []
    })
    return [...fixed.filter((e) => e.title.toLowerCase().includes(wanted)), ...(wanted ? objects : [])].sort(
      (a, b) => groupRank(a, t('palette.actions')) - groupRank(b, t('palette.actions')),
    )
  }, [fixed, found, text, project, navigate, t, w])

  const at = Math.max(0, entries.findIndex((entry) => entry.id === active))
  const moveTo = (i: number) => setActive(entries[Math.max(0, Math.min(i, entries.length - 1))]?.id ?? null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at, entries])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') moveTo(at + 1)
    else if (event.key === 'ArrowUp') moveTo(at - 1)
    else if (event.key === 'Enter') run(entries[at])
    else return
    event.preventDefault()
  }

  return (
    <Modal open onCancel={onClose} afterOpenChange={() => input.current?.focus()} transitionName="" maskTransitionName="" footer={null} closable={false} width={560} className="palette" title={<span className="visually-hidden">{t('palette.title')}</span>} style={{ top: 80 }}>
      <div className="palette-input">
        <Icon name="search" />
        <input
          ref={input}
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
          aria-label={t('palette.placeholder')}
          placeholder={t('palette.placeholder')}
          value={text}
          onChange={(e) => {
            setText(e.target.value)
            setActive(null)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label={t('palette.title')} ref={list}>
        {entries.map((entry, i) => (
          <li key={entry.id} id={`palette-${i}`} role="option" aria-selected={i === at} onMouseMove={() => setActive(entry.id)} onClick={() => run(entry)}>
            <Icon name={entry.icon} size={14} />
            <span className="palette-title">{entry.title}</span>
            <span className="muted">{entry.note || entry.group}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="palette-none" role="status">{q === text.trim() ? t('palette.none', { q: text }) : t('palette.searching')}</p>}
      <p className="palette-hint muted">{t('palette.hint')}</p>
    </Modal>
  )
}

/** Actions come last, or they would crowd out what one looks for. */
function groupRank(entry: Entry, actions: string): number {
  return entry.group === actions ? 1 : 0
}
