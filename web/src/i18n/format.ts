/** Fills {x} and {n#one|many}; the inner text of the latter may hold {n} again. */
export function fill(message: string, values: Record<string, string | number> = {}): string {
  return message
    .replace(/\{(\w+)#([^|]*)\|((?:[^{}]|\{\w+\})*)\}/g, (_, name: string, one: string, many: string) =>
      Number(values[name]) === 1 ? one : many,
    )
    .replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole))
}

/** The names that a message needs, for comparing catalogues. */
export function placeholders(message: string): string[] {
  return [...new Set([...message.matchAll(/\{(\w+)[#}]/g)].map((m) => m[1] ?? ''))].sort()
}
