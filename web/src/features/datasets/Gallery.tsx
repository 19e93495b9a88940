import { useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { request } from '../../api/client'
import type { Ref } from '../../api/kinds'
import { invalidate, useItem } from '../../api/objects'
import { problemText } from '../../components/problem'
import { Empty, ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { Cell } from './Cell'
import { GalleryTools } from './GalleryTools'
import { SampleDrawer } from './SampleDrawer'
import { colorsOf, useStatistics, type SampleFilter, type Version } from './samples'
import { usePages } from './usePages'
import { scrollFor, span, windowOf, type View } from './window'

const gap = 8
const caption = 26

/** Size and scroll offset of the grid in the page's scroller. */
function useGrid() {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ above: 0, height: 800, width: 0 })
  useLayoutEffect(() => {
    const scroller = document.getElementById('main')
    const node = box.current
    if (!scroller || !node) return
    const look = () => {
      const above = Math.round(scroller.getBoundingClientRect().top - node.getBoundingClientRect().top)
      const next = { above, height: scroller.clientHeight, width: node.clientWidth }
      setView((old) => (old.above === next.above && old.height === next.height && old.width === next.width ? old : next))
    }
    look()
    const watch = new ResizeObserver(look)
    watch.observe(node)
    watch.observe(scroller)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => {
      watch.disconnect()
      scroller.removeEventListener('scroll', look)
    }
  }, [])
  return { box, ...view }
}

export function Gallery({ version }: { version: Version }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { kind: byName, project } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const statistics = useStatistics(version)
  const labelSet = version.parent['label_set'] as Ref | null
  const labels = useItem(byName('label_set'), { project: project?.id }, labelSet?.id ?? NaN, labelSet !== null)
  const colorOf = useMemo(() => colorsOf(labels.data?.['labels']), [labels.data])
  const q = params.get('q') ?? ''
  const state = params.get('state') ?? ''
  const label = params.get('label') ?? ''
  const filter = useMemo<SampleFilter>(() => ({ ...(q ? { q } : {}), ...(state ? { state } : {}), ...(label ? { label } : {}) }), [q, state, label])
  const filtered = q !== '' || state !== '' || label !== ''
  const samples = Number(version.item['samples'])
  const cleaned = Number(version.item['cleaned'])

  const { box, above, height, width } = useGrid()
  const columns = Math.max(2, Math.floor((width + gap) / 168))
  const cell = width > 0 ? (width - gap * (columns - 1)) / columns : 160
  const rowHeight = Math.round(Math.min(cell, 220) * 0.8) + caption + gap
  const [grown, setGrown] = useState(0)
  const total = filtered ? null : samples
  const view: View = { above, height, rows: Math.ceil((total ?? grown) / columns), rowHeight, spare: 3 }
  const shown = windowOf(view)
  const pages = usePages(version.item.id, version.path, filter, total, samples > 0 ? (samples + cleaned) / samples : 1, shown.first * columns, Math.max(1, shown.last) * columns)
  if (filtered && pages.count !== grown) setGrown(pages.count)

  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const [active, setActive] = useState(-1)
  const anchor = useRef(-1)
  const openId = Number(params.get('sample')) || null
  const key = JSON.stringify(filter)
  useEffect(() => {
    setSelected(new Set())
    setActive(-1)
  }, [key])

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
  const clean = useCallback(async (ids: number[], value: boolean) => {
    if (ids.length === 0 || !(await setCleaned(ids, value))) return
    setSelected(new Set())
    const undo = () => {
      message.destroy('clean')
      void setCleaned(ids, !value)
    }
    void message.open({
      key: 'clean', type: 'success', duration: 10,
      content: <>{t(value ? 'gallery.cleanedToast' : 'gallery.restoredToast', { n: n(ids.length) })} <Button size="small" onClick={undo}>{t('gallery.undo')}</Button></>,
    })
  }, [setCleaned, message, t, n])

  const pick = (index: number, event: { ctrl: boolean; shift: boolean }) => {
    const ids = (event.shift && anchor.current >= 0 ? span(anchor.current, index) : [index]).map(pages.idAt).filter((id) => id !== undefined)
    setSelected((old) => {
      const next = new Set(event.ctrl || event.shift ? old : [])
      for (const id of ids) {
        if (event.ctrl && !event.shift && next.has(id)) next.delete(id)
        else next.add(id)
      }
      return next
    })
    if (!event.shift) anchor.current = index
    setActive(index)
  }
  const open = (id: number | undefined) => id !== undefined && change({ sample: String(id) })
  const onClick = (index: number, event: MouseEvent) => {
    const onMark = (event.target as Element).closest('.cell-mark') !== null
    if (event.ctrlKey || event.metaKey || event.shiftKey || onMark) pick(index, { ctrl: event.ctrlKey || event.metaKey || onMark, shift: event.shiftKey })
    else {
      setActive(index)
      open(pages.idAt(index))
    }
  }
  const moveTo = (index: number, extend: boolean) => {
    const to = Math.max(0, Math.min(pages.count - 1, index))
    setActive(to)
    if (extend) {
      if (anchor.current < 0) anchor.current = Math.max(0, active)
      setSelected(new Set(span(anchor.current, to).map(pages.idAt).filter((id) => id !== undefined)))
    } else anchor.current = to
    const top = scrollFor(Math.floor(to / columns), view)
    const scroller = document.getElementById('main')
    if (top !== null && scroller) scroller.scrollTop += top - above
  }
  const chosen = () => (selected.size > 0 ? [...selected] : [pages.idAt(active)].filter((id) => id !== undefined))
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / rowHeight)) * columns
    const moves: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }
    const by = moves[event.key]
    if (by !== undefined) moveTo(active < 0 && by > 0 ? 0 : active + by, event.shiftKey)
    else if (event.key === ' ') pick(Math.max(0, active), { ctrl: true, shift: event.shiftKey })
    else if (event.key === 'Enter') open(pages.idAt(active))
    else if (event.key === 'Escape' && selected.size > 0) setSelected(new Set())
    else if ((event.key === 'Delete' || event.key === 'x') && version.open) void clean(chosen(), state !== 'cleaned')
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const shortcuts = useMemo<Shortcut[]>(() => [
    { keys: '/', label: 'keys.search', group: 'page', run: () => document.getElementById('gallery-search')?.focus() },
    { keys: 'g', label: 'keys.gallery', group: 'page', run: () => box.current?.focus() },
  ], [box])
  useKeys(shortcuts)

  const cells = []
  for (let i = shown.first * columns; i < Math.min(pages.count, shown.last * columns); i += 1) {
    const sample = pages.at(i)
    if (sample || total === null || pages.pending || !pages.error) {
      cells.push(<Cell key={sample?.id ?? `i${i}`} index={i} path={version.path} sample={sample} dataType={String(version.parent['data_type'])} colorOf={colorOf} selected={sample !== undefined && selected.has(sample.id)} active={i === active} left={(i % columns) * (cell + gap)} top={shown.top + (Math.floor(i / columns) - shown.first) * rowHeight} width={cell} height={rowHeight - gap} onClick={onClick} />)
    }
  }
  const empty = pages.count === 0 && !pages.pending
  return (
    <section className="gallery-page">
      <GalleryTools version={version} statistics={statistics.data} filter={filter} onChange={change} selected={selected.size} onClean={() => void clean([...selected], state !== 'cleaned')} onClear={() => setSelected(new Set())} count={total ?? (pages.pending ? null : pages.count)} />
      {pages.error && pages.count === 0 ? <ErrorState error={pages.error} onRetry={pages.retry} /> : empty && filtered ? (
        <Empty title={t('list.noMatch')} text={t('gallery.noMatch')}><Button onClick={() => change({ q: null, state: null, label: null })}>{t('list.clear')}</Button></Empty>
      ) : empty ? (
        <Empty title={t('gallery.empty')} text={t(version.open ? 'gallery.emptyHint' : 'list.emptyReadOnly')}>
          {version.open && <Button type="primary" onClick={() => void navigate('?tab=import')}>{t('import.title')}</Button>}
        </Empty>
      ) : null}
      <div
        ref={box} className="gallery" role="listbox" aria-label={t('tab.samples')} aria-multiselectable="true" tabIndex={empty ? -1 : 0} hidden={empty}
        aria-activedescendant={active >= 0 && active >= shown.first * columns && active < shown.last * columns ? `sample-${active}` : undefined}
        style={{ height: shown.total || undefined }} onKeyDown={onKeyDown}
      >
        {cells}
      </div>
      {openId !== null && <SampleDrawer version={version} id={openId} filter={filter} pages={pages} colorOf={colorOf} onOpen={open} onClose={() => { change({ sample: null }); box.current?.focus({ preventScroll: true }) }} onClean={(id, value) => void clean([id], value)} />}
    </section>
  )
}
