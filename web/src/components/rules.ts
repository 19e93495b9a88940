import type { Field, Kind } from '../api/kinds'
import type { I18n } from '../i18n'
import { characters } from './format'

// The field rules that can be checked as one types. The server checks them all again; a rule that is not
// known here is left to it.
const forbidden = '/:*?"<\'>|'

type Rule = (value: string, i18n: I18n) => string | null

const rules: Record<string, Rule> = {
  name: (value, { t }) => {
    const bad = [...new Set([...value].filter((c) => forbidden.includes(c)))]
    if (bad.length > 0) return t('rule.name', { characters: bad.join(' ') })
    if (value !== '' && value.trim() === '') return t('rule.nameBlank')
    if (value !== value.trim()) return t('rule.nameEnds')
    return null
  },
  email: (value, { t }) => (/^[^\s@]+@[^\s@]+$/.test(value) ? null : t('rule.email')),
  color: (value, { t }) => (/^#[0-9a-f]{6}$/i.test(value) ? null : t('rule.color')),
  key: (value, { t }) => (/^[a-z0-9]$/i.test(value) ? null : t('rule.key')),
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** The first rule that the value breaks, in words; null when it is good. */
export function checkField(field: Field, value: unknown, i18n: I18n, creating: boolean): string | null {
  if (isEmpty(value)) {
    const needed = field.required && field.default === null && (creating || !field.secret)
    return needed ? i18n.t('rule.required') : null
  }
  if (field.type === 'text' && typeof value === 'string') return checkText(field, value, i18n)
  if (field.type === 'int' || field.type === 'real') return checkNumber(field, value, i18n)
  if ((field.type === 'texts' || field.type === 'refs') && Array.isArray(value)) {
    const { t } = i18n
    if (field.min !== null && value.length < field.min) return t('rule.minCount', { n: field.min })
    if (field.max !== null && field.max > 0 && value.length > field.max) return t('rule.maxCount', { n: field.max })
  }
  return null
}

function checkText(field: Field, value: string, i18n: I18n): string | null {
  const length = characters(value)
  const rule = field.rule ? rules[field.rule] : undefined
  const broken = rule?.(value, i18n) ?? null
  if (broken) return broken
  if (field.min !== null && length < field.min) return i18n.t('rule.minLength', { n: field.min })
  if (field.max !== null && field.max > 0 && length > field.max) return i18n.t('rule.maxLength', { max: field.max, n: length })
  return null
}

function checkNumber(field: Field, value: unknown, { t }: I18n): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return field.unit === 'bytes' ? t('rule.bytes') : t(field.type === 'int' ? 'rule.int' : 'rule.number')
  }
  if (field.type === 'int' && !Number.isInteger(value)) return t('rule.int')
  // A range of 0..0 means that the table sets none.
  if (field.min === 0 && field.max === 0) return null
  if (field.min !== null && value < field.min) return t('rule.min', { min: field.min })
  if (field.max !== null && field.max !== 0 && value > field.max) return t('rule.max', { max: field.max })
  return null
}

/** What a form for this kind asks for. */
export function formFields(kind: Kind, creating: boolean): Field[] {
  // A password has an action of its own where there is one.
  const apart = (f: Field) => kind.actions.some((a) => a.name === `reset-${f.name}`)
  return kind.fields.filter((f) => (creating ? f.create : f.update && !(f.secret && apart(f))))
}
