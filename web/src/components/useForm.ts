import { useCallback, useMemo, useState } from 'react'
import type { Problem } from '../api/client'
import type { Field } from '../api/kinds'
import { useI18n, type I18n } from '../i18n'
import { changedFields, type Values } from './merge'
import { checkField } from './rules'

export interface FormState {
  values: Values
  set: (name: string, value: unknown) => void
  /** Several at once, which nobody typed. */
  setAll: (values: Values) => void
  replace: (values: Values) => void
  setInvalid: (name: string, reason: string | null) => void
  /** What to show beside a field now: the server's word, or a rule broken by what was typed. */
  errorOf: (name: string) => string | null
  /** All that is wrong, shown from now on. */
  check: () => string[]
  dirty: boolean
  /** Puts a refusal beside its field; false when no field here is meant. */
  refuse: (problem: Problem) => boolean
}

export function fieldProblem(problem: Problem, i18n: I18n): string {
  if (problem.code === 'exists') return i18n.t('rule.exists')
  // The server names the field first; beside the field that is noise.
  const beside = (text: string, colon: string) => (problem.field && text.startsWith(problem.field + colon) ? text.slice(problem.field.length + colon.length) : text)
  if (i18n.language === 'zh' && problem.detailZh) return beside(problem.detailZh, '：')
  const detail = beside(problem.detail, ': ')
  return i18n.language === 'en' ? detail || i18n.t('rule.refused') : `${i18n.t('rule.refused')}${detail ? `（${detail}）` : ''}`
}

function without(record: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
}

export function useForm(fields: readonly Field[], initial: Values, creating: boolean): FormState {
  const i18n = useI18n()
  const [values, setValues] = useState<Values>(initial)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [refused, setRefused] = useState<Record<string, string>>({})
  const [invalid, setInvalidState] = useState<Record<string, string>>({})

  const set = useCallback((name: string, value: unknown) => {
    setValues((old) => ({ ...old, [name]: value }))
    setTouched((old) => new Set(old).add(name))
    setRefused((old) => without(old, name))
  }, [])
  const setAll = useCallback((some: Values) => setValues((old) => ({ ...old, ...some })), [])
  const setInvalid = useCallback((name: string, reason: string | null) => {
    setInvalidState((old) => {
      if ((old[name] ?? null) === reason) return old
      const rest = without(old, name)
      return reason === null ? rest : { ...rest, [name]: reason }
    })
    if (reason !== null) setTouched((was) => (was.has(name) ? was : new Set(was).add(name)))
  }, [])
  const broken = useMemo(
    () => Object.fromEntries(fields.map((f) => [f.name, invalid[f.name] ?? checkField(f, values[f.name], i18n, creating)])),
    [fields, values, invalid, i18n, creating],
  )
  const errorOf = (name: string) => refused[name] ?? (touched.has(name) ? (broken[name] ?? null) : null)
  const check = () => {
    setTouched(new Set(fields.map((f) => f.name)))
    return fields.filter((f) => broken[f.name]).map((f) => f.name)
  }
  const refuse = (problem: Problem) => {
    // "labels[2].name" belongs to the field labels.
    const name = /^[a-z_0-9]+/i.exec(problem.field ?? '')?.[0]
    if (!name || !fields.some((f) => f.name === name)) return false
    // A member of an object is named before what is wrong with it.
    const member = fields.find((f) => f.name === name)?.members?.find((m) => problem.field === `${name}.${m.name}`)
    const text = fieldProblem(problem, i18n)
    setRefused({ [name]: member ? `${i18n.w(member.title)}${i18n.language === 'zh' ? '：' : ': '}${text}` : text })
    return true
  }
  return {
    values, set, setAll, setInvalid, errorOf, check, refuse,
    replace: setValues,
    dirty: changedFields(initial, values, fields).length > 0,
  }
}
