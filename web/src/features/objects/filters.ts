import type { Field, Kind } from '../../api/kinds'
import type { ListParams } from '../../api/objects'

// A list's state lives in the address: q, sort, mine, and one parameter per facet. Facets are the fields that
// can be filtered and have few values, references, and times (from, to).
export function facetFields(kind: Kind): Field[] {
  return kind.fields.filter((f) => f.filter && ['choice', 'bool', 'ref', 'time'].includes(f.type))
}

/** Texts that are filtered exactly; only where a kind is mostly a log. */
const exactTexts: Record<string, string[]> = { audit: ['kind', 'object', 'verb'] }

export function textFacets(kind: Kind): Field[] {
  return kind.fields.filter((f) => f.filter && exactTexts[kind.name]?.includes(f.name))
}

/** A link may ask for one of several: "failed,degraded". */
export function choicesOf(value: string): string[] {
  return value.split(',').filter(Boolean)
}

/** The expression of the filter language for what the address holds. */
export function filterOf(kind: Kind, params: URLSearchParams, fixed?: string): string | undefined {
  const parts = fixed ? [fixed] : []
  for (const field of [...facetFields(kind), ...textFacets(kind)]) {
    if (field.type === 'time') {
      const from = dayStart(params.get(`${field.name}.from`), 0)
      const to = dayStart(params.get(`${field.name}.to`), 1)
      if (from) parts.push(`${field.name} >= ${JSON.stringify(from)}`)
      if (to) parts.push(`${field.name} < ${JSON.stringify(to)}`)
      continue
    }
    const value = params.get(field.name)
    if (value === null || value === '') continue
    if (field.type === 'bool') {
      if (value === 'true' || value === 'false') parts.push(`${field.name} = ${value}`)
    } else if (field.type === 'ref' || field.type === 'int') {
      const id = Number.parseInt(value, 10)
      if (Number.isSafeInteger(id)) parts.push(`${field.name} = ${id}`)
    } else if (field.type === 'choice' && value.includes(',')) {
      parts.push(`${field.name} in (${choicesOf(value).map((one) => JSON.stringify(one)).join(', ')})`)
    } else parts.push(`${field.name} = ${JSON.stringify(value)}`)
  }
  return parts.length > 0 ? parts.join(' and ') : undefined
}

/** "2026-11-16" to the beginning of that day, or of the next, in the reader's zone. */
function dayStart(text: string | null, plus: number): string | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '')
  if (!match) return null
  return new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + plus).toISOString()
}

export function listParams(kind: Kind, params: URLSearchParams, fixed?: string): ListParams {
  return {
    q: params.get('q') || undefined,
    sort: params.get('sort') || undefined,
    mine: params.get('mine') === '1' || undefined,
    filter: filterOf(kind, params, fixed),
  }
}

const own = new Set(['tab', 'new', 'sort', 'runs', 'lines'])

/** Whether anything narrows the list. */
export function isNarrowed(params: URLSearchParams): boolean {
  return [...params].some(([name, value]) => value !== '' && !own.has(name))
}
