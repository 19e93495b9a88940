// A small part of Markdown as data: headings, paragraphs, lists, code, quotes, pictures, links, bold and italic. What is not
// understood stays text; there is no HTML anywhere, so nothing that people write can run.
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'strong' | 'em'; inside: Inline[] }
  | { type: 'link'; url: string; inside: Inline[] }
  | { type: 'picture'; url: string; alt: string }

export type Block =
  | { type: 'heading'; level: number; inside: Inline[] }
  | { type: 'paragraph' | 'quote'; inside: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'list'; ordered: boolean; items: Inline[][] }
  | { type: 'line' }

/** Addresses that may be followed or shown: of the web, or of this server. */
export function safeUrl(url: string): string | null {
  return /^(https?:\/\/|\/(?!\/)|#)/i.test(url) && !/[\s\\]/.test(url) ? url : null
}

const patterns: { test: RegExp; make: (m: RegExpExecArray) => Inline | null }[] = [
  { test: /`([^`]+)`/, make: (m) => ({ type: 'code', text: m[1] ?? '' }) },
  { test: /!\[([^\]]*)\]\(([^()\s]+)\)/, make: (m) => { const url = safeUrl(m[2] ?? ''); return url ? { type: 'picture', url, alt: m[1] ?? '' } : null } },
  { test: /\[([^\]]+)\]\(([^()\s]+)\)/, make: (m) => { const url = safeUrl(m[2] ?? ''); return url ? { type: 'link', url, inside: inline(m[1] ?? '') } : null } },
  { test: /\*\*([^*]+)\*\*/, make: (m) => ({ type: 'strong', inside: inline(m[1] ?? '') }) },
  { test: /\*([^*\s][^*]*)\*/, make: (m) => ({ type: 'em', inside: inline(m[1] ?? '') }) },
]

export function inline(text: string): Inline[] {
  let first: { m: RegExpExecArray; part: Inline } | null = null
  for (const { test, make } of patterns) {
    // What may not be followed or shown stays text; what comes after it may be.
    for (const m of text.matchAll(new RegExp(test, 'g'))) {
      if (first && m.index >= first.m.index) break
      const part = make(m)
      if (!part) continue
      first = { m, part }
      break
    }
  }
  if (!first) return text === '' ? [] : [{ type: 'text', text }]
  const { m, part } = first
  const before = text.slice(0, m.index)
  return [...(before ? [{ type: 'text' as const, text: before }] : []), part, ...inline(text.slice(m.index + m[0].length))]
}

export function markdown(source: string): Block[] {
  const lines = source.slice(0, 200_000).replace(/\r\n?/g, '\n').split('\n')
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
  while (i < lines.length) {
    const line = lines[i] ?? ''
    const heading = /^(#{1,6})\s+(.*)$/.exec(line)
    if (/^```/.test(line)) {
      const end = lines.findIndex((l, k) => k > i && /^```/.test(l))
      blocks.push({ type: 'code', text: lines.slice(i + 1, end < 0 ? undefined : end).join('\n') })
      i = end < 0 ? lines.length : end + 1
    } else if (heading) {
      blocks.push({ type: 'heading', level: heading[1]?.length ?? 1, inside: inline(heading[2] ?? '') })
      i += 1
    } else if (/^\s*[-*]\s+/.test(line)) blocks.push({ type: 'list', ordered: false, items: take(/^\s*[-*]\s+(.*)$/).map(inline) })
    else if (/^\s*\d+[.)]\s+/.test(line)) blocks.push({ type: 'list', ordered: true, items: take(/^\s*\d+[.)]\s+(.*)$/).map(inline) })
    else if (/^>/.test(line)) blocks.push({ type: 'quote', inside: inline(take(/^>\s?(.*)$/).join('\n')) })
    else if (/^(---+|\*\*\*+)\s*$/.test(line)) {
      blocks.push({ type: 'line' })
      i += 1
    } else if (line.trim() === '') i += 1
    else blocks.push({ type: 'paragraph', inside: inline(take(/^((?!#{1,6}\s|```|>|\s*[-*]\s|\s*\d+[.)]\s).*\S.*)$/).join('\n') || (i += 1, line)) })
  }
  return blocks
}
