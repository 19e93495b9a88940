// Environment variables as the API has them, and as rows while they are edited.
import { kept } from '../../../components/merge'

export interface EnvRow {
  name: string
  /** null: the variable is taken away from what is built upon. */
  value: string | null
  /** It is there and its value is not shown: it stays as it is while nothing is typed. */
  secret?: boolean
}

export function envToRows(value: unknown): EnvRow[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return []
  return Object.entries(value).map(([name, text]) => (text === kept ? { name, value: '', secret: true } : { name, value: text === null ? null : String(text) }))
}

/** bad: the first name that is none, or that is there twice. Rows without a name and a value do not count. */
export function envFromRows(rows: readonly EnvRow[]): { env: Record<string, string | typeof kept | null>; bad: string | null } {
  const env: Record<string, string | typeof kept | null> = {}
  let bad: string | null = null
  for (const { name, value, secret } of rows) {
    if (name === '' && !value) continue
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) || name in env) bad ??= name
    else env[name] = secret && value === '' ? kept : value
  }
  return { env, bad }
}

/** Lines of KEY=VALUE, as files of them and `env` have them; null when it is no such text. */
export function envFromText(text: string): EnvRow[] | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  const rows = lines.map((line): EnvRow | null => {
    const found = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line)
    if (!found) return null
    const [, name = '', value = ''] = found
    return { name, value: /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value }
  })
  return rows.length > 0 && rows.every((row) => row !== null) ? rows : null
}

/** Pasted into row i: what is there by name gets the new value, the rest is new. */
export function withLines(rows: readonly EnvRow[], i: number, lines: readonly EnvRow[]): EnvRow[] {
  const there = rows.filter((row, k) => k !== i || row.value !== '' || row.secret)
  const known = there.map((row) => ({ ...row, ...lines.findLast((line) => line.name === row.name) }))
  const names = new Set(there.map((row) => row.name))
  const fresh = lines.filter((line, k) => !names.has(line.name) && lines.findLastIndex((other) => other.name === line.name) === k)
  return [...known, ...fresh]
}
