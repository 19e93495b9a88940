import { Input, Select, Switch } from 'antd'
import { Suspense, useState } from 'react'
import type { Field } from '../api/kinds'
import { isKey, useI18n } from '../i18n'
import { lazyPart } from '../app/part'
import { editorOf } from './editors'
import { bytesForInput, formatBytes, parseBytes } from './format'
import { CodeInput } from './CodeInput'
import { isRef } from './names'
import { RefSelect, RefsSelect } from './RefSelect'

export interface InputProps {
  id: string
  field: Field
  kindName: string
  value: unknown
  onChange: (value: unknown) => void
  onInvalid: (reason: string | null) => void
  describedBy?: string
  invalid: boolean
  creating: boolean
  autoFocus?: boolean
}

export function FieldInput(props: InputProps) {
  const { field, value, onChange, id, invalid, autoFocus } = props
  const { t, w } = useI18n()
  const aria = { 'aria-describedby': props.describedBy, 'aria-invalid': invalid || undefined, 'aria-required': field.required || undefined }
  const status = invalid ? 'error' as const : undefined
  const editor = editorOf(props.kindName, field)
  if (editor && !editor.generic) {
    const { Edit } = editor
    return (
      <Suspense fallback={<div className="editor-loading" aria-busy="true" />}>
        <Edit id={id} value={value} onChange={onChange} onInvalid={props.onInvalid} />
      </Suspense>
    )
  }
  switch (field.type) {
    case 'bool':
      return <Switch size="small" id={id} checked={value === true} onChange={onChange} {...aria} autoFocus={autoFocus} />
    case 'int':
    case 'real':
      return <NumberInput {...props} />
    case 'time':
      return <Input id={id} type="datetime-local" status={status} value={toLocal(value)} onChange={(e) => onChange(fromLocal(e.target.value))} {...aria} />
    case 'choice':
      return (
        <Select
          id={id} status={status} value={value ?? null} onChange={(v) => onChange(v ?? null)} allowClear={!field.required} placeholder={t('form.choose')}
          options={(field.choices ?? []).map((c) => ({ value: c.value, label: w(c.title) }))} autoFocus={autoFocus} {...aria}
        />
      )
    case 'ref':
      return <RefSelect id={id} kindName={field.ref ?? ''} value={isRef(value) ? value : null} onChange={onChange} invalid={invalid} clearable={!field.required} {...aria} />
    case 'refs':
      return <RefsSelect id={id} kindName={field.ref ?? ''} value={Array.isArray(value) ? value.filter(isRef) : []} onChange={onChange} invalid={invalid} {...aria} />
    case 'texts':
      return <Select id={id} mode="tags" status={status} value={Array.isArray(value) ? value : []} onChange={onChange} placeholder={t('form.addText')} open={false} suffixIcon={null} tokenSeparators={[',']} {...aria} />
    case 'json':
      return field.members ? <Suspense fallback={<div className="editor-loading" aria-busy="true" />}><MembersInput {...props} /></Suspense> : <JsonInput {...props} />
    default:
      return <TextInput {...props} />
  }
}

/** Long texts that a shell reads. */
const codes = ['command', 'script']

const MembersInput = lazyPart(() => import('./MembersInput'), 'MembersInput')

function TextInput({ id, field, value, onChange, describedBy, invalid, creating, autoFocus }: InputProps) {
  const { t } = useI18n()
  const common = {
    id, value: typeof value === 'string' ? value : '', status: invalid ? 'error' as const : undefined, autoFocus,
    'aria-describedby': describedBy, 'aria-invalid': invalid || undefined, 'aria-required': field.required || undefined,
    onChange: (e: { target: { value: string } }) => onChange(e.target.value),
  }
  if (field.secret) return <Input.Password {...common} autoComplete="new-password" placeholder={creating ? undefined : t('form.keep')} />
  if (field.long && codes.includes(field.name)) {
    return <CodeInput id={id} value={common.value} onChange={onChange} autoFocus={autoFocus} aria-describedby={describedBy} aria-invalid={invalid || undefined} aria-required={field.required || undefined} />
  }
  if (field.long) return <Input.TextArea {...common} autoSize={{ minRows: 3, maxRows: 12 }} />
  return <Input {...common} autoComplete="off" spellCheck={false} />
}

/** Keeps the text as typed; the form gets the number, or the text when it is none, for the rule to refuse. */
function NumberInput({ id, field, value, onChange, describedBy, invalid, autoFocus }: InputProps) {
  const { t } = useI18n()
  const bytes = field.unit === 'bytes'
  const [text, setText] = useState(() => (typeof value !== 'number' ? '' : bytes ? bytesForInput(value) : String(value)))
  const change = (next: string) => {
    setText(next)
    const trimmed = next.trim()
    if (trimmed === '') return onChange(null)
    const number = bytes ? parseBytes(trimmed) : Number(trimmed)
    onChange(number === null || Number.isNaN(number) ? trimmed : number)
  }
  const unit = `unit.${field.unit ?? ''}`
  const shown = bytes && typeof value === 'number' ? formatBytes(value) : isKey(unit) ? t(unit) : field.unit
  return (
    <Input
      id={id} value={text} status={invalid ? 'error' : undefined} onChange={(e) => change(e.target.value)} inputMode={bytes ? 'text' : 'decimal'}
      autoComplete="off" autoFocus={autoFocus} suffix={shown ? <span className="muted num">{shown}</span> : undefined}
      placeholder={bytes ? t('form.unitHint', { example: '16 GiB' }) : undefined}
      aria-describedby={describedBy} aria-invalid={invalid || undefined} aria-required={field.required || undefined}
    />
  )
}

function JsonInput({ id, value, onChange, onInvalid, describedBy, invalid }: InputProps) {
  const { t } = useI18n()
  const [text, setText] = useState(() => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2)))
  const change = (next: string) => {
    setText(next)
    try {
      onChange(next.trim() === '' ? null : JSON.parse(next))
      onInvalid(null)
    } catch (error) {
      onInvalid(t('rule.json', { detail: error instanceof Error ? error.message : '' }))
    }
  }
  return <Input.TextArea id={id} className="mono" value={text} onChange={(e) => change(e.target.value)} autoSize={{ minRows: 4, maxRows: 20 }} placeholder={t('form.jsonHint')} aria-describedby={describedBy} aria-invalid={invalid || undefined} />
}

/** RFC 3339 to what a datetime-local input holds, in the reader's zone, and back. */
export function toLocal(value: unknown): string {
  if (typeof value !== 'string' || value === '') return ''
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return ''
  const pad = (n: number) => String(n).padStart(2, '0')
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}T${pad(time.getHours())}:${pad(time.getMinutes())}`
}

export function fromLocal(text: string): string | null {
  const time = new Date(text)
  return text === '' || Number.isNaN(time.getTime()) ? null : time.toISOString()
}
