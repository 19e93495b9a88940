// A project's quota as the API has it (what is absent or null has no limit, 0 is none at all), and as rows of text while it is edited.
export interface Quota {
  cpus?: number | null
  memory?: number | null
  storage?: number | null
  accelerators?: Record<string, number | null>
}

export interface QuotaRows {
  cpu: string
  memory: string
  storage: string
  accelerators: { kind: string; number: string }[]
}

export type Bad = 'bytes' | 'number' | 'kind'

export function quotaToRows(quota: Quota, bytes: (n: number) => string): QuotaRows {
  const size = (n: number | null | undefined) => (typeof n === 'number' ? bytes(n) : '')
  return {
    cpu: String(quota.cpus ?? ''),
    memory: size(quota.memory),
    storage: size(quota.storage),
    accelerators: Object.entries(quota.accelerators ?? {}).map(([kind, number]) => ({ kind, number: String(number ?? '') })),
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
    else quota.cpus = cpu
  }
  for (const name of ['memory', 'storage'] as const) {
    if (rows[name].trim() === '') continue
    const value = parse(rows[name])
    if (value === null) bad ??= 'bytes'
    else quota[name] = value
  }
  for (const { kind, number: text } of rows.accelerators) {
    const count = number(text)
    if (kind.trim() === '') bad ??= 'kind'
    else if (text.trim() === '') continue
    else if (count === null) bad ??= 'number'
    else (quota.accelerators ??= {})[kind.trim()] = count
  }
  return { quota, bad }
}
