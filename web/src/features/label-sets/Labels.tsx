import { Button } from 'antd'
import { useRef, useState } from 'react'
import type { EditProps, ShowProps } from '../../components/editors'
import { Icon } from '../../components/Icon'
import { useI18n, type I18n } from '../../i18n'
import { LabelRow } from './LabelRow'
import { add, addChild, clean, count, faults, move, normalize, remove, siblings, update, type Fault, type Label, type Path } from './model'

function faultText(fault: Fault, { t }: I18n): string {
  if (fault.rule === 'duplicate') return fault.field === 'key' ? t('labels.duplicateKey', { name: fault.other ?? '' }) : t('labels.duplicateName')
  if (fault.rule === 'name') return t('rule.name', { characters: '/ : * ? " < \' > |' })
  if (fault.rule === 'maxLength') return t('rule.maxLength', { max: 50, n: '>50' })
  if (fault.rule === 'attributes') return t('attributes.wrong')
  return t(`rule.${fault.rule}`)
}

export function LabelsEdit({ id, value, onChange, onInvalid }: EditProps) {
  const i18n = useI18n()
  const { t } = i18n
  const [labels, setLabels] = useState<Label[]>(() => normalize(value))
  const [dragged, setDragged] = useState<Path | null>(null)
  const [said, setSaid] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const wrong = faults(labels)

  const change = (next: Label[]) => {
    setLabels(next)
    const [first] = faults(next)
    onInvalid(first ? faultText(first, i18n) : null)
    onChange(clean(next))
  }
  const focusSoon = (path: Path) => requestAnimationFrame(() => box.current?.querySelector<HTMLInputElement>(`[data-path="${path.join('.')}"] input`)?.focus())
  const shift = (path: Path, to: number, focus: boolean) => {
    const level = siblings(labels, path)
    const at = Math.max(0, Math.min(level.length - 1, to))
    if (at === path.at(-1)) return path
    change(move(labels, path, at))
    const now: Path = path.length === 1 ? [at] : [path[0], at]
    setSaid(t('labels.moved', { name: level[path.at(-1) ?? 0]?.name ?? '', n: at + 1, total: level.length }))
    if (focus) focusSoon(now)
    return now
  }
  const row = (path: Path, child: boolean) => {
    const leaf = child ? labels[path[0]]?.children?.[path[1] ?? 0] : labels[path[0]]
    if (!leaf) return null
    const own = wrong.filter((f) => f.path.join('.') === path.join('.'))
    return (
      <LabelRow
        key={path.join('.')} id={path.join('.') === '0' ? id : undefined} path={path} leaf={leaf}
        errors={own.map((f) => ({ field: f.field, text: faultText(f, i18n) }))}
        dragging={dragged?.join('.') === path.join('.')}
        onChange={(part) => change(update(labels, path, part))}
        onRemove={() => change(remove(labels, path))}
        onMove={(by) => shift(path, (path.at(-1) ?? 0) + by, true)}
        onEnter={() => {
          if (child) change(addChild(labels, path[0]))
          else change(add(labels))
          focusSoon(child ? [path[0], labels[path[0]]?.children?.length ?? 0] : [labels.length])
        }}
        onDragStart={() => setDragged(path)}
        onDragEnd={() => setDragged(null)}
        onDragOver={() => {
          if (dragged && dragged.length === path.length && (path.length === 1 || dragged[0] === path[0])) setDragged(shift(dragged, path.at(-1) ?? 0, false))
        }}
        onAddChild={child ? undefined : () => {
          change(addChild(labels, path[0]))
          focusSoon([path[0], labels[path[0]]?.children?.length ?? 0])
        }}
      />
    )
  }
  return (
    <div ref={box} className="labels" role="group" aria-label={t('labels.title')}>
      <p className="field-help">{t('labels.count', { n: count(labels) })} · {t('labels.drag')}</p>
      {labels.length === 0 && <p className="muted">{t('labels.empty')}</p>}
      {labels.map((label, i) => (
        <div key={i} className="label-group">
          {row([i], false)}
          {(label.children ?? []).length > 0 && <div className="label-children">{(label.children ?? []).map((_, j) => row([i, j], true))}</div>}
        </div>
      ))}
      <div>
        <Button
          id={labels.length === 0 ? id : undefined} icon={<Icon name="plus" size={12} />}
          onClick={() => {
            change(add(labels))
            focusSoon([labels.length])
          }}
        >
          {t('labels.add')}
        </Button>
      </div>
      <span className="visually-hidden" role="status">{said}</span>
    </div>
  )
}

function Chip({ label, plain }: { label: Label; plain?: boolean }) {
  const { t } = useI18n()
  return (
    <span className="chip">
      <span className="dot" style={{ background: label.color }} aria-hidden="true" />
      <span className={label.retired ? 'muted' : undefined}>{label.name}</span>
      {label.retired && <span className="muted">{t('surface.retired')}</span>}
      {!plain && (label.attributes ?? []).length > 0 && <span className="muted">{t('attributes.count', { n: (label.attributes ?? []).length })}</span>}
      {label.key && !plain && <kbd>{label.key}</kbd>}
    </span>
  )
}

export function LabelsShow({ value, short }: ShowProps) {
  const { t } = useI18n()
  const labels = normalize(value)
  if (labels.length === 0) return <span className="muted">{t('labels.empty')}</span>
  if (short) {
    return (
      <span className="tags">
        {labels.slice(0, 3).map((l) => <Chip key={l.name} label={l} plain />)}
        {labels.length > 3 && <span className="muted">{t('value.more', { n: labels.length - 3 })}</span>}
      </span>
    )
  }
  return (
    <ul className="label-tree">
      {labels.map((label) => (
        <li key={label.name}>
          <Chip label={label} />
          {label.children && label.children.length > 0 && <ul>{label.children.map((c) => <li key={c.name}><Chip label={c} /></li>)}</ul>}
        </li>
      ))}
    </ul>
  )
}
