import { matchesOf, partsOf } from '../api/matches'

/** A text with what a search found in it. */
export function Marked({ text, item, field, begin }: { text: string; item: object | undefined; field: string; begin?: number }) {
  return shown(partsOf(text, matchesOf(item, field), begin))
}

/** The same with what was found here: from and to, in characters. */
export function MarkedText({ text, marks }: { text: string; marks: readonly [number, number][] }) {
  return shown(partsOf(text, marks.map(([from, to]) => ({ field: '', from, to }))))
}

function shown(parts: string[]) {
  return parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))
}
