import { useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { Suspense, useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { useKeys, type Shortcut } from '../../app/keys'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useLatest } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { GalleryTools } from './GalleryTools'
import { Grid, type GridHandle } from './Grid'
import { stopPlayed, togglePlayed } from './player'
import { SampleDrawer } from './SampleDrawer'
import { contentUrl, useStatistics, type SampleFilter, type Version } from './samples'
import { useColorOf } from './Splits'
import { usePages } from './usePages'
import { longest, useSelection } from './useSelection'
import { lazyPart } from '../../app/part'

const BulkDialog = lazyPart(() => import('../workbench/BulkDialog'), 'BulkDialog')

export function Gallery({ version }: { version: Version }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const statistics = useStatistics(version)
  const colorOf = useColorOf(version)
  const q = params.get('q') ?? ''
  const state = params.get('state') ?? ''
  const label = params.get('label') ?? ''
  const filter = useMemo<SampleFilter>(() => ({ ...(q ? { q } : {}), ...(state ? { state } : {}), ...(label ? { label } : {}) }), [q, state, label])
  const filtered = q !== '' || state !== '' || label !== ''
  const samples = Number(version.item['samples'])
  const cleaned = Number(version.item['cleaned'])

  const grid = useRef<GridHandle>(null)
  const [wanted, setWanted] = useState({ from: 0, to: 0 })
  const onPages = useCallback((from: number, to: number) => setWanted((old) => (old.from === from && old.to === to ? old : { from, to })), [])
  const pages = usePages(version.item.id, version.path, filter, filtered ? null : samples, samples > 0 ? (samples + cleaned) / samples : 1, wanted.from, wanted.to)

  const openId = Number(params.get('sample')) || null
  const key = JSON.stringify(filter)
  const fail = (error: unknown) => void message.error(problemText(error, i18n))
  const selection = useSelection(key, pages, fail, () => void message.warning(t('gallery.tooMany', { n: n(longest) })))

  const change = useCallback((values: Record<string, string | null>) => {
    setParams((old) => {
      const next = new URLSearchParams(old)
      for (const [name, value] of Object.entries(values)) {
        if (value) next.set(name, value)
        else next.delete(name)
      }
      return next
    }, { replace: true })
  }, [setParams])

  const setCleaned = useCallback(async (ids: readonly number[], value: boolean): Promise<boolean> => {
    try {
      for (let i = 0; i < ids.length; i += 1000) await request(`${version.path}/clean`, { method: 'POST', body: { ids: ids.slice(i, i + 1000), cleaned: value } })
      return true
    } catch (error) {
      void message.error(problemText(error, i18n))
      return false
    } finally {
      await invalidate(client, 'dataset_version')
    }
  }, [version.path, message, client, i18n])
  const clear = useLatest(selection.clear)
  const clean = useCallback(async (ids: number[], value: boolean) => {
    if (ids.length === 0 || !(await setCleaned(ids, value))) return
    clear()
    const undo = () => {
      message.destroy('clean')
      void setCleaned(ids, !value)
    }
    void message.open({
      key: 'clean', type: 'success', duration: 10,
      content: <>{t(value ? 'gallery.cleanedToast' : 'gallery.restoredToast', { n: n(ids.length) })} <Button size="small" onClick={undo}>{t('gallery.undo')}</Button></>,
    })
  }, [setCleaned, clear, message, t, n])

  const open = (id: number | undefined) => id !== undefined && change({ sample: String(id) })
  const openAt = (index: number) => void pages.idsOf(index, index).then(([id]) => open(id), fail)
  const cleanChosen = () => void selection.chosen().then((ids) => clean(ids, state !== 'cleaned'), fail)
  const sounds = version.parent['data_type'] === 'audio'
  useEffect(() => stopPlayed, [])
  const play = useLatest(() => {
    const sample = pages.at(Math.max(0, selection.active))
    if (sample) togglePlayed(contentUrl(version.path, sample))
  })
  const onPick = useLatest((index: number, event: MouseEvent) => {
    const sound = (event.target as Element).closest<HTMLElement>('[data-play]')?.dataset['play']
    if (sound) {
      selection.setActive(index)
      return togglePlayed(sound)
    }
    const onMark = (event.target as Element).closest('.cell-mark') !== null
    if (event.ctrlKey || event.metaKey || event.shiftKey || onMark) selection.pick(index, event.shiftKey)
    else {
      selection.setActive(index)
      openAt(index)
    }
  })
  const moveTo = (index: number, range: boolean) => {
    const to = Math.max(0, Math.min(pages.count - 1, index))
    selection.move(to, range)
    grid.current?.reveal(to)
  }
  const onKeyDown = useLatest((event: KeyboardEvent) => {
    const { active } = selection
    const [row, page] = [grid.current?.columns() ?? 1, grid.current?.screen() ?? 1]
    const moves: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
    const by = moves[event.key]
    if (by !== undefined) moveTo(active < 0 && by > 0 && by < Infinity ? 0 : active + by, event.shiftKey)
    else if (event.key === ' ') selection.pick(Math.max(0, active), event.shiftKey)
    else if (event.key === 'Enter' && active >= 0) openAt(active)
    else if (event.key === 'Escape' && selection.ids.size > 0) selection.clear()
    else if ((event.key === 'Delete' || event.key === 'x') && version.open) cleanChosen()
    else return
    event.preventDefault()
    event.stopPropagation()
  })

  const shortcuts = useMemo<Shortcut[]>(() => [
    { keys: '/', label: 'keys.search', group: 'page', run: () => document.getElementById('gallery-search')?.focus() },
    { keys: 'g', label: 'keys.gallery', group: 'page', run: () => grid.current?.focus() },
    ...(sounds ? [{ keys: 'p', label: 'keys.play' as const, group: 'page' as const, run: play }] : []),
  ], [sounds, play])
  useKeys(shortcuts)

  const [bulk, setBulk] = useState(false)
  const empty = pages.count === 0 && !pages.pending
  return (
    <section className="gallery-page">
      <GalleryTools version={version} statistics={statistics.data} filter={filter} onChange={change} selected={selection.ids.size} onClean={cleanChosen} onRelabel={() => setBulk(true)} onClear={selection.clear} count={filtered && pages.pending ? null : pages.count} exact={pages.exact} error={pages.count > 0 ? pages.error : null} onRetry={pages.retry} />
      {pages.error && pages.count === 0 ? <ErrorState error={pages.error} onRetry={pages.retry} /> : empty && filtered ? (
        <Empty title={t('list.noMatch')} text={t('gallery.noMatch')}><Button onClick={() => change({ q: null, state: null, label: null })}>{t('list.clear')}</Button></Empty>
      ) : empty ? (
        <Empty title={t('gallery.empty')} text={t(version.open ? 'gallery.emptyHint' : 'list.emptyReadOnly')}>
          {version.open && <Button type="primary" onClick={() => void navigate('?tab=import')}>{t('import.title')}</Button>}
        </Empty>
      ) : pages.count === 0 ? <Skeleton as={['text', 'audio'].includes(String(version.parent['data_type'])) ? 'rows' : 'pictures'} n={12} /> : null}
      <Grid handle={grid} path={version.path} dataType={String(version.parent['data_type'])} colorOf={colorOf} pages={pages} selected={selection.ids} active={selection.active} hidden={empty} onPages={onPages} onPick={onPick} onKeyDown={onKeyDown} />
      {bulk && <Suspense fallback={null}><BulkDialog version={version} labels={(statistics.data?.labels ?? []).map((l) => l.label)} chosen={selection.chosen} count={selection.ids.size} onClose={() => setBulk(false)} /></Suspense>}
      {openId !== null && <SampleDrawer version={version} id={openId} filter={filter} pages={pages} colorOf={colorOf} onOpen={open} onClose={() => { change({ sample: null }); grid.current?.focus() }} onClean={(id, value) => void clean([id], value)} />}
    </section>
  )
}
