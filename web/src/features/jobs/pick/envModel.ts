// Environment variables as the API has them, and as rows while they are edited.
export interface EnvRow {
  name: string
  value: string
}

export function envToRows(value: unknown): EnvRow[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return []
  return Object.entries(value).map(([name, text]) => ({ name, value: String(text) }))
}

/** bad: the first name that is none, or that is there twice. Rows without a name and a value do not count. */
export function envFromRows(rows: readonly EnvRow[]): { env: Record<string, string>; bad: string | null } {
  const env: Record<string, string> = {}
  let bad: string | null = null
  for (const { name, value } of rows) {
    if (name === '' && value === '') continue
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) || name in env) bad ??= name
    else env[name] = value
  }
  return { env, bad }
}
