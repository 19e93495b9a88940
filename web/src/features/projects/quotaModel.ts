// A project's quota as the API has it, and as rows of text while it is edited.
export interface Quota {
  cpu?: number
  memory?: number
  storage?: number
  accelerators?: Record<string, number>
}

export interface QuotaRows {
  cpu: string
  memory: string
  storage: string
  accelerators: { kind: string; number: string }[]
}

export type Bad = 'bytes' | 'number' | 'kind'

export function quotaToRows(quota: Quota, bytes: (n: number) => string): QuotaRows {
  return {
    cpu: quota.cpu ? String(quota.cpu) : '',
    memory: quota.memory ? bytes(quota.memory) : '',
    storage: quota.storage ? bytes(quota.storage) : '',
    accelerators: Object.entries(quota.accelerators ?? {}).map(([kind, number]) => ({ kind, number: String(number) })),
  }
}

/** bad names the first kind of mistake; the quota is then not to be used. */
export function quotaFromRows(rows: QuotaRows, parse: (text: string) => number | null): { quota: Quota; bad: Bad | null } {
  const quota: Quota = {}
  let bad: Bad | null = null
  const number = (text: string): number | null => {
    const value = Number(text)
    return text.trim() !== '' && Number.isFinite(value) && value >= 0 ? value : null
  }
  if (rows.cpu.trim() !== '') {
    const cpu = number(rows.cpu)
    if (cpu === null) bad ??= 'number'
    else if (cpu > 0) quota.cpu = cpu
  }
  for (const name of ['memory', 'storage'] as const) {
    if (rows[name].trim() === '') continue
    const value = parse(rows[name])
    if (value === null) bad ??= 'bytes'
    else if (value > 0) quota[name] = value
  }
  for (const { kind, number: text } of rows.accelerators) {
    const count = number(text)
    if (kind.trim() === '') bad ??= 'kind'
    else if (count === null) bad ??= 'number'
    else (quota.accelerators ??= {})[kind.trim()] = count
  }
  return { quota, bad }
}
