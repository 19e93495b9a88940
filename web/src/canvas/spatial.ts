// Which shapes are where: for culling, hits, rubber bands and snapping.
import RBush from 'rbush'
import type { CanvasDocument } from './document'
import { bounds } from './geometry/shape'
import { isEmpty, type Rect } from './geometry/point'
import type { Shape } from './model'

interface Item extends Rect {
  readonly id: string
}

export interface ShapeIndex {
  /** In order of the document, the first at the bottom. */
  search(r: Rect): Shape[]
  boundsOf(id: string): Rect | undefined
  /** Brings one shape up to date after it was put or removed; the places where it was and is. */
  update(id: string): Rect[]
  reload(): void
}

export function createIndex(document: CanvasDocument): ShapeIndex {
  const tree = new RBush<Item>()
  const items = new Map<string, Item>()
  const order = new Map<string, number>()
  let orderOf = -1

  function itemOf(shape: Shape): Item | null {
    const r = bounds(shape)
    return isEmpty(r) ? null : { ...r, id: shape.id }
  }

  function reload(): void {
    tree.clear()
    items.clear()
    for (const shape of document.shapes) {
      const item = itemOf(shape)
      if (item) items.set(shape.id, item)
    }
    tree.load([...items.values()])
  }

  /** Numbers of shapes, counted again only after the document changed. */
  function places(): ReadonlyMap<string, number> {
    if (orderOf !== document.version) {
      order.clear()
      document.shapes.forEach((shape, i) => order.set(shape.id, i))
      orderOf = document.version
    }
    return order
  }

  reload()
  return {
    search(r) {
      const found = tree.search(r)
      const at = places()
      return found.map(({ id }) => ({ id, at: at.get(id) ?? -1 })).filter(({ at: i }) => i >= 0).sort((a, b) => a.at - b.at)
        .map(({ id }) => document.shape(id)).filter((s) => s !== undefined)
    },
    boundsOf: (id) => items.get(id),
    update(id) {
      const old = items.get(id)
      if (old) tree.remove(old)
      items.delete(id)
      const shape = document.shape(id)
      const item = shape && itemOf(shape)
      if (item) {
        items.set(id, item)
        tree.insert(item)
      }
      return [old, item].filter((r) => r !== undefined && r !== null)
    },
    reload,
  }
}
