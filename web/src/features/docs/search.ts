// Words in all manuals and in the reference of the API.
export interface Entry {
  url: string
  title: string
  /** What it is part of: the manual, the noun. */
  where: string
  text: string
  /** What else it is found by; not shown. */
  also?: string
}

export interface Hit extends Entry {
  /** The words around the first find, in turn outside and inside of what was found. */
  excerpt: string[]
}

const before = 40
const longest = 150

/** Chinese is often written next to other words without a space. */
export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+|(?<=\p{Script=Han})(?=[a-z0-9])|(?<=[a-z0-9])(?=\p{Script=Han})/u).filter(Boolean)
}

/** A text in turn outside and inside of the words. */
export function marked(text: string, words: readonly string[]): string[] {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).sort((a, b) => b.length - a.length)
  return escaped.length > 0 ? text.split(new RegExp(`(${escaped.join('|')})`, 'gi')) : [text]
}

function begins(text: string, word: string): boolean {
  const at = text.indexOf(word)
  return at === 0 || (at > 0 && !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ''))
}

/** Chinese is written without spaces: of a longer run of it, every two neighbours. */
function pairsOf(word: string): string[] {
  return /^\p{Script=Han}{3,}$/u.test(word) ? Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2)) : []
}

/** How much an entry is about the words: 0 when it lacks one. Headings count more than text, whole words more than parts. Of a
 * run of Chinese that is nowhere as it stands, a third of its pairs must be there. */
function score(entry: Entry, words: readonly string[]): number {
  const [title, where, text, also] = [entry.title, entry.where, entry.text, entry.also ?? ''].map((part) => part.toLowerCase()) as [string, string, string, string]
  const points = (word: string) =>
    (begins(title, word) ? 12 : title.includes(word) ? 6 : 0) + (begins(where, word) ? 5 : where.includes(word) ? 3 : 0) + (also.includes(word) ? 5 : 0) + (begins(text, word) ? 2 : text.includes(word) ? 1 : 0)
  let sum = 0
  for (const word of words) {
    let found = points(word)
    if (found === 0) {
      const pairs = pairsOf(word)
      const there = pairs.map(points).filter((n) => n > 0)
      if (there.length === 0 || there.length * 3 < pairs.length) return 0
      found = there.reduce((all, n) => all + n, 0) / pairs.length
    }
    sum += found + (title === word ? 6 : 0)
  }
  return sum
}

function around(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = places.length > 0 ? Math.min(...places) : 0
  const from = first > before ? text.indexOf(' ', first - before) + 1 : 0
  const whole = text.slice(from > first ? first : from).replace(/\s+/g, ' ').trim()
  const piece = whole.length > longest ? `${whole.slice(0, longest).replace(/[\w-]+$/, '')}…` : whole
  return `${from > 0 ? '… ' : ''}${piece}`
}

export function search(entries: readonly Entry[], query: string, limit = 40): Hit[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  return entries
    .map((entry, i) => ({ entry, i, points: score(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || a.i - b.i)
    .slice(0, limit)
    .map(({ entry }) => ({ ...entry, excerpt: marked(around(entry.text, words), words) }))
}
