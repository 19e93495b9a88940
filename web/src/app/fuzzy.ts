// How a text fits what somebody typed: words and parts of words as the server finds them (docs/api.md), and, where that
// finds nothing, all characters in their order. The best come first, and what was matched is marked.

export interface Fit {
  /** 0 the whole text, 1 its begin, 2 begins of words, 3 inside of words, 5 characters in their order. */
  rank: number
  /** What was matched, in characters: from, to. */
  marks: [number, number][]
}

export const elsewhere = 4
const loosely = 5
const anywhere = 3

const chars = (text: string): string[] => Array.from(text.toLowerCase())
const isUnspaced = (c: string) => /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]/u.test(c)
const classOf = (c: string) => (isUnspaced(c) ? 'unspaced' : /\p{N}/u.test(c) ? 'digit' : /\p{L}/u.test(c) ? 'letter' : 'other')

function beginsWord(text: readonly string[], at: number): boolean {
  const here = classOf(text[at] ?? '')
  return at === 0 || here === 'unspaced' || (here !== 'other' && here !== classOf(text[at - 1] ?? ''))
}

/** Where the word is; begins of words are taken before insides. */
function find(text: readonly string[], word: readonly string[]): number {
  let inside = -1
  for (let i = 0; i + word.length <= text.length; i++) {
    if (!word.every((c, k) => text[i + k] === c)) continue
    if (beginsWord(text, i)) return i
    if (inside < 0 && word.length >= anywhere) inside = i
  }
  return inside
}

/** Takes begins of words where it can, so that "trfdet" marks "det" of "traffic-detection". */
function findLoosely(text: readonly string[], words: readonly string[][]): [number, number][] | null {
  const wanted = words.flatMap((word) => word.map((c, k) => ({ c, first: k === 0 })))
  const next = (from: number, c: string, begins: boolean) => text.findIndex((one, i) => i >= from && one === c && (!begins || beginsWord(text, i)))
  const fits = (from: number, k: number) => {
    let at = from
    return wanted.slice(k).every(({ c, first }) => (at = next(at, c, first) + 1) > 0)
  }
  const marks: [number, number][] = []
  let at = 0
  for (const [k, { c, first }] of wanted.entries()) {
    const begin = next(at, c, true)
    const place = !first && text[at] === c ? at : begin >= 0 && fits(begin + 1, k + 1) ? begin : first ? -1 : next(at, c, false)
    if (place < 0) return null
    const last = marks.at(-1)
    if (last?.[1] === place) last[1] = place + 1
    else marks.push([place, place + 1])
    at = place + 1
  }
  return marks
}

export function fitOf(text: string, typed: string): Fit | null {
  const inText = chars(text)
  const words = typed.split(/\s+/u).filter(Boolean).map(chars)
  if (words.length === 0) return { rank: elsewhere, marks: [] }
  const places = words.map((word) => find(inText, word))
  if (places.every((at) => at >= 0)) {
    const marks = places.map((at, k): [number, number] => [at, at + (words[k]?.length ?? 0)])
    const whole = text.toLowerCase() === typed.trim().toLowerCase()
    const rank = whole ? 0 : places[0] === 0 ? 1 : places.every((at) => beginsWord(inText, at)) ? 2 : 3
    return { rank, marks }
  }
  const marks = findLoosely(inText, words)
  return marks && { rank: loosely, marks }
}
