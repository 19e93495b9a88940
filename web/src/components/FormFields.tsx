import type { Field } from '../api/kinds'
import { useI18n } from '../i18n'
import { editorOf } from './editors'
import { FieldInput } from './FieldInput'
import type { FormState } from './useForm'

interface Props {
  fields: readonly Field[]
  kindName: string
  form: FormState
  creating: boolean
  prefix: string
  /** False: another part of the form has the first field. */
  first?: boolean
}

export function FormFields({ fields, kindName, form, creating, prefix, first = true }: Props) {
  const { t, w } = useI18n()
  return (
    <>
      {fields.map((field, i) => {
        const id = `${prefix}-${field.name}`
        const error = form.errorOf(field.name)
        const help = editorOf(kindName, field)?.explains ? '' : w(field.help)
        const described = [help ? `${id}-help` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
        const found = editorOf(kindName, field)
        const editor = found?.generic ? undefined : found
        const title = (
          <>
            {w(field.title)}
            {field.required && (creating || !field.secret) && <span className="needed" title={t('form.required')}> *</span>}
          </>
        )
        return (
          // An editor is a group of controls that have labels of their own.
          <div key={field.name} className={`field${field.type === 'bool' ? ' field-bool' : ''}`} {...(editor || field.members ? { role: 'group', 'aria-labelledby': `${id}-title` } : {})}>
            {editor || field.members ? <span id={`${id}-title`} className="field-title">{title}</span> : <label htmlFor={id}>{title}</label>}
            <FieldInput
              id={id}
              field={field}
              kindName={kindName}
              value={form.values[field.name]}
              onChange={(value) => form.set(field.name, value)}
              onInvalid={(reason) => form.setInvalid(field.name, reason)}
              describedBy={described || undefined}
              invalid={error !== null}
              creating={creating}
              autoFocus={first && i === 0}
            />
            {error && <p id={`${id}-error`} className="field-error" role="alert">{error}</p>}
            {help && <p id={`${id}-help`} className="field-help">{help}</p>}
          </div>
        )
      })}
    </>
  )
}
