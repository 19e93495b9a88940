import { Input, InputNumber, Select, Switch } from 'antd'
import { useState } from 'react'
import { useI18n } from '../../i18n'
import type { Parameter } from './plan'

interface Props {
  parameter: Parameter
  value: unknown
  onChange: (value: unknown) => void
}

/** One parameter of an algorithm, by its type; empty is its default. */
export function ParameterField({ parameter, value, onChange }: Props) {
  const { w } = useI18n()
  const id = `parameter-${parameter.name}`
  return (
    <div className="field">
      <label htmlFor={id}>{parameter.title ? w(parameter.title) : parameter.name}</label>
      <ParameterInput id={id} parameter={parameter} value={value} onChange={onChange} />
      {parameter.help && <p className="field-help">{w(parameter.help)}</p>}
    </div>
  )
}

function ParameterInput({ id, parameter, value, onChange }: Props & { id: string }) {
  const now = value ?? parameter.default
  switch (parameter.type) {
    case 'int':
    case 'real':
      return <InputNumber id={id} value={typeof now === 'number' ? now : null} min={parameter.min} max={parameter.max} precision={parameter.type === 'int' ? 0 : undefined} onChange={(v) => onChange(v ?? undefined)} />
    case 'bool':
      return <Switch id={id} checked={now === true} onChange={onChange} />
    case 'choice':
      return <Select id={id} value={now as string | number} onChange={onChange} options={(parameter.choices ?? []).map((one) => ({ value: one as string | number, label: String(one) }))} />
    case 'labels':
      return <Select id={id} mode="tags" value={Array.isArray(now) ? (now as string[]) : []} onChange={onChange} />
    case 'json':
      return <JsonInput id={id} value={now} onChange={onChange} />
    default:
      return <Input id={id} value={typeof now === 'string' ? now : ''} maxLength={2000} onChange={(e) => onChange(e.target.value)} />
  }
}

/** What is typed is kept while it is no JSON; then the value stays as it was. */
function JsonInput({ id, value, onChange }: { id: string; value: unknown; onChange: (value: unknown) => void }) {
  const { t } = useI18n()
  const [text, setText] = useState(() => JSON.stringify(value ?? null))
  const [bad, setBad] = useState(false)
  const change = (next: string) => {
    setText(next)
    try {
      onChange(JSON.parse(next))
      setBad(false)
    } catch {
      setBad(true)
    }
  }
  return (
    <>
      <Input.TextArea id={id} value={text} autoSize status={bad ? 'error' : undefined} aria-invalid={bad} onChange={(e) => change(e.target.value)} />
      {bad && <p className="field-error">{t('train.noJson')}</p>}
    </>
  )
}
