/** Where a word of a search was found in a text, in characters. */
export interface Match {
  field: string
  from: number
  to: number
}

// Beside the objects, which are as the server has them.
const found = new WeakMap<object, Match[]>()

/** Keeps what a page of a search tells of its items. */
export function keepMatches<P extends { items: object[]; matches?: Match[][] }>(page: P): P {
  page.matches?.forEach((matches, i) => {
    const item = page.items[i]
    if (item) found.set(item, matches)
  })
  return page
}

/** What was found in a field of an object that a search gave. */
export function matchesOf(item: object | undefined, field: string): Match[] {
  return item ? (found.get(item) ?? []).filter((match) => match.field === field) : []
}

/** The text in parts, by turns outside and inside of matches, from a character on. */
export function partsOf(text: string, matches: readonly Match[], begin = 0): string[] {
  const chars = Array.from(text)
  const parts: string[] = []
  let at = begin
  for (const { from, to } of [...matches].sort((a, b) => a.from - b.from)) {
    const start = Math.max(from, at)
    if (to <= start) continue
    parts.push(chars.slice(at, start).join(''), chars.slice(start, to).join(''))
    at = to
  }
  parts.push(chars.slice(at).join(''))
  return parts
}
