import { AutoComplete, Input, InputNumber, Select, Switch } from 'antd'
import { useState, type ReactNode } from 'react'
import { isKey, useI18n } from '../../i18n'
import { numbersText, parseNumbers, type FormField, type Section } from './manifest'

export interface Wrong {
  field: string | null
  reason: string
}

interface Props {
  /** "inputs[0].size": where errors name it. */
  place: string
  field: FormField
  section: Section
  /** Names to choose from: files of the version, inputs and outputs of the graph. */
  names?: readonly string[]
  error?: string | null
  onChange: (value: unknown) => void
}

/** A title, its control, what it means and what is wrong with it. */
export function Labelled({ id, title, help, error, bool, children }: { id: string; title: string; help?: string; error?: string | null; bool?: boolean; children: ReactNode }) {
  return (
    <div className={bool ? 'field field-bool' : 'field'}>
      <label htmlFor={id}>{title}</label>
      {children}
      {help && <p id={`${id}-help`} className="field-help">{help}</p>}
      {error && <p id={`${id}-error`} role="alert" className="field-error">{error}</p>}
    </div>
  )
}

/** One field of an input or an output. */
export function ManifestField({ place, field, section, names, error, onChange }: Props) {
  const { t } = useI18n()
  const id = `manifest-${place.replace(/[^\w]+/g, '-')}`
  const value = section[field.name] ?? field.otherwise
  const titleKey = `manifest.field.${field.name}`
  const helpKey = `manifest.help.${field.name}`
  const title = isKey(titleKey) ? t(titleKey) : field.name
  const help = isKey(helpKey) ? t(helpKey) : undefined
  const aria = { 'aria-describedby': [help ? `${id}-help` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ') || undefined, 'aria-invalid': error ? true : undefined }
  const status = error ? ('error' as const) : undefined
  return (
    <Labelled id={id} title={title} help={help} error={error} bool={field.type === 'bool'}>
      {field.type === 'bool' ? (
        <Switch size="small" id={id} checked={value === true} onChange={onChange} {...aria} />
      ) : field.type === 'choice' ? (
        <Select id={id} status={status} value={value === undefined ? undefined : String(value as string)} onChange={onChange} options={(field.choices ?? []).map((c) => ({ value: c, label: choiceText(c, t) }))} {...aria} />
      ) : field.type === 'number' ? (
        <InputNumber id={id} status={status} value={typeof value === 'number' ? value : null} onChange={(n) => onChange(n ?? undefined)} {...aria} />
      ) : field.type === 'numbers' ? (
        <Numbers id={id} value={value} single={field.otherwise !== undefined} status={status} onChange={onChange} aria={aria} />
      ) : names ? (
        <AutoComplete id={id} status={status} value={typeof value === 'string' ? value : ''} onChange={onChange} defaultActiveFirstOption={false} filterOption={(typed, one) => names.includes(typed) || (one?.value ?? '').toLowerCase().includes(typed.toLowerCase())} options={names.map((one) => ({ value: one }))} {...aria} />
      ) : (
        <Input id={id} status={status} value={typeof value === 'string' ? value : ''} onChange={(e) => onChange(e.target.value)} {...aria} />
      )}
    </Labelled>
  )
}

/** What a choice is called; those of formats keep their names. */
export function choiceText(value: string, t: ReturnType<typeof useI18n>['t']): string {
  const key = `manifest.choice.${value}`
  return isKey(key) ? t(key) : value
}

/** What a field that is to be checked is called in the form. */
export function askedText(path: string, t: ReturnType<typeof useI18n>['t']): string {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const own = `manifest.${name === 'outputs' ? 'output' : name}`
  const field = `manifest.field.${name}`
  return isKey(own) ? t(own) : isKey(field) ? t(field) : name
}

/** Numbers in one line; what is typed stays as it is until it is left. */
function Numbers({ id, value, single, status, onChange, aria }: { id: string; value: unknown; single: boolean; status?: 'error'; onChange: (value: unknown) => void; aria: object }) {
  const [draft, setDraft] = useState<string | null>(null)
  const bad = draft !== null && parseNumbers(draft, single) === null
  const type = (text: string) => {
    setDraft(text)
    const parsed = parseNumbers(text, single)
    if (parsed !== null) onChange(parsed)
  }
  return <Input id={id} inputMode="decimal" status={bad ? 'error' : status} value={draft ?? numbersText(value)} onChange={(e) => type(e.target.value)} onBlur={() => setDraft(null)} {...aria} />
}
