import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { Field } from '../api/kinds'
import { isKey, useI18n, type Key } from '../i18n'
import { FormContext } from './formContext'
import { FormFields } from './FormFields'
import { sameValue } from './merge'
import { partsOf } from './sections'
import type { FormState } from './useForm'

interface Props {
  fields: readonly Field[]
  kindName: string
  form: FormState
  creating: boolean
  prefix: string
  /** After the fields, before what is folded. */
  children?: ReactNode
}

/** All fields of a form: in parts with headings when there are several, and what few need folded away. */
export function FormBody({ fields, kindName, form, creating, prefix, children }: Props) {
  const { t } = useI18n()
  const { parts, more } = partsOf(fields)
  const of = { kindName, form, creating, prefix }
  const title = (section: string): Key => {
    const own = `section.${kindName}.${section}`
    return isKey(own) ? own : (`section.${section}` as Key)
  }
  return (
    <FormContext.Provider value={{ fields, values: form.values }}>
      {parts.map(({ section, fields: mine }, i) => {
        const drawn = <FormFields key={section} fields={mine} {...of} first={i === 0} />
        return parts.length === 1 ? drawn : <fieldset key={section} className="form-part"><legend>{t(title(section))}</legend>{drawn}</fieldset>
      })}
      {children}
      {more.length > 0 && <More fields={more} {...of} />}
    </FormContext.Provider>
  )
}

/** Folded, unless something in it is not as usual or is wrong. */
function More({ fields, ...of }: Omit<Props, 'children'>) {
  const { t, w } = useI18n()
  const { form } = of
  const [open, setOpen] = useState(() => fields.some((f) => !f.secret && !sameValue(form.values[f.name], f.default) && !isEmptyList(form.values[f.name])))
  const wrong = fields.some((f) => form.errorOf(f.name) !== null)
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (wrong) setOpen(true)
  }, [wrong])
  return (
    <details ref={details} className="form-more" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span>{t('form.more')}</span>
        {!open && <span className="muted form-more-names">{fields.map((f) => w(f.title)).join(' · ')}</span>}
      </summary>
      <FormFields fields={fields} {...of} first={false} />
    </details>
  )
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** The first field that is wrong, also when it is folded away. */
export function focusField(id: string): void {
  const found = document.getElementById(id)
  const folded = found?.closest('details')
  if (folded) folded.open = true
  found?.focus()
}
