import { Checkbox, Input, InputNumber, Select } from 'antd'
import { useEffect, useState, type KeyboardEvent } from 'react'
import type { Change, Shape } from '../../canvas'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import type { AttributeDefinition, LabelDefinition } from './surface'
import { useBenchState } from './useBench'

/** What is known of the selected shapes besides their place; of the sample, where it has labels itself. */
export function AttributesPanel({ bench, labels }: { bench: BenchStore; labels: readonly LabelDefinition[] }) {
  const { t } = useI18n()
  useBenchState(bench, (s) => s.version)
  const selection = useBenchState(bench, (s) => s.selection)
  const { document } = bench.state
  if (!document) return null
  const shapes = selection.flatMap((id) => document.shape(id) ?? [])
  const names = new Set(shapes.length > 0 ? shapes.map((s) => s.label) : document.labels)
  const definitions = labels.filter((l) => names.has(l.name)).flatMap((l) => l.attributes)
  const shape = shapes.length === 1 ? shapes[0] : undefined
  if (shapes.length === 0 && definitions.length === 0) return null
  const put = (change: (shape: Shape) => Shape) => bench.change(shapes.map((s): Change => ({ op: 'put', shape: change(s) })))
  const set = (name: string, value: unknown) => {
    if (shapes.length === 0) return bench.change({ op: 'attribute', name, value: value ?? null })
    put((s) => {
      const { [name]: _old, ...rest } = s.attributes ?? {}
      void _old
      const attributes = value === null || value === undefined || value === '' ? rest : { ...rest, [name]: value }
      const { attributes: _all, ...others } = s
      void _all
      return (Object.keys(attributes).length > 0 ? { ...others, attributes } : others) as Shape
    })
  }
  const flag = (name: 'occluded' | 'truncated', on: boolean) => put((s) => {
    const { [name]: _old, ...rest } = s
    void _old
    return (on ? { ...rest, [name]: true } : rest) as Shape
  })
  const valueOf = (d: AttributeDefinition) => (shapes.length > 0 ? shapes[0]?.attributes?.[d.name] : document.attributes[d.name]) ?? d.default
  return (
    <section className="bench-panel bench-attributes" aria-label={t('bench.attributes')}>
      <h2>{t('bench.attributes')}</h2>
      {shape && bench.type === 'ocr' && <ShapeText key={shape.id} bench={bench} shape={shape} />}
      {shapes.length > 0 && (
        <div className="row wrap">
          <Checkbox disabled={bench.readOnly} checked={shapes.every((s) => s.occluded === true)} onChange={(e) => flag('occluded', e.target.checked)}>{t('bench.occluded')}</Checkbox>
          <Checkbox disabled={bench.readOnly} checked={shapes.every((s) => s.truncated === true)} onChange={(e) => flag('truncated', e.target.checked)}>{t('bench.truncated')}</Checkbox>
        </div>
      )}
      {definitions.map((d) => <Attribute key={`${d.name}-${selection.join()}`} definition={d} value={valueOf(d)} disabled={bench.readOnly} onChange={(value) => set(d.name, value)} />)}
    </section>
  )
}

function Attribute({ definition: d, value, disabled, onChange }: { definition: AttributeDefinition; value: unknown; disabled: boolean; onChange: (value: unknown) => void }) {
  const { language } = useI18n()
  const title = d.title?.[language] || d.title?.en || d.name
  const id = `attribute-${d.name}`
  if (d.type === 'flag') return <Checkbox disabled={disabled} checked={value === true} onChange={(e) => onChange(e.target.checked || null)}>{title}</Checkbox>
  return (
    <div className="bench-attribute">
      <label htmlFor={id}>{title}{d.required ? ' *' : ''}</label>
      {d.type === 'choice' && <Select id={id} size="small" allowClear disabled={disabled} value={value ?? null} options={(d.choices ?? []).map((c) => ({ value: c, label: c }))} onChange={(v: unknown) => onChange(v ?? null)} />}
      {d.type === 'number' && <InputNumber id={id} size="small" disabled={disabled} value={typeof value === 'number' ? value : null} onChange={(v) => onChange(v)} />}
      {d.type === 'text' && <Input id={id} size="small" disabled={disabled} defaultValue={typeof value === 'string' ? value : ''} onBlur={(e) => { if (e.target.value !== (value ?? '')) onChange(e.target.value) }} onPressEnter={(e) => e.currentTarget.blur()} />}
    </div>
  )
}

/** What is written in a shape; Tab goes to the next one in reading order. */
function ShapeText({ bench, shape }: { bench: BenchStore; shape: Shape }) {
  const { t } = useI18n()
  const [text, setText] = useState(shape.text ?? '')
  useEffect(() => setText(shape.text ?? ''), [shape.text])
  const keep = () => {
    if (text === (shape.text ?? '')) return
    const { text: _old, ...rest } = shape
    void _old
    bench.change({ op: 'put', shape: (text === '' ? rest : { ...rest, text }) as Shape })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Tab' || event.nativeEvent.isComposing) return
    const shapes = bench.state.document?.shapes ?? []
    const next = shapes[(bench.state.document?.indexOf(shape.id) ?? -1) + (event.shiftKey ? -1 : 1)]
    keep()
    if (!next) return
    event.preventDefault()
    bench.set({ selection: [next.id] })
    bench.surface?.command(`show:${next.id}`)
    requestAnimationFrame(() => document.getElementById('bench-shape-text')?.focus())
  }
  return (
    <div className="bench-attribute">
      <label htmlFor="bench-shape-text">{t('bench.text')}</label>
      <Input.TextArea id="bench-shape-text" size="small" autoSize={{ minRows: 1, maxRows: 6 }} disabled={bench.readOnly} value={text} onChange={(e) => setText(e.target.value)} onBlur={keep} onKeyDown={onKeyDown} />
    </div>
  )
}
