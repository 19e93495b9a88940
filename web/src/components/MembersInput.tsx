import { useState } from 'react'
import { useI18n } from '../i18n'
import { FieldInput, type InputProps } from './FieldInput'
import { isEmpty, checkField } from './rules'

function read(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** An object whose members are declared: a field for each, none of which need be filled. */
export function MembersInput({ id, field, kindName, value, onChange, onInvalid, creating }: InputProps) {
  const i18n = useI18n()
  const { w } = i18n
  const members = field.members ?? []
  // What is typed is kept while it is not allowed.
  const [typed, setTyped] = useState(() => read(value))
  const problems = (values: Record<string, unknown>) => members.map((m) => (isEmpty(values[m.name]) ? null : checkField(m, values[m.name], i18n, creating)))
  const set = (name: string, one: unknown) => {
    const next = { ...typed, [name]: one }
    setTyped(next)
    const first = problems(next).findIndex((problem) => problem !== null)
    const wrong = members[first]
    onInvalid(wrong ? i18n.t('rule.member', { member: w(wrong.title), problem: problems(next)[first] ?? '' }) : null)
    if (!wrong) onChange(Object.fromEntries(members.flatMap((m) => (isEmpty(next[m.name]) ? [] : [[m.name, next[m.name]]]))))
  }
  const bad = problems(typed)
  return (
    <div className="sub-form members">
      {members.map((m, i) => {
        const own = `${id}-${m.name}`
        const help = w(m.help)
        return (
          <div key={m.name} className={`field${m.type === 'bool' ? ' field-bool' : ''}`}>
            <label htmlFor={own}>{w(m.title)}</label>
            <FieldInput id={own} field={m} kindName={kindName} value={typed[m.name]} onChange={(one) => set(m.name, one)} onInvalid={() => undefined} invalid={bad[i] !== null} describedBy={help ? `${own}-help` : undefined} creating={creating} />
            {help && <p id={`${own}-help`} className="field-help">{help}</p>}
          </div>
        )
      })}
    </div>
  )
}
