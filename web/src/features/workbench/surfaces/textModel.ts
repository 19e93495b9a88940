// A long text in pieces that are drawn on their own, and what is found in it. Pure: no React, no network.
export interface Block {
  /** Where it begins in the text, in UTF-16 units. */
  start: number
  text: string
}

export type Found = readonly [start: number, end: number]

const size = 4096
/** So far behind the wanted place a grapheme may begin that reaches over it: flags, families, stacks of accents. */
const around = 64

/** Pieces of about 4,000 characters that end with a line where one ends near; never inside of what is seen as one character. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  for (let start = 0; start < text.length;) {
    const end = start + size >= text.length ? text.length : endNear(text, start, start + size)
    blocks.push({ start, text: text.slice(start, end) })
    start = end
  }
  return blocks
}

function endNear(text: string, start: number, wanted: number): number {
  const line = text.lastIndexOf('\n', wanted - 1)
  if (line >= start + size / 2) return line + 1
  const from = Math.max(start, wanted - around)
  const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.slice(from, wanted + around))
  const at = segments.containing(wanted - from)?.index ?? wanted - from
  // A pile of accents longer than the window is cut somewhere, but not in the middle of a code point.
  if (at > 0) return from + at
  return /[\uDC00-\uDFFF]/.test(text.charAt(wanted)) ? wanted - 1 : wanted
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

/** Where words occur, whether they are written with one code point or with accents of their own; at most so many. */
export function findAll(text: string, words: string, most: number): Found[] {
  if (words === '') return []
  const ways = [...new Set([words, words.normalize('NFC'), words.normalize('NFD')])].map(literal)
  const found: Found[] = []
  for (const match of text.matchAll(new RegExp(ways.join('|'), 'giu'))) {
    found.push([match.index, match.index + match[0].length])
    if (found.length >= most) break
  }
  return found
}

/** The number of the first that ends behind a place: of blocks and of what was found, which are both in order. */
export function firstBehind<T>(list: readonly T[], place: number, endOf: (one: T) => number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (endOf(list[middle] as T) > place) high = middle
    else low = middle + 1
  }
  return low
}

export interface Piece {
  text: string
  /** The number of what was found; absent: plain text. */
  found?: number
}

/** A block cut at what was found in it. What lies over its edge is marked on both sides. */
export function piecesOf(block: Block, found: readonly Found[]): Piece[] {
  const end = block.start + block.text.length
  const pieces: Piece[] = []
  let at = block.start
  for (let i = firstBehind(found, block.start, (f) => f[1]); i < found.length; i += 1) {
    const [from, to] = found[i] as Found
    if (from >= end) break
    if (from > at) pieces.push({ text: block.text.slice(at - block.start, from - block.start) })
    pieces.push({ text: block.text.slice(Math.max(from, block.start) - block.start, to - block.start), found: i })
    at = Math.min(to, end)
  }
  if (at < end) pieces.push({ text: block.text.slice(at - block.start) })
  return pieces
}
