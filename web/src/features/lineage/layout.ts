// Where the nodes of a lineage stand: a column for each step away from the object, sources on the left. Free of React.
export interface Place {
  key: string
  x: number
  y: number
}

export interface Line {
  from: string
  to: string
  as: string
  path: string
}

export interface Layout {
  width: number
  height: number
  places: Map<string, Place>
  lines: Line[]
}

interface Node {
  key: string
  depth: number
}

interface Edge {
  from: string
  to: string
  as: string
}

export const nodeWidth = 192
export const nodeHeight = 56
const gapX = 40
const gapY = 16

/** The middle of those it is joined to in a column that has its order already; Infinity without any. */
function middle(key: string, edges: readonly Edge[], order: ReadonlyMap<string, number>): number {
  const rows = edges.flatMap((e) => (e.from === key ? [order.get(e.to)] : e.to === key ? [order.get(e.from)] : [])).filter((row) => row !== undefined)
  return rows.length ? rows.reduce((sum, row) => sum + row, 0) / rows.length : Infinity
}

/** Columns from left to right, the rows of each near what they are joined to: outwards from the object itself. */
export function columnsOf(nodes: readonly Node[], edges: readonly Edge[]): string[][] {
  const depths = [...new Set(nodes.map((n) => n.depth))].sort((a, b) => Math.abs(a) - Math.abs(b) || a - b)
  const order = new Map<string, number>()
  const columns = new Map<number, string[]>()
  for (const depth of depths) {
    const keys = nodes.filter((n) => n.depth === depth).map((n) => n.key)
    const middles = new Map(keys.map((key) => [key, middle(key, edges, order)]))
    const sorted = keys.map((key, i) => ({ key, i })).sort((a, b) => {
      const [one, other] = [middles.get(a.key) ?? 0, middles.get(b.key) ?? 0]
      return one === other ? a.i - b.i : one - other
    }).map((one) => one.key)
    // Around the middle, so that columns of different lengths are compared by how far from it they stand.
    sorted.forEach((key, i) => order.set(key, i - (sorted.length - 1) / 2))
    columns.set(depth, sorted)
  }
  return [...columns.entries()].sort(([a], [b]) => a - b).map(([, keys]) => keys)
}

/** A curve from the right side of one to the left side of the other; of two in one column around its side. */
function curve(from: Place, to: Place): string {
  const [x1, y1] = [from.x + nodeWidth, from.y + nodeHeight / 2]
  const y2 = to.y + nodeHeight / 2
  if (from.x === to.x) return `M ${x1} ${y1} C ${x1 + gapX / 2} ${y1}, ${x1 + gapX / 2} ${y2}, ${x1} ${y2}`
  const half = Math.max(gapX / 2, (to.x - x1) / 2)
  return `M ${x1} ${y1} C ${x1 + half} ${y1}, ${to.x - half} ${y2}, ${to.x} ${y2}`
}

export function layOut(nodes: readonly Node[], edges: readonly Edge[]): Layout {
  const columns = columnsOf(nodes, edges)
  const most = Math.max(1, ...columns.map((keys) => keys.length))
  const height = most * (nodeHeight + gapY) - gapY
  const places = new Map<string, Place>()
  columns.forEach((keys, column) => {
    const top = (height - (keys.length * (nodeHeight + gapY) - gapY)) / 2
    keys.forEach((key, row) => places.set(key, { key, x: column * (nodeWidth + gapX), y: top + row * (nodeHeight + gapY) }))
  })
  const lines = edges.flatMap((edge) => {
    const from = places.get(edge.from)
    const to = places.get(edge.to)
    return from && to ? [{ ...edge, path: curve(from, to) }] : []
  })
  return { width: columns.length * (nodeWidth + gapX) - gapX, height, places, lines }
}
