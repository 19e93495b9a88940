import { memo, useEffect, useRef, useState, type UIEvent } from 'react'
import type { Shape } from '../../canvas'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { useBenchState } from './useBench'

const row = 28
const spare = 4

/** The shapes of the sample, the uppermost first; those in sight are drawn. */
export const ObjectsPanel = memo(function ObjectsPanel({ bench }: { bench: BenchStore }) {
  const { t, n } = useI18n()
  useBenchState(bench, (s) => s.version)
  const selection = useBenchState(bench, (s) => s.selection)
  const view = useBenchState(bench, (s) => s.view)
  useBenchState(bench, (s) => s.closed)
  // What is in sight is told by the browser: asking it at each stroke would have it lay out the page at once.
  const [sight, setSight] = useState({ top: 0, height: 400 })
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const node = box.current
    if (!node) return
    const watch = new ResizeObserver(() => setSight((old) => ({ ...old, height: node.clientHeight })))
    watch.observe(node)
    return () => watch.disconnect()
  }, [])
  const { document } = bench.state
  const shapes = document?.shapes ?? []
  const first = Math.max(0, Math.min(shapes.length, Math.floor(sight.top / row)) - spare)
  const last = Math.min(shapes.length, Math.ceil((sight.top + sight.height) / row) + spare)
  const chosen = selection[0]
  const seen = useRef(sight)
  seen.current = sight
  useEffect(() => {
    const at = chosen === undefined ? -1 : (bench.state.document?.indexOf(chosen) ?? -1)
    const node = box.current
    if (!node || at < 0) return
    const { top, height } = seen.current
    const place = ((bench.state.document?.shapes.length ?? 0) - 1 - at) * row
    if (place < top || place + row > top + height) node.scrollTop = place - height / 2
  }, [bench, chosen])
  return (
    <section className="bench-panel bench-objects" aria-label={t('bench.objects')}>
      <h2>{t('bench.objects')} <span className="muted num">{n(shapes.length)}</span></h2>
      {shapes.length === 0 && <p className="muted">{t('bench.noObjects')}</p>}
      <div ref={box} className="bench-list" onScroll={(e: UIEvent<HTMLDivElement>) => { const { scrollTop: top, clientHeight: height } = e.currentTarget; setSight({ top, height }) }}>
        <ol style={{ height: shapes.length * row }}>
          {Array.from({ length: last - first }, (_, i) => shapes.length - 1 - first - i).flatMap((at) => {
            const shape = shapes[at]
            return shape ? [<Line key={shape.id} bench={bench} shape={shape} at={at} selected={selection.includes(shape.id)} hidden={whose(view.hidden, shape)} locked={whose(view.locked, shape)} fixed={bench.readOnly} />] : []
          })}
        </ol>
      </div>
    </section>
  )
})

/** Hidden or locked: not at all, by itself, or with its label. */
type Whose = 'none' | 'own' | 'label'

function whose(set: ReadonlySet<string> | undefined, { id, label }: Shape): Whose {
  return set?.has(`label:${label ?? ''}`) ? 'label' : set?.has(id) ? 'own' : 'none'
}

const signs = {
  hidden: { off: ['bench.hideOne', 'eye'], on: ['bench.showOne', 'hidden'] },
  locked: { off: ['bench.lockOne', 'unlock'], on: ['bench.unlockOne', 'lock'] },
} as const

interface LineProps {
  bench: BenchStore
  shape: Shape
  /** Its place, counted from below as the shapes are: one more on top moves no other line. */
  at: number
  selected: boolean
  hidden: Whose
  locked: Whose
  fixed: boolean
}

const Line = memo(function Line({ bench, shape, at, selected, hidden, locked, fixed }: LineProps) {
  const { t, n } = useI18n()
  const { id } = shape
  const toggle = (set: 'hidden' | 'locked') => {
    const { view } = bench.state
    const next = new Set(view[set])
    if (!next.delete(id)) next.add(id)
    bench.set({ view: { ...view, [set]: next } })
  }
  const pick = (add: boolean) => {
    const { selection } = bench.state
    bench.set({ selection: !add ? [id] : selected ? selection.filter((s) => s !== id) : [...selection, id] })
    if (!add) bench.surface?.command(`show:${id}`)
  }
  const name = shape.label ?? shape.text ?? t(`shape.${shape.type}`)
  const eye = (set: 'hidden' | 'locked', now: Whose) => {
    const [title, icon] = signs[set][now === 'none' ? 'off' : 'on']
    return <button type="button" className="bench-eye" disabled={now === 'label'} aria-pressed={now !== 'none'} aria-label={`${t(title)}: ${name}`} title={t(now === 'label' ? 'bench.withLabel' : title)} onClick={() => toggle(set)}><Icon name={icon} size={14} /></button>
  }
  return (
    <li style={{ bottom: at * row }} className={selected ? 'selected' : undefined}>
      <button type="button" className="bench-object" aria-pressed={selected} onClick={(e) => pick(e.shiftKey || e.ctrlKey || e.metaKey)}>
        <span className="dot" style={{ background: bench.colorOf(shape.label) }} />
        <span className="clip-line grow">{name}</span>
        {shape.text && shape.label && <span className="muted clip-line">{shape.text}</span>}
        {shape.score !== undefined && <span className="muted num">{n(shape.score, 2)}</span>}
      </button>
      {eye('hidden', hidden)}
      {eye('locked', locked)}
      {!fixed && <button type="button" className="bench-eye" disabled={locked !== 'none'} aria-label={`${t('bench.deleteOne')}: ${name}`} title={t(locked === 'none' ? 'bench.deleteOne' : 'bench.refused.locked')} onClick={() => bench.change({ op: 'remove', shape: id })}><Icon name="trash" size={14} /></button>}
    </li>
  )
})
