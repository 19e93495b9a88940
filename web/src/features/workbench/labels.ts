// Labels as the workbench wants them: one list, each with the key that chooses it.
import type { LabelStyle } from '../../canvas'
import { shownOf, type Example } from '../label-sets/examples'
import { palette } from '../label-sets/model'
import type { AttributeDefinition, LabelDefinition } from './surface'

interface Given {
  name?: string
  color?: string
  key?: string | null
  keypoints?: string[]
  edges?: [number, number][]
  attributes?: AttributeDefinition[]
  retired?: boolean
  children?: Given[]
}

const numbers = '1234567890'

/** Of a label set's list, two levels; those that have no key of their own get the numbers that are free, in their order. A label
 * above others is chosen by itself, too. */
export function labelsOf(value: unknown, examples: readonly Example[] = [], urlOf: (example: number) => string = String): LabelDefinition[] {
  const list = Array.isArray(value) ? (value as Given[]) : []
  const one = (l: Given, i: number, parent: string | null): LabelDefinition => ({
    name: l.name ?? '', color: l.color ?? palette[i % 14] ?? '#687076', key: l.key ?? null, parent,
    ...(l.keypoints && { keypoints: l.keypoints }), ...(l.edges && { edges: l.edges }),
    attributes: l.attributes ?? [], examples: shownOf(examples, { name: l.name ?? '', parent }, urlOf), retired: l.retired === true,
  })
  return withKeys(list.flatMap((l, i) => [one(l, i, null), ...(l.children ?? []).map((c, j) => one(c, i + j + 1, l.name ?? null))]))
}

/** Labels that samples have and no label set names. */
export function withFound(labels: readonly LabelDefinition[], names: readonly string[], colorOf: (label: string) => string): LabelDefinition[] {
  const known = new Set(labels.map((l) => l.name))
  const found = names.filter((name) => !known.has(name)).map((name): LabelDefinition => ({ name, color: colorOf(name), key: null, parent: null, attributes: [], examples: [], retired: false }))
  return withKeys([...labels, ...found])
}

function withKeys(labels: readonly LabelDefinition[]): LabelDefinition[] {
  const taken = new Set(labels.map((l) => l.key))
  const free = [...numbers].filter((key) => !taken.has(key))
  return labels.map((l) => (l.key !== null || l.retired ? l : { ...l, key: free.shift() ?? null }))
}

export function stylesOf(labels: readonly LabelDefinition[]): LabelStyle[] {
  return labels.map(({ name, color, keypoints, edges }) => ({ name, color, ...(keypoints && { skeleton: { keypoints, edges: edges ?? [] } }) }))
}
