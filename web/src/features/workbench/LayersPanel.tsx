import { Button } from 'antd'
import { memo } from 'react'
import type { Difference } from '../../canvas'
import { Icon } from '../../components/Icon'
import { useI18n, type Key } from '../../i18n'
import type { BenchStore } from './bench'
import { differences, type SeatLayer } from './layers'
import { useBenchState } from './useBench'
import type { Comparing } from './useLayers'

/** So many differences of a person are listed; keys walk them all. */
const most = 100
const reasons: Record<Difference, Key> = { alone: 'bench.difference.alone', label: 'bench.difference.label', text: 'bench.difference.text', place: 'bench.difference.place' }

/** What each of several people made of the sample: shown and hidden singly, taken whole or shape by shape. */
export const LayersPanel = memo(function LayersPanel({ bench, comparing }: { bench: BenchStore; comparing: Comparing }) {
  const { t } = useI18n()
  const layers = useBenchState(bench, (s) => s.layers)
  useBenchState(bench, (s) => s.version)
  if (layers.list.length === 0) return null
  const n = differences(layers)
  const toggle = (id: number) => {
    const hidden = new Set(layers.hidden)
    if (!hidden.delete(id)) hidden.add(id)
    bench.set({ layers: { ...layers, hidden } })
  }
  return (
    <section className="bench-panel bench-layers" aria-label={t('bench.layers')}>
      <h2>{t('bench.layers')} <span className={n > 0 ? 'tag bench-differs' : 'tag tag-ok'}>{t(n > 0 ? 'bench.differences' : 'bench.allAgree', { n })}</span></h2>
      <ul>
        {layers.list.map((layer) => <One key={layer.id} bench={bench} layer={layer} hidden={layers.hidden.has(layer.id)} picked={layers.picked?.layer === layer.id ? layers.picked.shape : null} comparing={comparing} onToggle={() => toggle(layer.id)} />)}
      </ul>
    </section>
  )
})

interface OneProps {
  bench: BenchStore
  layer: SeatLayer
  hidden: boolean
  picked: string | null
  comparing: Comparing
  onToggle: () => void
}

function One({ bench, layer, hidden, picked, comparing, onToggle }: OneProps) {
  const { t, n } = useI18n()
  const name = layer.user?.name ?? t('value.none')
  const shapes = layer.annotation.shapes ?? []
  const labels = layer.annotation.labels ?? []
  const differing = shapes.filter((s) => layer.differing.has(s.id))
  const own = bench.state.document
  return (
    <li>
      <div className="bench-layer">
        <svg className="bench-stroke" width={22} height={8} aria-hidden="true"><line x1={1} y1={4} x2={21} y2={4} stroke={layer.color} strokeWidth={3} strokeDasharray={layer.dash.join(' ')} /></svg>
        <span className="clip-line grow">{name}</span>
        {layer.late && <span className="tag">{t('bench.late')}</span>}
        {shapes.length > 0 && <span className="muted num" title={t('bench.objectsOf', { n: shapes.length })}>{n(shapes.length)}</span>}
        <Button size="small" aria-label={t('bench.takeAllOf', { name })} onClick={() => comparing.takeLayer(layer.id)}>{t('bench.takeAll')}</Button>
        <button type="button" className="bench-eye bench-eye-on" aria-pressed={hidden} aria-label={`${t(hidden ? 'bench.showOne' : 'bench.hideOne')}: ${name}`} title={t(hidden ? 'bench.showOne' : 'bench.hideOne')} onClick={onToggle}><Icon name={hidden ? 'hidden' : 'eye'} size={14} /></button>
      </div>
      {labels.length > 0 && (
        <p className="tags">
          {labels.map((label) => <button key={label} type="button" className={layer.ownLabels.has(label) ? 'tag bench-differs' : 'tag'} aria-pressed={own?.labels.includes(label) ?? false} onClick={() => bench.change({ op: 'label', label, on: true })}><span className="dot" style={{ background: bench.colorOf(label) }} />{label}</button>)}
        </p>
      )}
      {layer.annotation.text !== undefined && <p className="muted clip-line">{layer.annotation.text}</p>}
      {shapes.length + labels.length === 0 && layer.annotation.text === undefined && <p className="muted">{t('bench.layerEmpty')}</p>}
      {differing.length > 0 && (
        <ol>
          {differing.slice(0, most).map((shape) => {
            const taken = own?.shape(shape.id) !== undefined
            const what = shape.label ?? shape.text ?? t(`shape.${shape.type}`)
            return (
              <li key={shape.id} className={picked === shape.id ? 'selected' : undefined}>
                <button type="button" className="bench-object" aria-pressed={picked === shape.id} onClick={() => comparing.pick({ layer: layer.id, shape: shape.id })} onDoubleClick={() => comparing.take({ layer: layer.id, shape: shape.id })}>
                  <span className="dot" style={{ background: bench.colorOf(shape.label) }} />
                  <span className="clip-line grow">{what}</span>
                  <span className="muted clip-line">{t(reasons[layer.differing.get(shape.id) ?? 'alone'])}</span>
                </button>
                {taken ? <span className="bench-taken" role="img" aria-label={t('bench.taken')} title={t('bench.taken')}><Icon name="check" size={14} /></span> : <Button size="small" type="text" aria-label={t('bench.takeOne', { name, label: what })} onClick={() => comparing.take({ layer: layer.id, shape: shape.id })}>{t('bench.take')}</Button>}
              </li>
            )
          })}
          {differing.length > most && <li className="muted">{t('value.more', { n: n(differing.length - most) })}</li>}
        </ol>
      )}
    </li>
  )
}
