import type { Item, Kind, Ref } from '../api/kinds'

/** What an object is called: its kind's first field, or the first reference it has (members). */
export function nameOf(kind: Kind, item: Item): string {
  for (const field of kind.fields) {
    const value = item[field.name]
    if (typeof value === 'string' && value !== '') return value
    if (isRef(value)) return value.name
  }
  return `#${item.id}`
}

export function isRef(value: unknown): value is Ref {
  return value !== null && typeof value === 'object' && 'id' in value && 'name' in value
}
