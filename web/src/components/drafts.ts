// What was typed into forms, over a reload that an upgrade makes necessary: kept in this tab until the form is opened again.
import type { Field } from '../api/kinds'
import type { Values } from './merge'

const where = 'ingot.drafts'
type Drafts = Record<string, Values>

const open = new Map<string, () => Values | null>()

function read(): Drafts {
  try {
    return JSON.parse(sessionStorage.getItem(where) ?? '{}') as Drafts
  } catch {
    return {}
  }
}

/** Called when the page is about to be loaded anew. */
export function keepDrafts(): void {
  const drafts: Drafts = {}
  for (const [form, typed] of open) {
    const values = typed()
    if (values) drafts[form] = values
  }
  if (Object.keys(drafts).length > 0) sessionStorage.setItem(where, JSON.stringify(drafts))
}

/** While a form is open; typed: what differs from what it began with. */
export function watchDraft(form: string, typed: () => Values | null): () => void {
  open.set(form, typed)
  return () => void open.delete(form)
}

/** Once: what this form held when the page was loaded anew. */
export function takeDraft(form: string): Values | null {
  const { [form]: mine, ...rest } = read()
  if (!mine) return null
  sessionStorage.setItem(where, JSON.stringify(rest))
  return mine
}

/** Secrets are not written down. */
export function draftOf(fields: readonly Field[], changed: readonly string[], values: Values): Values | null {
  const names = changed.filter((name) => !fields.some((f) => f.name === name && f.secret))
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, values[name]])) : null
}
