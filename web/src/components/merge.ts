import type { Field, Item } from '../api/kinds'

export type Values = Record<string, unknown>

function plain(value: unknown): unknown {
  // A reference is the same when its id is; its name may have changed.
  if (value !== null && typeof value === 'object' && !Array.isArray(value) && 'id' in value) return (value as { id: unknown }).id
  return value ?? null
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value as Values)
        .filter(([, v]) => v !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, canonical(v)]),
    )
  }
  return value
}

export function sameValue(a: unknown, b: unknown): boolean {
  const x = Array.isArray(a) ? a.map(plain) : plain(a)
  const y = Array.isArray(b) ? b.map(plain) : plain(b)
  if (x === y) return true
  if ((x === null || x === '') && (y === null || y === '')) return true
  return JSON.stringify(canonical(x)) === JSON.stringify(canonical(y))
}

export function changedFields(base: Values, now: Values, fields: readonly Field[]): string[] {
  return fields.filter((f) => f.name in now && !sameValue(base[f.name], now[f.name])).map((f) => f.name)
}

/** A value as the API takes it: references by id, emptied texts as null where the field may be empty. */
export function outgoing(field: Field, value: unknown): unknown {
  if (field.type === 'ref') return plain(value)
  if (field.type === 'refs' && Array.isArray(value)) return value.map(plain)
  if (value === undefined) return null
  if (value === '' && (field.type !== 'text' || field.rule !== null)) return null
  return value
}

/** In an object of secrets, which are texts: the one of this name stays as it is. */
export const kept = true

/** A changed value as PATCH takes it: an object in JSON is a merge patch, in which what was taken away is null. */
export function patchOf(field: Field, was: unknown, now: unknown): unknown {
  const out = outgoing(field, now)
  if (field.type !== 'json') return out
  const patch = withRemoved(was, out)
  return field.secret && isObject(patch) ? Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== kept)) : patch
}

function isObject(value: unknown): value is Values {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function withRemoved(was: unknown, now: unknown): unknown {
  if (!isObject(was) || !isObject(now)) return now
  const gone = Object.keys(was).filter((name) => !(name in now)).map((name) => [name, null] as const)
  return { ...Object.fromEntries(gone), ...Object.fromEntries(Object.entries(now).map(([name, value]) => [name, withRemoved(was[name], value)])) }
}

export interface Merge {
  /** What to save over theirs when each conflict is decided for mine. */
  values: Values
  /** Changed by them only. */
  taken: string[]
  /** Changed by both, differently. */
  conflicts: string[]
}

/** Three-way merge by field: base is what the form began with. */
export function merge(base: Values, mine: Values, theirs: Item | Values, fields: readonly Field[]): Merge {
  const result: Merge = { values: {}, taken: [], conflicts: [] }
  const other = theirs as Values
  for (const { name } of fields) {
    const changedByMe = name in mine && !sameValue(base[name], mine[name])
    const changedByThem = !sameValue(base[name], other[name])
    if (changedByMe) {
      result.values[name] = mine[name]
      if (changedByThem && !sameValue(mine[name], other[name])) result.conflicts.push(name)
    } else {
      result.values[name] = other[name]
      if (changedByThem) result.taken.push(name)
    }
  }
  return result
}
