import { Checkbox, Input, InputNumber, Select } from 'antd'
import { memo, useCallback, type KeyboardEvent } from 'react'
import type { CanvasDocument, Change, Shape } from '../../canvas'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import type { AttributeDefinition, LabelDefinition } from './surface'
import { useBenchState } from './useBench'
import { useTyping } from './useTyping'

/** What is known of the selected shapes besides their place; of the sample, where it has labels itself. */
export const AttributesPanel = memo(function AttributesPanel({ bench, labels }: { bench: BenchStore; labels: readonly LabelDefinition[] }) {
  const { t } = useI18n()
  useBenchState(bench, (s) => s.version)
  const selection = useBenchState(bench, (s) => s.selection)
  useBenchState(bench, (s) => s.closed)
  useBenchState(bench, (s) => s.view.locked)
  const { document } = bench.state
  // The same function for every stroke, so that the boxes below are drawn again only when they are ticked.
  const flag = useCallback((name: 'occluded' | 'truncated', on: boolean) => bench.change(bench.state.selection.flatMap((id): Change[] => {
    const shape = bench.state.document?.shape(id)
    if (!shape || bench.isLocked(shape)) return []
    const { [name]: _old, ...rest } = shape
    void _old
    return [{ op: 'put', shape: (on ? { ...rest, [name]: true } : rest) as Shape }]
  })), [bench])
  if (!document) return null
  const shapes = selection.flatMap((id) => document.shape(id) ?? [])
  const names = new Set(shapes.length > 0 ? shapes.map((s) => s.label) : document.labels)
  const definitions = labels.filter((l) => names.has(l.name)).flatMap((l) => l.attributes)
  const shape = shapes.length === 1 ? shapes[0] : undefined
  if (shapes.length === 0 && definitions.length === 0) return null
  // Of this document, also when another one has been opened since: what was typed is kept when its field goes.
  const locked = shapes.some(bench.isLocked)
  const readOnly = bench.readOnly || locked
  const change = (what: Change | Change[], visit?: string) => !readOnly && document.change(what, visit)
  const put = (of: (shape: Shape) => Shape, visit?: string) => change(shapes.flatMap((s): Change[] => { const now = document.shape(s.id); return now ? [{ op: 'put', shape: of(now) }] : [] }), visit)
  const set = (name: string, value: unknown, visit?: string) => {
    if (shapes.length === 0) return change({ op: 'attribute', name, value: value === '' ? null : (value ?? null) }, visit)
    put((s) => {
      const { [name]: _old, ...rest } = s.attributes ?? {}
      void _old
      const attributes = value === null || value === undefined || value === '' ? rest : { ...rest, [name]: value }
      const { attributes: _all, ...others } = s
      void _all
      return (Object.keys(attributes).length > 0 ? { ...others, attributes } : others) as Shape
    }, visit)
  }
  const valueOf = (d: AttributeDefinition) => (shapes.length > 0 ? shapes[0]?.attributes?.[d.name] : document.attributes[d.name]) ?? d.default
  return (
    <section className="bench-panel bench-attributes" aria-label={t('bench.attributes')}>
      <h2>{t('bench.attributes')}</h2>
      {locked && <p className="muted">{t('bench.refused.locked')}</p>}
      {shape && bench.type === 'ocr' && <ShapeText key={shape.id} bench={bench} open={document} shape={shape} readOnly={readOnly} />}
      {shapes.length > 0 && <Flags disabled={readOnly} occluded={shapes.every((s) => s.occluded === true)} truncated={shapes.every((s) => s.truncated === true)} onChange={flag} />}
      {definitions.map((d) => <Attribute key={`${d.name}-${selection.join()}`} definition={d} value={valueOf(d)} disabled={readOnly} onChange={(value, visit) => set(d.name, value, visit)} />)}
    </section>
  )
})

const Flags = memo(function Flags({ disabled, occluded, truncated, onChange }: { disabled: boolean; occluded: boolean; truncated: boolean; onChange: (name: 'occluded' | 'truncated', on: boolean) => void }) {
  const { t } = useI18n()
  return (
    <div className="row wrap">
      <Checkbox disabled={disabled} checked={occluded} onChange={(e) => onChange('occluded', e.target.checked)}>{t('bench.occluded')}</Checkbox>
      <Checkbox disabled={disabled} checked={truncated} onChange={(e) => onChange('truncated', e.target.checked)}>{t('bench.truncated')}</Checkbox>
    </div>
  )
})

function Attribute({ definition: d, value, disabled, onChange }: { definition: AttributeDefinition; value: unknown; disabled: boolean; onChange: (value: unknown, visit?: string) => void }) {
  const { language } = useI18n()
  const title = d.title?.[language] || d.title?.en || d.name
  const id = `attribute-${d.name}`
  if (d.type === 'flag') return <Checkbox disabled={disabled} checked={value === true} onChange={(e) => onChange(e.target.checked || (d.default === true ? false : null))}>{title}</Checkbox>
  return (
    <div className="bench-attribute">
      <label htmlFor={id}>{title}{d.required ? ' *' : ''}</label>
      {d.type === 'choice' && <Select id={id} size="small" allowClear disabled={disabled} value={value ?? null} options={(d.choices ?? []).map((c) => ({ value: c, label: c }))} onChange={(v: unknown) => onChange(v ?? null)} />}
      {d.type === 'number' && <InputNumber id={id} size="small" disabled={disabled} value={typeof value === 'number' ? value : null} onChange={(v) => onChange(v)} />}
      {d.type === 'text' && <TextAttribute id={id} disabled={disabled} value={typeof value === 'string' ? value : ''} onChange={onChange} />}
    </div>
  )
}

function TextAttribute({ id, disabled, value, onChange }: { id: string; disabled: boolean; value: string; onChange: (value: string, visit: string) => void }) {
  const { field } = useTyping(value, onChange)
  return <Input id={id} size="small" disabled={disabled} {...field} onPressEnter={(e) => e.currentTarget.blur()} />
}

/** What is written in a shape; Tab goes to the next one in reading order, Escape back to the picture. */
function ShapeText({ bench, open, shape, readOnly }: { bench: BenchStore; open: CanvasDocument; shape: Shape; readOnly: boolean }) {
  const { t } = useI18n()
  const { field, flush } = useTyping(shape.text ?? '', (text, visit) => {
    const now = open.shape(shape.id)
    if (!now || readOnly) return
    const { text: _old, ...rest } = now
    void _old
    open.change({ op: 'put', shape: (text === '' ? rest : { ...rest, text }) as Shape }, visit)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') return flush()
    // Back to the picture, where keys are tools again.
    if (event.key === 'Escape') {
      event.stopPropagation()
      return bench.surface?.focus()
    }
    if (event.key !== 'Tab') return
    const next = open.shapes[open.indexOf(shape.id) + (event.shiftKey ? -1 : 1)]
    flush()
    if (!next) return
    event.preventDefault()
    bench.set({ selection: [next.id] })
    bench.surface?.command(`show:${next.id}`)
    requestAnimationFrame(() => document.getElementById('bench-shape-text')?.focus())
  }
  return (
    <div className="bench-attribute">
      <label htmlFor="bench-shape-text">{t('bench.text')}</label>
      <Input.TextArea id="bench-shape-text" size="small" autoSize={{ minRows: 1, maxRows: 6 }} disabled={readOnly} {...field} onKeyDown={onKeyDown} />
    </div>
  )
}
