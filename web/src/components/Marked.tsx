import { matchesOf, partsOf } from '../api/matches'

/** A text with what a search found in it. */
export function Marked({ text, item, field, begin }: { text: string; item: object | undefined; field: string; begin?: number }) {
  const parts = partsOf(text, matchesOf(item, field), begin)
  return parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))
}
