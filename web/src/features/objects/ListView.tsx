import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Segmented, Switch } from 'antd'
import { Suspense, useCallback, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { childUrl, itemUrl, projectUrl } from '../../app/links'
import { listLook } from '../../app/prefs'
import { leaving } from '../../app/router'
import type { Action, Item, Kind } from '../../api/kinds'
import { allItems, listKey, useList, type Place } from '../../api/objects'
import { offers } from '../../api/session'
import { useNarrow } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import type { Values } from '../../components/merge'
import { nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { SecretDialog } from '../../components/SecretDialog'
import { LearnMore } from '../../components/LearnMore'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { FoldContext, useFolded } from '../audit/Folded'
import { Cards } from './Cards'
import { Dialogs, type Open } from './Dialogs'
import { isNarrowed, listParams } from './filters'
import { ListTools } from './ListTools'
import { MoreRows } from './MoreRows'
import { afterCreate, cardsOf, offerOf } from './special'
import { Table } from './Table'

interface Props {
  kind: Kind
  place: Place
  /** A condition that always holds, besides what the address says. */
  fixed?: string
  /** With its own heading: a page, not a tab of one. */
  title?: boolean
  hiddenFields?: readonly string[]
  /** Beside the heading: which of several lists this is. */
  choice?: ReactNode
  /** Objects of other projects are looked at from this one. */
  here?: boolean
  /** What a new one begins with. */
  preset?: Values
}

const looks = [{ value: 'rows', icon: 'list', title: 'list.rows' }, { value: 'cards', icon: 'cards', title: 'list.cards' }] as const

export function ListView({ kind, place, fixed, title, hiddenFields, choice, here, preset }: Props) {
  const i18n = useI18n()
  const { t, w, wl, n } = i18n
  const { session, project, kinds } = useApp()
  const { message } = App.useApp()
  const narrow = useNarrow()
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<Open | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  // The row one is at is an object, not a place: rows that come in above do not move it.
  const [activeId, setActiveId] = useState<number | null>(null)
  const search = useRef<HTMLInputElement>(null)
  const folds = kind.name === 'audit'
  const folded = folds && params.get('lines') !== 'all'
  // What the platform did by itself fills pages; where it is about one object it is part of the story.
  const query = useMemo(() => listParams(kind, params, fixed ?? (folded ? 'user != null' : undefined)), [kind, params, fixed, folded])
  const list = useList(kind, place, query)
  const loaded = useMemo(() => allItems(list.data), [list.data])
  const { rows: items, folding } = useFolded(folded, loaded)
  const active = useMemo(() => (activeId === null ? -1 : items.findIndex((item) => item.id === activeId)), [items, activeId])
  const client = useQueryClient()
  const key = listKey(kind, place, query)
  const outdated = list.isStale && !list.isFetching && client.getQueryState(key)?.isInvalidated === true
  const total = list.data?.pages[0]?.total
  const inProject = place.project ?? (kind.scope === 'child' ? project?.id ?? (place.parent?.kind.name === 'project' ? place.parent.id : undefined) : undefined)
  const mayCreate = offers(session, kind, 'create', inProject)
  const creating = mayCreate && params.get('new') === '1'

  // Two changes may come before the first is drawn (a search that settles while a form closes).
  const latest = useRef(params)
  useLayoutEffect(() => {
    latest.current = params
  }, [params])
  const change = useCallback(
    (values: Record<string, string | null>) => {
      // Whoever follows a link while a search settles is not called back.
      if (leaving()) return
      const next = new URLSearchParams(latest.current)
      for (const [name, value] of Object.entries(values)) {
        if (value === null || value === '') next.delete(name)
        else next.set(name, value)
      }
      latest.current = next
      setParams(next, { replace: true })
    },
    [setParams],
  )
  const may = useCallback((verb: 'update' | 'delete', item?: Item) => offers(session, kind, verb, inProject, item), [session, kind, inProject])
  const parent = place.parent
  const urlOf = useCallback((item: Item) => (!kind.verbs.includes('read') || kind.scope === 'own' ? null : parent ? childUrl(kind, item.id, parent.kind, parent.id, project) : itemUrl(kind, item.id, here ? project : item.project ?? project)), [kind, project, parent, here])
  const onAct = useCallback((what: 'edit' | 'delete' | Action, item: Item) => setOpen({ what, item }), [])

  // A list that is a page opens what was made; one that is part of a page shows it in its place.
  const made = async (item: Item) => {
    if (typeof item['secret'] === 'string') return setSecret(item['secret'])
    const url = title ? (kind.name === 'project' ? projectUrl(nameOf(kind, item)) : urlOf(item)) : null
    if (!url) return
    const after = project && afterCreate[kind.name]
    const to = after ? await after({ kind, kinds, item, project: project.id, url }).catch((error: unknown) => {
      void message.error(problemText(error, i18n))
      return url
    }) : url
    void navigate(to)
  }

  const shortcuts = useMemo<Shortcut[]>(() => {
    const at = () => items[active]
    const move = (by: number) => () => setActiveId((old) => items[Math.max(0, Math.min(items.length - 1, items.findIndex((item) => item.id === old) + by))]?.id ?? null)
    const all: Shortcut[] = [
      { keys: '/', label: 'keys.search', group: 'page', run: () => search.current?.focus() },
      { keys: 'j', label: 'keys.down', group: 'page', run: move(1) },
      { keys: 'k', label: 'keys.up', group: 'page', run: move(-1) },
      { keys: 'o', label: 'keys.open', group: 'page', run: () => { const item = at(); const url = item && urlOf(item); if (url) void navigate(url) } },
    ]
    if (mayCreate) all.push({ keys: 'c', label: 'keys.create', group: 'page', run: () => change({ new: '1' }) })
    if (may('update')) all.push({ keys: 'e', label: 'keys.edit', group: 'page', run: () => { const item = at(); if (item) setOpen({ what: 'edit', item }) } })
    if (may('delete')) all.push({ keys: 'Delete', label: 'keys.delete', group: 'page', run: () => { const item = at(); if (item && may('delete', item)) setOpen({ what: 'delete', item }) } })
    return all
  }, [items, active, mayCreate, may, change, navigate, urlOf])
  useKeys(shortcuts)

  const create = mayCreate && (
    <Button type="primary" icon={<Icon name="plus" size={14} />} onClick={() => change({ new: '1' })}>
      {t('list.create', { title: wl(kind.title) })}
    </Button>
  )
  const rows = { kind, items, urlOf, may, onAct, active, hiddenFields, sort: query.sort ?? '', onSort: (sort: string) => change({ sort }) }
  const narrowed = isNarrowed(params)
  const look = useSyncExternalStore(listLook.subscribe, listLook.get)
  const OwnCards = cardsOf[kind.name]
  // What comes with the platform is nobody's beginning.
  const Offer = !narrowed && list.isSuccess && items.every((item) => item['name'] === 'built-in') ? offerOf[kind.name] : undefined
  return (
    <section className="list" aria-labelledby={title ? 'page-title' : undefined}>
      {title && (
        <div className="page-head">
          <div className="row wrap"><h1 id="page-title">{w(kind.titles)}</h1><LearnMore kind={kind.name} icon />{choice}</div>
          {w(kind.help) && <p className="muted">{w(kind.help)}</p>}
          {!narrow && create && <><span className="grow" />{create}</>}
        </div>
      )}
      <ListTools ref={search} kind={kind} params={params} onChange={change} narrow={narrow}>
        {folds && <label className="switch"><Switch size="small" checked={folded} onChange={(on) => change({ lines: on ? null : 'all' })} />{t(fixed ? 'audit.foldLines' : 'audit.fewer')}</label>}
        {(!title || narrow) && create}
      </ListTools>
      {Offer && <Suspense fallback={null}><Offer /></Suspense>}
      {list.error && items.length === 0 ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Skeleton as="rows" n={6} />
      ) : items.length === 0 ? (
        narrowed ? (
          <Empty title={t('list.noMatch')} text={t('list.noMatchHint')}>
            <Button onClick={() => setParams({}, { replace: true })}>{t('list.clear')}</Button>
          </Empty>
        ) : (
          <Empty title={t('list.empty', { titles: wl(kind.titles) })} text={t(mayCreate ? 'list.emptyHint' : 'list.emptyReadOnly')}>{create}<LearnMore kind={kind.name} /></Empty>
        )
      ) : (
        <FoldContext.Provider value={folding}>
          <div className="list-count num">
            <span role="status">{total === undefined ? '' : total === null ? t('list.countMany') : t('list.count', { n: n(total) })}</span>
            {outdated && <Button type="link" size="small" onClick={() => void client.resetQueries({ queryKey: key, exact: true })}>{t('list.refresh')}</Button>}
            <span className="grow" />
            {OwnCards && (
              <Segmented<'rows' | 'cards'>
                size="small" aria-label={t('list.look')} value={look ?? 'rows'} onChange={listLook.set}
                options={looks.map(({ value, icon, title: name }) => ({ value, title: t(name), label: <><Icon name={icon} size={14} /><span className="visually-hidden">{t(name)}</span></> }))}
              />
            )}
          </div>
          {OwnCards && look === 'cards' ? <Suspense fallback={<Skeleton n={2} />}><OwnCards {...rows} /></Suspense> : narrow ? <Cards {...rows} /> : <Table {...rows} />}
          <MoreRows list={list} />
        </FoldContext.Provider>
      )}
      <Dialogs kind={kind} place={place} open={creating ? { what: 'create', preset } : open} onSaved={(item) => { if (creating) void made(item) }} onClose={() => (creating ? change({ new: null }) : setOpen(null))} />
      {secret && (
        <SecretDialog title={t('tokens.secretTitle')} label={t('tokens.secretLabel')} secret={secret} onClose={() => setSecret(null)}>
          <p className="muted">{t('tokens.use')}</p>
          <pre>{`Authorization: Bearer ${secret}`}</pre>
        </SecretDialog>
      )}
    </section>
  )
}
