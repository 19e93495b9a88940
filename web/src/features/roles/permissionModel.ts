// A grant is "kind.verb", "kind.*", "*.verb" or "*". The table shows kinds against verbs; ticking a cell changes
// the grants, and a wider grant shows as ticked and implied in the cells it covers.
export interface Permission {
  name: string
  kind: string
  verb: string
}

export const everything = '*'

export function implied(grants: readonly string[], kind: string, verb: string): boolean {
  return grants.some((g) => g !== `${kind}.${verb}` && (g === everything || g === '*.*' || (kind !== '*' && g === `*.${verb}`) || (verb !== '*' && g === `${kind}.*`)))
}

export function granted(grants: readonly string[], kind: string, verb: string): boolean {
  return grants.includes(`${kind}.${verb}`) || implied(grants, kind, verb)
}

/** Ticks or unticks one grant; what a new wider one covers is dropped. */
export function toggle(grants: readonly string[], name: string, on: boolean): string[] {
  if (!on) return grants.filter((g) => g !== name)
  if (name === everything) return [everything]
  const [kind, verb] = name.split('.')
  const kept = grants.filter((g) => {
    const [k, v] = g.split('.')
    if (verb === '*') return k !== kind
    if (kind === '*') return v !== verb
    return g !== name
  })
  return [...kept, name]
}

export function unknown(grants: readonly string[], known: readonly Permission[]): string[] {
  const names = new Set(known.flatMap((p) => [p.name, `${p.kind}.*`, `*.${p.verb}`]))
  return grants.filter((g) => g !== everything && g !== '*.*' && !names.has(g))
}
