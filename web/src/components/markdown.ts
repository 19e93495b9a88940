// A small part of Markdown as data: headings, paragraphs, lists, tables, code, quotes, pictures, links, bold and italic. What is not
// understood stays text; there is no HTML anywhere, so nothing that people write can run.
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'strong' | 'em'; inside: Inline[] }
  | { type: 'link'; url: string; inside: Inline[] }
  | { type: 'picture'; url: string; alt: string }

export type Block =
  | { type: 'heading'; level: number; inside: Inline[] }
  | { type: 'paragraph' | 'quote'; inside: Inline[] }
  | { type: 'code'; text: string; language?: string }
  | { type: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { type: 'list'; ordered: boolean; items: Inline[][] }
  | { type: 'line' }

/** Addresses that may be followed or shown: of the web, or of this server. */
export function safeUrl(url: string): string | null {
  return /^(https?:\/\/|\/(?!\/)|#)/i.test(url) && !/[\s\\]/.test(url) ? url : null
}

/** Where a link of the text leads; '' leaves its words alone, null all of it as it is written. */
export type Resolve = (url: string) => string | null

const patterns: { test: RegExp; make: (m: RegExpExecArray, resolve: Resolve) => Inline | null }[] = [
  { test: /`([^`]+)`/, make: (m) => ({ type: 'code', text: m[1] ?? '' }) },
  { test: /!\[([^\]]*)\]\(([^()\s]+)\)/, make: (m) => { const url = safeUrl(m[2] ?? ''); return url ? { type: 'picture', url, alt: m[1] ?? '' } : null } },
  { test: /\[([^\]]+)\]\(([^()\s]+)\)/, make: (m, resolve) => { const url = resolve(m[2] ?? ''); return url === null ? null : { type: 'link', url, inside: inline(m[1] ?? '', resolve) } } },
  { test: /\*\*([^*]+)\*\*/, make: (m, resolve) => ({ type: 'strong', inside: inline(m[1] ?? '', resolve) }) },
  { test: /\*([^*\s][^*]*)\*/, make: (m, resolve) => ({ type: 'em', inside: inline(m[1] ?? '', resolve) }) },
]

export function inline(text: string, resolve: Resolve = safeUrl): Inline[] {
  let first: { m: RegExpExecArray; part: Inline } | null = null
  for (const { test, make } of patterns) {
    // What may not be followed or shown stays text; what comes after it may be.
    for (const m of text.matchAll(new RegExp(test, 'g'))) {
      if (first && m.index >= first.m.index) break
      const part = make(m, resolve)
      if (!part) continue
      first = { m, part }
      break
    }
  }
  if (!first) return text === '' ? [] : [{ type: 'text', text }]
  const { m, part } = first
  const before = text.slice(0, m.index)
  return [...(before ? [{ type: 'text' as const, text: before }] : []), part, ...inline(text.slice(m.index + m[0].length), resolve)]
}

/** The cells of a line of a table; `\|` stands for itself. */
function cells(line: string): string[] {
  return line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

const item = /^\s*(?:[-*]|(\d+[.)]))\s+(.*)$/

export function markdown(source: string, resolve: Resolve = safeUrl): Block[] {
  const lines = source.slice(0, 200_000).replace(/\r\n?/g, '\n').split('\n')
  const words = (text: string) => inline(text, resolve)
  const blocks: Block[] = []
  let i = 0
  const take = (test: RegExp) => {
    const found: string[] = []
    for (let m = test.exec(lines[i] ?? ''); m && i < lines.length; m = test.exec(lines[i] ?? '')) {
      found.push(m[1] ?? '')
      i += 1
    }
    return found
  }
  /** Items of one sort; lines further in go on with the one before. */
  const list = (ordered: boolean) => {
    const items: string[] = []
    for (; i < lines.length; i += 1) {
      const found = item.exec(lines[i] ?? '')
      if (found && (found[1] !== undefined) === ordered) items.push(found[2] ?? '')
      else if (!found && /^\s+\S/.test(lines[i] ?? '')) items.push(`${items.pop() ?? ''} ${(lines[i] ?? '').trim()}`)
      else break
    }
    return items.map(words)
  }
  while (i < lines.length) {
    const line = lines[i] ?? ''
    const heading = /^(#{1,6})\s+(.*)$/.exec(line)
    if (/^```/.test(line)) {
      const end = lines.findIndex((l, k) => k > i && /^```/.test(l))
      const language = line.slice(3).trim()
      blocks.push({ type: 'code', text: lines.slice(i + 1, end < 0 ? undefined : end).join('\n'), ...(language && { language }) })
      i = end < 0 ? lines.length : end + 1
    } else if (heading) {
      blocks.push({ type: 'heading', level: heading[1]?.length ?? 1, inside: words(heading[2] ?? '') })
      i += 1
    } else if (/^\|/.test(line) && /^\|[\s:|-]+$/.test(lines[i + 1] ?? '')) {
      const [head, , ...rows] = take(/^(\|.*)$/).map(cells)
      blocks.push({ type: 'table', head: (head ?? []).map(words), rows: rows.map((row) => row.map(words)) })
    } else if (item.test(line)) {
      const ordered = /^\s*\d/.test(line)
      blocks.push({ type: 'list', ordered, items: list(ordered) })
    } else if (/^>/.test(line)) blocks.push({ type: 'quote', inside: words(take(/^>\s?(.*)$/).join('\n')) })
    else if (/^(---+|\*\*\*+)\s*$/.test(line)) {
      blocks.push({ type: 'line' })
      i += 1
    } else if (line.trim() === '') i += 1
    else blocks.push({ type: 'paragraph', inside: words(take(/^((?!#{1,6}\s|```|>|\s*[-*]\s|\s*\d+[.)]\s).*\S.*)$/).join('\n') || (i += 1, line)) })
  }
  return blocks
}

/** What is read of it. */
export function plain(inside: readonly Inline[]): string {
  return inside.map((p) => ('inside' in p ? plain(p.inside) : p.type === 'picture' ? p.alt : p.text)).join('')
}

/** The anchors of headings, as GitHub makes them: the same links lead to the same places. */
export function anchors(): (inside: readonly Inline[]) => string {
  const taken = new Map<string, number>()
  return (inside) => {
    const slug = plain(inside).toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
    const n = taken.get(slug) ?? 0
    taken.set(slug, n + 1)
    return n > 0 ? `${slug}-${n}` : slug
  }
}
