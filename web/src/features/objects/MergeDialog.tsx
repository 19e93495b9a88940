import { Button, Modal, Radio } from 'antd'
import { useMemo, useState } from 'react'
import type { Field, Item, Kind } from '../../api/kinds'
import { FieldValue } from '../../components/FieldValue'
import { changedFields, merge, type Values } from '../../components/merge'
import { useI18n } from '../../i18n'

interface Props {
  kind: Kind
  fields: readonly Field[]
  base: Values
  mine: Values
  theirs: Item
  busy: boolean
  onSave: (values: Values) => void
  onReload: () => void
  onClose: () => void
}

/** Somebody saved while this form was open: shows what changed, combines what can be, lets one decide the rest. */
export function MergeDialog({ kind, fields, base, mine, theirs, busy, onSave, onReload, onClose }: Props) {
  const { t, w } = useI18n()
  const result = useMemo(() => merge(base, mine, theirs, fields), [base, mine, theirs, fields])
  const [choice, setChoice] = useState<Record<string, 'mine' | 'theirs'>>({})
  const byName = (name: string) => fields.find((f) => f.name === name)
  const titles = (names: string[]) => names.map((name) => w(byName(name)?.title)).join(', ')

  const combined = (): Values => {
    const values = { ...result.values }
    for (const name of result.conflicts) if (choice[name] === 'theirs') values[name] = theirs[name]
    return Object.fromEntries(changedFields(theirs, values, fields).map((name) => [name, values[name]]))
  }
  const overwriting = () => Object.fromEntries(changedFields(theirs, mine, fields).map((name) => [name, mine[name]]))
  return (
    <Modal
      open title={t('merge.title')} width={720} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={
        <div className="row wrap end">
          <Button onClick={onReload}>{t('merge.reload')}</Button>
          <Button danger onClick={() => onSave(overwriting())} disabled={busy}>{t('merge.overwrite')}</Button>
          <Button type="primary" loading={busy} onClick={() => onSave(combined())}>{t('merge.apply')}</Button>
        </div>
      }
    >
      <p>{t('merge.text')}</p>
      {result.taken.length > 0 && <p className="muted">{t('merge.taken', { fields: titles(result.taken) })}</p>}
      {result.conflicts.length === 0 && <p>{t('merge.noConflict')}</p>}
      {result.conflicts.map((name) => {
        const field = byName(name)
        if (!field) return null
        return (
          <fieldset key={name} className="merge-field">
            <legend>{w(field.title)}</legend>
            <Radio.Group value={choice[name] ?? 'mine'} onChange={(e) => setChoice({ ...choice, [name]: e.target.value as 'mine' | 'theirs' })}>
              {(['mine', 'theirs'] as const).map((side) => (
                <Radio key={side} value={side}>
                  <span className="merge-side">{t(`merge.${side}`)}</span>
                  <FieldValue field={field} kindName={kind.name} value={side === 'mine' ? mine[name] : theirs[name]} />
                </Radio>
              ))}
            </Radio.Group>
          </fieldset>
        )
      })}
    </Modal>
  )
}
