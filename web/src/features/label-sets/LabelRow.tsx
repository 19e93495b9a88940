import { Button, Checkbox, Input, Popover, Tooltip } from 'antd'
import { useState, type KeyboardEvent } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { AttributesEdit } from './AttributesEdit'
import { palette, type Leaf, type Path } from './model'

interface Props {
  id?: string
  path: Path
  leaf: Leaf
  errors: { field: string; text: string }[]
  dragging: boolean
  onChange: (part: Partial<Leaf>) => void
  onRemove: () => void
  onMove: (by: number) => void
  onEnter: () => void
  onAddChild?: () => void
  onDragStart: () => void
  onDragOver: () => void
  onDragEnd: () => void
}

export function LabelRow(props: Props) {
  const { t } = useI18n()
  const { path, leaf, errors } = props
  const name = leaf.name || t('labels.unnamed')
  const [open, setOpen] = useState(false)
  const asked = leaf.attributes?.length ?? 0
  const has = (field: string) => errors.some((e) => e.field === field)
  const errorId = `label-${path.join('-')}-error`
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault()
      props.onMove(event.key === 'ArrowUp' ? -1 : 1)
    } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && !event.nativeEvent.isComposing && event.target instanceof HTMLInputElement && !event.target.closest('.label-details')) {
      event.preventDefault()
      props.onEnter()
    }
  }
  return (
    <div
      className={`label-row${props.dragging ? ' dragging' : ''}`} data-path={path.join('.')} onKeyDown={onKeyDown}
      onDragOver={(e) => {
        e.preventDefault()
        props.onDragOver()
      }}
      onDrop={(e) => e.preventDefault()}
    >
      <span
        className="drag" draggable aria-hidden="true" title={t('labels.drag')}
        onDragStart={(e) => {
          e.dataTransfer.effectAllowed = 'move'
          e.dataTransfer.setData('text/plain', leaf.name)
          props.onDragStart()
        }}
        onDragEnd={props.onDragEnd}
      >
        <Icon name="drag" size={14} />
      </span>
      <ColorButton color={leaf.color} label={t('labels.colorOf', { name })} onChange={(color) => props.onChange({ color })} />
      <Input
        id={props.id} className="label-name" value={leaf.name} maxLength={200} status={has('name') ? 'error' : undefined} placeholder={t('labels.name')} aria-label={t('labels.nameOf', { n: path.map((i) => i + 1).join('.') })}
        aria-invalid={has('name') || undefined} aria-describedby={errors.length > 0 ? errorId : undefined} onChange={(e) => props.onChange({ name: e.target.value })} autoComplete="off"
      />
      <Input
        className="label-key" value={leaf.key ?? ''} maxLength={1} status={has('key') ? 'error' : undefined} placeholder={t('labels.key')} aria-label={t('labels.keyOf', { name })} autoComplete="off"
        aria-describedby={errors.length > 0 ? errorId : undefined} onChange={(e) => props.onChange({ key: e.target.value || null })} onFocus={(e) => e.target.select()}
      />
      <span className="label-buttons">
        <Tooltip title={t('labels.details')}>
          <Button type="text" size="small" className="label-more" aria-expanded={open} aria-label={t('labels.detailsOf', { name })} icon={<Icon name="list" size={13} />} onClick={() => setOpen(!open)}>{asked > 0 ? asked : null}</Button>
        </Tooltip>
        <Button type="text" size="small" aria-label={t('labels.up', { name })} icon={<Icon name="up" size={13} />} onClick={() => props.onMove(-1)} />
        <Button type="text" size="small" aria-label={t('labels.down', { name })} icon={<Icon name="down" size={13} />} onClick={() => props.onMove(1)} />
        {props.onAddChild && (
          <Tooltip title={t('labels.addChild')}>
            <Button type="text" size="small" aria-label={t('labels.addChildOf', { name })} icon={<Icon name="plus" size={13} />} onClick={props.onAddChild} />
          </Tooltip>
        )}
        <Button type="text" size="small" aria-label={t('labels.remove', { name })} icon={<Icon name="close" size={13} />} onClick={props.onRemove} />
      </span>
      {errors.length === 0 && leaf.was !== undefined && leaf.was !== leaf.name.trim() && <p className="field-help">{t('relabel.instead')}</p>}
      {open && (
        <div className="label-details">
          <Checkbox checked={leaf.retired === true} onChange={(e) => props.onChange({ retired: e.target.checked })}>{t('labels.retired')}</Checkbox>
          <AttributesEdit label={name} value={leaf.attributes ?? []} onChange={(attributes) => props.onChange({ attributes })} />
        </div>
      )}
      {errors.length > 0 && <p id={errorId} className="field-error">{errors.map((e) => e.text).join(' ')}</p>}
    </div>
  )
}

function ColorButton({ color, label, onChange }: { color: string; label: string; onChange: (color: string) => void }) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  const pick = (c: string) => {
    onChange(c)
    setOpen(false)
  }
  return (
    <Popover
      trigger="click" placement="bottomLeft" open={open} onOpenChange={setOpen} destroyOnHidden
      content={
        <div className="swatches">
          {palette.map((c) => <button key={c} type="button" className="swatch" style={{ background: c }} aria-label={t('labels.swatch', { color: c })} aria-pressed={c === color} onClick={() => pick(c)} />)}
          <label className="swatch-custom">
            {t('labels.customColor')}
            <input type="color" value={/^#[0-9a-f]{6}$/i.test(color) ? color : '#000000'} onChange={(e) => onChange(e.target.value)} />
          </label>
        </div>
      }
    >
      <button type="button" className="swatch" style={{ background: color }} aria-label={`${label}: ${color}`} aria-expanded={open} />
    </Popover>
  )
}
