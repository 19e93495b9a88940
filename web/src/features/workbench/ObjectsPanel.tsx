import { memo, useEffect, useRef, useState, type UIEvent } from 'react'
import type { Shape } from '../../canvas'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { useBenchState } from './useBench'

const row = 28
const shownRows = 40

/** The shapes of the sample, the uppermost first; a part of them is drawn. */
export const ObjectsPanel = memo(function ObjectsPanel({ bench }: { bench: BenchStore }) {
  const { t, n } = useI18n()
  useBenchState(bench, (s) => s.version)
  const selection = useBenchState(bench, (s) => s.selection)
  const view = useBenchState(bench, (s) => s.view)
  useBenchState(bench, (s) => s.closed)
  const [top, setTop] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const shapes = bench.state.document?.shapes ?? []
  const first = Math.max(0, Math.floor(top / row) - 5)
  const last = Math.min(shapes.length, first + shownRows)
  const chosen = selection[0]
  useEffect(() => {
    const at = chosen === undefined ? -1 : (bench.state.document?.indexOf(chosen) ?? -1)
    const node = box.current
    if (!node || at < 0) return
    const place = ((bench.state.document?.shapes.length ?? 0) - 1 - at) * row
    if (place < node.scrollTop || place + row > node.scrollTop + node.clientHeight) node.scrollTop = place - node.clientHeight / 2
  }, [bench, chosen])
  const toggle = (set: 'hidden' | 'locked', id: string) => {
    const next = new Set(view[set])
    if (!next.delete(id)) next.add(id)
    bench.set({ view: { ...view, [set]: next } })
  }
  const pick = (id: string, add: boolean) => {
    bench.set({ selection: !add ? [id] : selection.includes(id) ? selection.filter((s) => s !== id) : [...selection, id] })
    if (!add) bench.surface?.command(`show:${id}`)
  }
  const line = (shape: Shape, at: number) => {
    const [hidden, locked] = [view.hidden?.has(shape.id) ?? false, view.locked?.has(shape.id) ?? false]
    const name = shape.label ?? shape.text ?? t(`shape.${shape.type}`)
    return (
      <li key={shape.id} style={{ top: (shapes.length - 1 - at) * row }} className={selection.includes(shape.id) ? 'selected' : undefined}>
        <button type="button" className="bench-object" aria-pressed={selection.includes(shape.id)} onClick={(e) => pick(shape.id, e.shiftKey || e.ctrlKey || e.metaKey)}>
          <span className="dot" style={{ background: bench.colorOf(shape.label) }} />
          <span className="clip-line grow">{name}</span>
          {shape.text && shape.label && <span className="muted clip-line">{shape.text}</span>}
          {shape.score !== undefined && <span className="muted num">{n(shape.score, 2)}</span>}
        </button>
        <button type="button" className="bench-eye" aria-pressed={hidden} aria-label={`${t(hidden ? 'bench.showOne' : 'bench.hideOne')}: ${name}`} title={t(hidden ? 'bench.showOne' : 'bench.hideOne')} onClick={() => toggle('hidden', shape.id)}><Icon name={hidden ? 'hidden' : 'eye'} size={14} /></button>
        <button type="button" className="bench-eye" aria-pressed={locked} aria-label={`${t(locked ? 'bench.unlockOne' : 'bench.lockOne')}: ${name}`} title={t(locked ? 'bench.unlockOne' : 'bench.lockOne')} onClick={() => toggle('locked', shape.id)}><Icon name={locked ? 'lock' : 'unlock'} size={14} /></button>
        {!bench.readOnly && <button type="button" className="bench-eye" aria-label={`${t('bench.deleteOne')}: ${name}`} title={t('bench.deleteOne')} onClick={() => bench.change({ op: 'remove', shape: shape.id })}><Icon name="trash" size={14} /></button>}
      </li>
    )
  }
  return (
    <section className="bench-panel bench-objects" aria-label={t('bench.objects')}>
      <h2>{t('bench.objects')} <span className="muted num">{n(shapes.length)}</span></h2>
      {shapes.length === 0 && <p className="muted">{t('bench.noObjects')}</p>}
      <div ref={box} className="bench-list" onScroll={(e: UIEvent<HTMLDivElement>) => setTop(e.currentTarget.scrollTop)}>
        <ol style={{ height: shapes.length * row }}>
          {Array.from({ length: last - first }, (_, i) => shapes.length - 1 - first - i).flatMap((at) => { const shape = shapes[at]; return shape ? [line(shape, at)] : [] })}
        </ol>
      </div>
    </section>
  )
})
