// Text with the escape sequences of terminals, as pieces with a look.
export interface Look {
  color?: string
  background?: string
  bold?: boolean
  faint?: boolean
  italic?: boolean
  underline?: boolean
  inverse?: boolean
}

export interface Piece {
  text: string
  look: Look
}

const levels = [0, 95, 135, 175, 215, 255]

/** The first 16 colours follow the theme; the others are as the terminal has them. */
export function colorOf(n: number): string {
  if (n < 16) return `var(--ansi-${n})`
  if (n >= 232) {
    const grey = 8 + 10 * (n - 232)
    return `rgb(${grey} ${grey} ${grey})`
  }
  const i = n - 16
  return `rgb(${levels[Math.floor(i / 36)] ?? 0} ${levels[Math.floor(i / 6) % 6] ?? 0} ${levels[i % 6] ?? 0})`
}

/** 38;5;n and 38;2;r;g;b; gives how many numbers it took. */
function extended(codes: number[], i: number): { color?: string; took: number } {
  const kind = codes[i + 1]
  if (kind === 5) {
    const n = codes[i + 2] ?? 0
    return { color: n >= 0 && n < 256 ? colorOf(n) : undefined, took: 3 }
  }
  if (kind !== 2) return { took: 1 }
  const rgb = [2, 3, 4].map((k) => Math.max(0, Math.min(255, codes[i + k] ?? 0)))
  return { color: `rgb(${rgb.join(' ')})`, took: 5 }
}

const on: Record<number, Look> = { 1: { bold: true }, 2: { faint: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true } }
const off: Record<number, (keyof Look)[]> = { 22: ['bold', 'faint'], 23: ['italic'], 24: ['underline'], 27: ['inverse'], 39: ['color'], 49: ['background'] }

function change(old: Look, codes: number[]): Look {
  let look = { ...old }
  for (let i = 0; i < codes.length; i += 1) {
    const c = codes[i] ?? 0
    if (c === 0) look = {}
    else if (on[c]) look = { ...look, ...on[c] }
    else if (off[c]) look = { ...look, ...Object.fromEntries(off[c].map((name) => [name, undefined])) }
    else if (c >= 30 && c <= 37) look.color = colorOf(c - 30)
    else if (c >= 90 && c <= 97) look.color = colorOf(c - 90 + 8)
    else if (c >= 40 && c <= 47) look.background = colorOf(c - 40)
    else if (c >= 100 && c <= 107) look.background = colorOf(c - 100 + 8)
    else if (c === 38 || c === 48) {
      const { color, took } = extended(codes, i)
      if (color) look[c === 38 ? 'color' : 'background'] = color
      i += took - 1
    }
  }
  return look
}

// Control sequences, operating system commands (titles, links), and other escapes of two characters.
// eslint-disable-next-line no-control-regex
const escapes = /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/g

/** What a terminal would show of the line in the end: progress bars write over themselves with \r. */
function lastWriting(text: string): string {
  const trimmed = text.endsWith('\r') ? text.slice(0, -1) : text
  const at = trimmed.lastIndexOf('\r')
  return at < 0 ? trimmed : trimmed.slice(at + 1)
}

export function ansiPieces(line: string): Piece[] {
  const text = lastWriting(line)
  const pieces: Piece[] = []
  let look: Look = {}
  let from = 0
  const put = (to: number) => {
    if (to > from) pieces.push({ text: text.slice(from, to), look })
  }
  for (const match of text.matchAll(escapes)) {
    put(match.index)
    from = match.index + match[0].length
    if (match[2] === 'm') look = change(look, (match[1] ?? '').split(/[;:]/).map(Number))
  }
  put(text.length)
  return pieces
}

/** Without any sequences, for searching. */
export function plainText(line: string): string {
  // eslint-disable-next-line no-control-regex
  return /[\x00-\x08\x0b-\x1f\x7f]/.test(line) ? lastWriting(line).replace(escapes, '') : line
}
