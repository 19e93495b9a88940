// What the document holds, target by target. Applying a change gives an entry: the target with its value before and after,
// which is all that undo needs.
import { relabelled } from './relabel'
import { same, type Annotation, type Change, type Shape } from './model'

/** A shape and its place in the order. */
export interface Placed {
  readonly shape: Shape
  readonly at: number
}

/** One target and what it was and became; null is "not there". */
export type Entry =
  | { readonly target: 'shape'; readonly id: string; readonly before: Placed | null; readonly after: Placed | null }
  | { readonly target: 'label'; readonly id: string; readonly before: string | null; readonly after: string | null }
  | { readonly target: 'text'; readonly id: ''; readonly before: string | null; readonly after: string | null }
  | { readonly target: 'attribute'; readonly id: string; readonly before: unknown; readonly after: unknown }
  | { readonly target: '*'; readonly id: ''; readonly before: Annotation; readonly after: Annotation }

export interface State {
  readonly shapes: readonly Shape[]
  readonly labels: readonly string[]
  readonly text: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  shape(id: string): Shape | undefined
  indexOf(id: string): number
  annotation(): Annotation
  /** Null when the change changes nothing. */
  apply(change: Change): Entry | null
}

export function createState(first: Annotation, oneLabel: boolean): State {
  let rest: Annotation = {}
  let shapes: Shape[] = []
  let ids: string[] = []
  let byId = new Map<string, Shape>()
  let labels: string[] = []
  let text: string | null = null
  let attributes: Record<string, unknown> = {}

  function load(annotation: Annotation): void {
    const { shapes: s, labels: l, text: t, attributes: a, ...others } = annotation
    rest = others
    shapes = [...(s ?? [])]
    ids = shapes.map((one) => one.id)
    byId = new Map(shapes.map((one) => [one.id, one]))
    labels = [...(l ?? [])]
    text = t ?? null
    attributes = { ...a }
  }

  function annotation(): Annotation {
    return {
      ...rest,
      ...(shapes.length > 0 && { shapes: [...shapes] }),
      ...(labels.length > 0 && { labels: [...labels] }),
      ...(text !== null && { text }),
      ...(Object.keys(attributes).length > 0 && { attributes: { ...attributes } }),
    }
  }

  function put(shape: Shape, to: number | undefined): Entry | null {
    const was = byId.get(shape.id)
    const from = was ? ids.indexOf(shape.id) : -1
    const last = was ? shapes.length - 1 : shapes.length
    const at = to === undefined ? (was ? from : last) : Math.max(0, Math.min(last, Math.trunc(to)))
    if (was && at === from && same(was, shape)) return null
    if (was && at === from) {
      shapes[at] = shape
    } else {
      if (was) remove(from)
      shapes.splice(at, 0, shape)
      ids.splice(at, 0, shape.id)
    }
    byId.set(shape.id, shape)
    return { target: 'shape', id: shape.id, before: was ? { shape: was, at: from } : null, after: { shape, at } }
  }

  function remove(at: number): void {
    shapes.splice(at, 1)
    ids.splice(at, 1)
  }

  function take(id: string): Entry | null {
    const was = byId.get(id)
    if (!was) return null
    const at = ids.indexOf(id)
    remove(at)
    byId.delete(id)
    return { target: 'shape', id, before: { shape: was, at }, after: null }
  }

  function label(name: string, on: boolean): Entry | null {
    const before = oneLabel ? (labels[0] ?? null) : labels.includes(name) ? name : null
    if (on ? before === name : before !== name) return null
    labels = on && oneLabel ? [name] : on ? [...labels, name].sort() : labels.filter((l) => l !== name)
    return { target: 'label', id: oneLabel ? '' : name, before, after: on ? name : null }
  }

  function setText(value: string | null): Entry | null {
    if (value === text) return null
    const before = text
    text = value
    return { target: 'text', id: '', before, after: value }
  }

  function setAttribute(name: string, value: unknown): Entry | null {
    const before = Object.hasOwn(attributes, name) ? attributes[name] : null
    const after = value ?? null
    if (same(before, after)) return null
    attributes = { ...attributes, [name]: after }
    if (after === null) Reflect.deleteProperty(attributes, name)
    return { target: 'attribute', id: name, before, after }
  }

  function replace(next: Annotation): Entry | null {
    const before = annotation()
    if (same(before, next)) return null
    load(next)
    return { target: '*', id: '', before, after: annotation() }
  }

  load(first)
  return {
    get shapes() { return shapes },
    get labels() { return labels },
    get text() { return text },
    get attributes() { return attributes },
    shape: (id) => byId.get(id),
    indexOf: (id) => (byId.has(id) ? ids.indexOf(id) : -1),
    annotation,
    apply(change) {
      switch (change.op) {
        case 'put': return put(change.shape, change.at)
        case 'remove': return take(change.shape)
        case 'label': return label(change.label, change.on)
        case 'text': return setText(change.text)
        case 'attribute': return setAttribute(change.name, change.value)
        case 'replace': return replace(change.annotation)
        case 'relabel': return replace(relabelled(annotation(), change.labels))
      }
    },
  }
}
