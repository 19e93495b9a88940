// Labels as the workbench wants them: one list, each with the key that chooses it.
import type { Schema } from '../../api/client'
import type { Annotation, Change, LabelStyle, Shape } from '../../canvas'
import { shownOf, type Example } from '../label-sets/examples'
import { palette } from '../label-sets/model'
import type { LabelDefinition } from './surface'

type Given = Schema<'LabelDefinition'>

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
  return labels.map((label) => {
    const { name, color, keypoints, edges } = label
    const attributes = defaultsOf(label)
    return { name, color, ...(keypoints && { skeleton: { keypoints, edges: edges ?? [] } }), ...(Object.keys(attributes).length > 0 && { attributes }) }
  })
}

/** What a label says of what bears it unless somebody says otherwise. */
export function defaultsOf(label: LabelDefinition | undefined): Record<string, unknown> {
  return Object.fromEntries((label?.attributes ?? []).flatMap((a) => (a.default === undefined || a.default === null || a.default === '' ? [] : [[a.name, a.default]])))
}

/** What is said of a sample besides the label that it gets. */
export function defaultsFor(labels: readonly LabelDefinition[], label: string, annotation: Pick<Annotation, 'attributes'>): Change[] {
  const said = annotation.attributes ?? {}
  return Object.entries(defaultsOf(labels.find((l) => l.name === label))).flatMap(([name, value]): Change[] => (name in said ? [] : [{ op: 'attribute', name, value }]))
}

/** A shape called otherwise: what only its former label asks for goes, what the new one says by itself comes. */
export function called(labels: readonly LabelDefinition[], shape: Shape, label: string): Shape {
  const [from, to] = [shape.label, label].map((name) => labels.find((l) => l.name === name))
  const asked = new Set(to?.attributes.map((a) => a.name))
  const kept = Object.entries(shape.attributes ?? {}).filter(([name]) => asked.has(name) || !from?.attributes.some((a) => a.name === name))
  const attributes = { ...defaultsOf(to), ...Object.fromEntries(kept) }
  const { attributes: _old, ...rest } = shape
  void _old
  return { ...rest, label, ...(Object.keys(attributes).length > 0 && { attributes }) } as Shape
}
