import { Button, Input, Popover, Select } from 'antd'
import { useState } from 'react'
import type { Item, Kind } from '../../api/kinds'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { columnOf, operators, refsOf, refText, type Column, type Condition } from './runs'

interface Props {
  kind: Kind
  runs: readonly Item[]
  all: readonly Column[]
  titleOf: (column: Column) => string
  conditions: readonly Condition[]
  onChange: (next: Condition[]) => void
}

/** Fields by which a table is narrowed; the state has its own place beside the search. */
const fields = ['duration', 'datasets', 'algorithm', 'model_version', 'image']
const versions = new Set(['datasets', 'algorithm', 'model_version'])

/** Conditions on columns: shown as what can be taken away, one more by a small form. */
export function Conditions(props: Props) {
  const { t } = useI18n()
  const { conditions, onChange, titleOf, runs } = props
  const [open, setOpen] = useState(false)
  const valueOf = ({ column, value }: Condition) => {
    const ref = versions.has(column) ? runs.flatMap((run) => refsOf(run, column)).find((one) => String(one.id) === value) : undefined
    return ref ? refText(ref) : value === '' ? t('value.none') : value
  }
  return (
    <>
      {conditions.map((c, i) => {
        const text = `${titleOf(columnOf(c.column))} ${c.op} ${valueOf(c)}`
        return <span key={i} className="tag runs-condition">{text} <button type="button" className="link" aria-label={t('runs.dropCondition', { text })} onClick={() => onChange(conditions.filter((_, k) => k !== i))}>×</button></span>
      })}
      <Popover open={open} onOpenChange={setOpen} trigger="click" placement="bottomLeft" arrow={false} destroyOnHidden content={<Add {...props} onAdd={(one) => { setOpen(false); onChange([...conditions, one]) }} />}>
        <Button icon={<Icon name="plus" size={12} />} aria-expanded={open}>{t('runs.condition')}</Button>
      </Popover>
    </>
  )
}

function Add({ all, runs, titleOf, onAdd }: Props & { onAdd: (one: Condition) => void }) {
  const { t } = useI18n()
  const columns = all.filter((c) => c.source !== 'field' || fields.includes(c.name))
  const [column, setColumn] = useState<string | null>(null)
  const [op, setOp] = useState<string>('=')
  const [value, setValue] = useState('')
  const refs = column && versions.has(column) ? [...new Map(runs.flatMap((run) => refsOf(run, column)).map((ref) => [ref.id, ref])).values()] : null
  const allowed = refs ? operators.slice(0, 2) : operators
  const submit = () => { if (column) onAdd({ column, op, value: value.trim() }) }
  return (
    <form className="runs-add" onSubmit={(e) => { e.preventDefault(); submit() }}>
      <Select
        showSearch optionFilterProp="label" aria-label={t('runs.column')} placeholder={t('runs.column')} value={column} onChange={(next: string) => { setColumn(next); setOp('='); setValue('') }} popupMatchSelectWidth={false}
        options={(['field', 'metric', 'last', 'parameter'] as const).map((source) => ({ label: t(`runs.group.${source}`), options: columns.filter((c) => c.source === source).map((c) => ({ value: c.key, label: titleOf(c) })) })).filter((group) => group.options.length > 0)}
      />
      <Select aria-label={t('runs.operator')} value={op} onChange={setOp} options={allowed.map((one) => ({ value: one, label: one }))} />
      {refs
        ? <Select aria-label={t('runs.value')} placeholder={t('runs.value')} value={value || null} onChange={setValue} options={refs.map((ref) => ({ value: String(ref.id), label: refText(ref) }))} popupMatchSelectWidth={false} />
        : <Input aria-label={t('runs.value')} placeholder={t('runs.value')} value={value} onChange={(e) => setValue(e.target.value)} />}
      <Button htmlType="submit" type="primary" disabled={!column || (value.trim() === '' && op !== '=' && op !== '!=')}>{t('runs.add')}</Button>
    </form>
  )
}
