import { Button } from 'antd'
import { memo, useEffect, useImperativeHandle, useReducer, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react'
import type { Annotation } from '../../../canvas'
import { useLatest } from '../../../components/hooks'
import { Icon } from '../../../components/Icon'
import { useI18n } from '../../../i18n'
import { thumbnailUrl } from '../../datasets/samples'
import { defaultsFor } from '../labels'
import type { Sample, SampleState, SurfaceProps } from '../surface'
import { cellsOf, labelling, moved, pageOf, pageSize, selected, type Place } from './gridModel'
import './surfaces.css'

/** Fifty pictures at once: arrows move, Shift selects, a label's key labels what is selected. */
export function GridSurface({ bench, sample, labels, readOnly, handle }: SurfaceProps) {
  const { t, n } = useI18n()
  const { film } = bench
  const [place, setPlace] = useState<Place>(() => {
    const at = film.indexOf(sample.id) ?? 0
    return { cursor: at, anchor: at }
  })
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  // A finger has no Ctrl: once this is switched on, each tap picks or leaves one.
  const [picking, setPicking] = useState(false)
  // Samples that are not open tell nobody when they change: what is drawn follows the changes made here.
  const [, drawAgain] = useReducer((count: number) => count + 1, 0)
  const box = useRef<HTMLDivElement>(null)
  const page = pageOf(place.cursor)
  const { from, to } = cellsOf(page, film.count)
  useEffect(() => film.want(from, to), [film, from, to])

  const columns = () => (box.current ? getComputedStyle(box.current).gridTemplateColumns.split(' ').length : 1)
  const goTo = (next: Place) => {
    setPlace(next)
    if (next.cursor === next.anchor) setPicked(new Set())
    box.current?.querySelector(`[data-index="${next.cursor}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  // While one moves about, the page keeps the sample it has: another one would take the sheet away until it has come.
  const openAlone = (one: Sample) => {
    bench.tell({ type: 'activate', id: String(one.id) })
    bench.open(one.id)
  }
  const chosen = selected(place, picked)
  const ids = chosen.flatMap((index) => film.at(index)?.id ?? []).join()
  useEffect(() => bench.tell({ type: 'picked', samples: ids === '' ? [] : ids.split(',').map(Number) }), [bench, ids])
  // Another batch is another sheet.
  const head = film.at(0)?.id
  const [began, setBegan] = useState(head)
  if (head !== began) {
    setBegan(head)
    if (began !== undefined && place.cursor >= film.count) setPlace({ cursor: 0, anchor: 0 })
  }
  const turn = (by: number) => {
    const next = moved(place, by > 0 ? 'PageDown' : 'PageUp', false, 1, film.count)
    if (next) goTo(next)
  }

  /** One picture after the other: a key labels it, or decides on it, and leads to the next. */
  const leadOn = () => {
    const next = chosen.length === 1 && picked.size === 0 ? moved(place, 'ArrowRight', false, 1, film.count) : null
    if (next) goTo(next)
  }
  const label = (name: string): boolean => {
    if (readOnly) return true
    const samples = chosen.flatMap((index) => film.at(index) ?? []).filter((one) => !bench.handedIn(one))
    if (samples.length === 0) bench.tell({ type: 'say', text: t('bench.handedIn') })
    const said = samples.map((s) => bench.annotationOf(s))
    const changes = labelling(bench.type, said, name)
    const todo = samples.flatMap((s, i) => {
      const [change, now] = [changes[i], said[i]]
      return change && now ? [{ sample: s, changes: change.some((c) => c.op === 'label' && c.on) ? [...change, ...defaultsFor(labels, name, now)] : change }] : []
    })
    if (todo.length > 0) bench.changeMany(todo)
    leadOn()
    drawAgain()
    return true
  }
  const command = (name: string): boolean => {
    if (name === 'undo' || name === 'redo') {
      const done = name === 'undo' ? bench.undoMany() : bench.redoMany()
      drawAgain()
      return done
    }
    if (name === 'select-all') setPicked(new Set(Array.from({ length: to - from }, (_, i) => from + i)))
    else if (name === 'select-none') {
      setPicked(new Set())
      setPlace({ cursor: place.cursor, anchor: place.cursor })
    } else if (name === 'page-next') turn(1)
    else if (name === 'page-previous') turn(-1)
    else if (name === 'lead-on') leadOn()
    else return false
    return true
  }
  useImperativeHandle(handle, () => ({ command, label, focus: () => box.current?.focus({ preventScroll: true }) }))

  const toggle = (index: number) => {
    const next = new Set(picked.size > 0 ? picked : chosen.length > 1 ? chosen : [])
    if (next.has(index)) next.delete(index)
    else next.add(index)
    setPicked(next)
    setPlace({ cursor: index, anchor: index })
  }
  /** The first one picked stays so; without picking, one is at a single picture again. */
  const several = (on: boolean) => {
    setPicking(on)
    setPicked(new Set(on ? chosen : []))
    setPlace({ cursor: place.cursor, anchor: place.cursor })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = moved(place, event.key, event.shiftKey, columns(), film.count)
    const now = film.at(place.cursor)
    if (next) goTo(next)
    else if (event.key === ' ') toggle(place.cursor)
    else if (event.key === 'Enter' && now) openAlone(now)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onClick = useLatest((event: MouseEvent) => {
    const index = Number((event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'] ?? NaN)
    if (Number.isNaN(index)) return
    if (picking || event.ctrlKey || event.metaKey) toggle(index)
    else goTo({ cursor: index, anchor: event.shiftKey ? place.anchor : index })
  })
  const onDoubleClick = (event: MouseEvent) => {
    if (picking) return
    const cell = film.at(Number((event.target as Element).closest<HTMLElement>('[data-index]')?.dataset['index'] ?? NaN))
    if (cell) openAlone(cell)
  }

  const pages = Math.max(1, Math.ceil(film.count / pageSize))
  const marked = new Set(chosen)
  return (
    <section className="sheet" aria-label={t('gridSurface.title')}>
      <div className="reading-tools">
        <Button size="small" type="text" aria-label={t('gridSurface.previous')} title={t('gridSurface.previous')} disabled={page === 0} icon={<span className="turned"><Icon name="chevron" size={14} /></span>} onClick={() => turn(-1)} />
        <span className="num muted">{t('gridSurface.page', { i: n(page + 1), n: film.exact ? n(pages) : `${n(pages)}+` })}</span>
        <Button size="small" type="text" aria-label={t('gridSurface.next')} title={t('gridSurface.next')} disabled={page + 1 >= pages} icon={<Icon name="chevron" size={14} />} onClick={() => turn(1)} />
        <Button size="small" type="text" className={picking ? 'bench-on' : undefined} aria-pressed={picking} icon={<Icon name="check" size={14} />} onClick={() => several(!picking)}>{t('gridSurface.several')}</Button>
        <span className="num" role="status">{t('gallery.selected', { n: n(chosen.length) })}</span>
        <span className="grow" />
        <span className="muted sheet-hint">{t(readOnly ? 'gridSurface.readOnly' : 'gridSurface.hint')}</span>
      </div>
      <div
        ref={box} className="sheet-cells" role="listbox" aria-multiselectable="true" aria-label={t('gridSurface.title')} tabIndex={0}
        aria-activedescendant={`sheet-${place.cursor}`} onKeyDown={onKeyDown} onClick={onClick} onDoubleClick={onDoubleClick}
      >
        {Array.from({ length: to - from }, (_, i) => {
          const one = film.at(from + i)
          return <Thumb key={from + i} index={from + i} path={bench.path} sample={one} annotation={one && bench.annotationOf(one)} state={one && bench.stateOf(one)} handedIn={one !== undefined && bench.handedIn(one)} colorOf={bench.colorOf} selected={marked.has(from + i)} active={from + i === place.cursor} />
        })}
      </div>
    </section>
  )
}

interface ThumbProps {
  index: number
  path: string
  sample: Sample | undefined
  annotation: Annotation | undefined
  state: SampleState | undefined
  handedIn: boolean
  colorOf: (label: string | undefined) => string
  selected: boolean
  active: boolean
}

const Thumb = memo(function Thumb({ index, path, sample, annotation, state, handedIn, colorOf, selected: isSelected, active }: ThumbProps) {
  const { t } = useI18n()
  const labels = annotation?.labels ?? []
  const stateName = state ? t(`sampleState.${state}`) : ''
  return (
    <div
      id={`sheet-${index}`} data-index={index} role="option" aria-selected={isSelected} className={['thumb-cell-box', isSelected && 'selected', active && 'active'].filter(Boolean).join(' ')}
      aria-label={sample ? [sample.name, handedIn ? t('bench.handedIn') : stateName, ...labels].join(', ') : t('list.loading')}
    >
      <div className="thumb-picture">{sample && <img src={thumbnailUrl(path, sample, 256)} alt="" loading="lazy" decoding="async" draggable={false} />}</div>
      <div className="thumb-labels">
        {handedIn ? <span className="handed-in" title={t('bench.handedIn')}><Icon name="check" size={12} /></span> : state && <span className={`state-dot state-${state}`} title={stateName} />}
        {labels.length === 0 ? <span className="muted">{t('value.none')}</span> : labels.map((label) => <span key={label} className="thumb-label"><span className="dot" style={{ background: colorOf(label) }} />{label}</span>)}
      </div>
    </div>
  )
})
