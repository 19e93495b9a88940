// Labels of a label set, two levels. Pure functions over plain data: the editor and its tests share them.
import { attributeFaults, cleanAttributes, type Attribute } from './attributes'

export interface Leaf {
  name: string
  /** The name that it came with; never sent. */
  was?: string
  color: string
  key?: string | null
  /** What the label asks of each thing that bears it, and whether it is offered no more. */
  attributes?: Attribute[]
  retired?: boolean
  /** The skeleton of keypoints: names of its points, and pairs of their numbers from 0. Kept as it is. */
  keypoints?: string[]
  edges?: [number, number][]
}

export interface Label extends Leaf {
  children?: Leaf[]
}

/** [2]: the third label; [2, 0]: its first child. */
export type Path = readonly [number] | readonly [number, number]

export const palette = [
  '#e5484d', '#f76b15', '#ffb224', '#99b80c', '#46a758', '#12a594', '#00a2c7', '#0090ff',
  '#3e63dd', '#6e56cf', '#8e4ec6', '#d6409f', '#a18072', '#687076', '#2b3a42', '#ffffff',
]

function kept({ keypoints, edges, attributes, retired }: Partial<Leaf>): Partial<Leaf> {
  return { ...(keypoints && { keypoints }), ...(edges && { edges }), ...(attributes && { attributes }), ...(retired && { retired }) }
}

/** What the API may leave out is filled in: programs need not choose colours. */
export function normalize(value: unknown): Label[] {
  const leaf = (l: Partial<Leaf>, i: number): Leaf => ({ name: l.name ?? '', ...(l.name && { was: l.name }), color: l.color ?? palette[i % 14] ?? '#687076', key: l.key ?? null, ...kept(l) })
  const list = Array.isArray(value) ? (value as Partial<Label>[]) : []
  return list.map((l, i) => ({ ...leaf(l, i), children: (l.children ?? []).map(leaf) }))
}

/** The first colour of the palette that no label has yet, else they are dealt out in turn. */
export function nextColor(labels: readonly Label[]): string {
  const used = new Set(labels.flatMap((l) => [l.color, ...(l.children ?? []).map((c) => c.color)]).map((c) => c.toLowerCase()))
  return palette.slice(0, 14).find((c) => !used.has(c)) ?? palette[labels.length % 14] ?? '#0090ff'
}

export function leafAt(labels: readonly Label[], path: Path): Leaf | undefined {
  const top = labels[path[0]]
  return path.length === 1 ? top : top?.children?.[path[1]]
}

export function siblings(labels: readonly Label[], path: Path): readonly Leaf[] {
  return path.length === 1 ? labels : (labels[path[0]]?.children ?? [])
}

function replaceLevel(labels: readonly Label[], path: Path, change: (level: Leaf[]) => Leaf[]): Label[] {
  if (path.length === 1) return change([...labels]) as Label[]
  return labels.map((label, i) => (i === path[0] ? { ...label, children: change([...(label.children ?? [])]) } : label))
}

export function update(labels: readonly Label[], path: Path, part: Partial<Leaf>): Label[] {
  return replaceLevel(labels, path, (level) => level.map((leaf, i) => (i === path.at(-1) ? { ...leaf, ...part } : leaf)))
}

export function remove(labels: readonly Label[], path: Path): Label[] {
  return replaceLevel(labels, path, (level) => level.filter((_, i) => i !== path.at(-1)))
}

export function add(labels: readonly Label[]): Label[] {
  return [...labels, { name: '', color: nextColor(labels), key: null, children: [] }]
}

export function addChild(labels: readonly Label[], parent: number): Label[] {
  const color = nextColor(labels)
  return labels.map((label, i) => (i === parent ? { ...label, children: [...(label.children ?? []), { name: '', color, key: null }] } : label))
}

/** Moves within its level; out of range stays at the end. */
export function move(labels: readonly Label[], path: Path, to: number): Label[] {
  return replaceLevel(labels, path, (level) => {
    const from = path.at(-1) ?? 0
    const [leaf] = level.splice(from, 1)
    if (leaf) level.splice(Math.max(0, Math.min(level.length, to)), 0, leaf)
    return level
  })
}

export type Fault = { path: Path; field: 'name' | 'color' | 'key' | 'attributes'; rule: 'required' | 'name' | 'maxLength' | 'duplicate' | 'color' | 'key' | 'attributes'; other?: string }

export interface LabelPath {
  /** How the set is asked for it: its name, or parent/name where another has that name. */
  path: string
  /** With what it stands below, whether or not that is needed. */
  full: string
  name: string
  color: string
  /** Others stand below it. */
  above: boolean
}

/** All labels of both levels, each with the name by which it alone is meant. */
export function pathsOf(labels: readonly Label[]): LabelPath[] {
  const all = labels.flatMap((l) => [{ parent: '', leaf: l as Leaf, above: (l.children ?? []).length > 0 }, ...(l.children ?? []).map((leaf) => ({ parent: l.name, leaf, above: false }))])
  const alone = (name: string) => all.filter((one) => one.leaf.name === name).length === 1
  return all.map(({ parent, leaf, above }) => {
    const full = parent === '' ? leaf.name : `${parent}/${leaf.name}`
    return { path: alone(leaf.name) ? leaf.name : full, full, name: leaf.name, color: leaf.color, above }
  })
}

export function nameFault(name: string): 'name' | 'maxLength' | null {
  return forbidden.test(name) ? 'name' : [...name].length > 50 ? 'maxLength' : null
}

const forbidden = /[/:*?"<'>|]/

export function faults(labels: readonly Label[]): Fault[] {
  const found: Fault[] = []
  const keys = new Map<string, string>()
  const level = (leaves: readonly Leaf[], path: (i: number) => Path) => {
    const names = new Set<string>()
    leaves.forEach((leaf, i) => {
      const at = path(i)
      const name = leaf.name.trim()
      if (name === '') found.push({ path: at, field: 'name', rule: 'required' })
      else if (names.has(name)) found.push({ path: at, field: 'name', rule: 'duplicate' })
      else if (forbidden.test(name)) found.push({ path: at, field: 'name', rule: 'name' })
      else if ([...name].length > 50) found.push({ path: at, field: 'name', rule: 'maxLength' })
      names.add(name)
      if (!/^#[0-9a-f]{6}$/i.test(leaf.color)) found.push({ path: at, field: 'color', rule: 'color' })
      if (attributeFaults(leaf.attributes ?? []).length > 0) found.push({ path: at, field: 'attributes', rule: 'attributes' })
      const key = leaf.key?.toLowerCase()
      if (key) {
        const other = keys.get(key)
        if (!/^[a-z0-9]$/.test(key)) found.push({ path: at, field: 'key', rule: 'key' })
        else if (other !== undefined) found.push({ path: at, field: 'key', rule: 'duplicate', other })
        else keys.set(key, name)
      }
    })
  }
  level(labels, (i) => [i])
  labels.forEach((label, i) => level(label.children ?? [], (j) => [i, j]))
  return found
}

/** As the API wants it: trimmed names, no empty keys or child lists. */
export function clean(labels: readonly Label[]): Label[] {
  const leaf = (l: Leaf): Leaf => ({ name: l.name.trim(), color: l.color.toLowerCase(), ...(l.key ? { key: l.key.toLowerCase() } : {}), ...kept({ ...l, attributes: l.attributes?.length ? cleanAttributes(l.attributes) : undefined }) })
  return labels.map((label) => ({ ...leaf(label), ...(label.children?.length ? { children: label.children.map(leaf) } : {}) }))
}

export function count(labels: readonly Label[]): number {
  return labels.reduce((n, l) => n + 1 + (l.children?.length ?? 0), 0)
}
