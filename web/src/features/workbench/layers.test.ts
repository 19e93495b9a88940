import { describe, expect, test } from 'vitest'
import type { BoxShape } from '../../canvas'
import { differences, drawn, inTurn, layersOf, nextDifference, takeShape } from './layers'

const box = (id: string, x: number, y = 0, label = 'cat'): BoxShape => ({ id, type: 'box', label, x, y, w: 20, h: 20 })
const layers = layersOf([
  { id: 7, user: { id: 1, name: 'anna' }, late: false, annotation: { shapes: [box('a1', 0), box('a2', 50, 40), box('a3', 100)] } },
  { id: 9, user: { id: 2, name: 'ben' }, late: false, annotation: { shapes: [box('b1', 1), box('b2', 50, 40, 'dog')] } },
])

describe('layers of seats', () => {
  test('what not all have is named, with a colour and a dash of each', () => {
    expect(layers.list.map((l) => Object.fromEntries(l.differing))).toEqual([{ a2: 'label', a3: 'alone' }, { b2: 'label' }])
    expect(differences(layers)).toBe(3)
    expect(layers.list[0]?.color).not.toBe(layers.list[1]?.color)
    expect(layers.list[0]?.dash).not.toEqual(layers.list[1]?.dash)
    expect(drawn({ ...layers, hidden: new Set([7]) }).map((l) => l.name)).toEqual(['ben'])
    const classes = layersOf([{ id: 1, user: null, late: false, annotation: { labels: ['x', 'y'] } }, { id: 2, user: null, late: false, annotation: { labels: ['x'] } }])
    expect(classes.list.map((l) => [...l.ownLabels])).toEqual([['y'], []])
  })

  test('are shown in turn: all, each alone, none', () => {
    const seen: number[][] = []
    let now = layers
    for (let i = 0; i < 4; i += 1) {
      now = { ...now, hidden: inTurn(now) }
      seen.push(drawn(now).map((l) => l.id))
    }
    expect(seen).toEqual([[7], [9], [], [7, 9]])
  })

  test('differences are walked from above to below, over all that are shown, and around', () => {
    let now = layers
    const walked = Array.from({ length: 4 }, () => {
      now = { ...now, picked: nextDifference(now, 1) }
      return now.picked?.shape
    })
    expect(walked).toEqual(['a3', 'a2', 'b2', 'a3'])
    expect(nextDifference(layers, -1)?.shape).toBe('b2')
    expect(nextDifference({ ...layers, hidden: new Set([7, 9]) }, 1)).toBeNull()
  })

  test('taking one version of a thing removes the other, and nothing else', () => {
    const own = [box('b2', 50, 40, 'dog'), box('mine', 50, 40), box('b1', 1)]
    expect(takeShape(layers, { layer: 7, shape: 'a2' }, own)).toEqual([{ op: 'remove', shape: 'b2' }, { op: 'put', shape: box('a2', 50, 40) }])
    expect(takeShape(layers, { layer: 7, shape: 'nowhere' }, own)).toEqual([])
  })
})
