import type { Item } from '../../api/kinds'

/** A list of texts of an object; anything else is an empty one. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : []
}

/** What building it takes, where that is known. */
export function costOf(item: Item): { bytes: number; minutes: number } | null {
  const bytes = item['bytes']
  const minutes = item['minutes']
  return typeof bytes === 'number' && typeof minutes === 'number' ? { bytes, minutes } : null
}
