import { expect, test } from 'vitest'
import { columnsOf, layOut, nodeHeight, nodeWidth } from './layout'

const nodes = [
  { key: 'model', depth: 0 }, { key: 'run', depth: -1 }, { key: 'data', depth: -2 }, { key: 'code', depth: -2 },
  { key: 'second', depth: 1 }, { key: 'first', depth: 1 }, { key: 'of first', depth: 2 }, { key: 'of second', depth: 2 },
]
const edges = [
  { from: 'data', to: 'run', as: 'data' }, { from: 'code', to: 'run', as: 'code' }, { from: 'run', to: 'model', as: 'made' },
  { from: 'model', to: 'second', as: 'serves' }, { from: 'model', to: 'first', as: 'serves' },
  { from: 'first', to: 'of first', as: 'from' }, { from: 'second', to: 'of second', as: 'from' },
]

test('sources stand on the left, and rows in the order of what they belong to', () => {
  expect(columnsOf(nodes, edges)).toEqual([['data', 'code'], ['run'], ['model'], ['second', 'first'], ['of second', 'of first']])
})

test('no two nodes cover each other, and every line ends at its nodes', () => {
  const { places, lines, width, height } = layOut(nodes, edges)
  const all = [...places.values()]
  for (const a of all) {
    expect(a.x + nodeWidth <= width && a.y + nodeHeight <= height && a.x >= 0 && a.y >= 0).toBe(true)
    for (const b of all) expect(a === b || Math.abs(a.x - b.x) >= nodeWidth || Math.abs(a.y - b.y) >= nodeHeight).toBe(true)
  }
  expect(lines).toHaveLength(edges.length)
  for (const line of lines) expect(line.path.startsWith(`M ${(places.get(line.from)?.x ?? 0) + nodeWidth} `)).toBe(true)
})

test('an edge to what is not there is left out, and one node is a graph', () => {
  expect(layOut([{ key: 'a', depth: 0 }], [{ from: 'a', to: 'gone', as: 'x' }])).toMatchObject({ width: nodeWidth, height: nodeHeight, lines: [] })
})
