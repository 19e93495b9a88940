import { describe, expect, it } from 'vitest'
import { createDocument, type CanvasDocument, type DocumentEvent } from './document'
import { newId, type AnnotationType, type BoxShape } from './model'

const box = (id: string, x = 0): BoxShape => ({ id, type: 'box', label: 'cat', x, y: 0, w: 10, h: 10 })
const open = (shapes: BoxShape[] = [], type: AnnotationType = 'detection'): CanvasDocument => createDocument({ annotation: { shapes }, type, width: 100, height: 100 })
const ids = (d: CanvasDocument): string[] => d.shapes.map((s) => s.id)

describe('the document', () => {
  it('undoes and redoes adding, changing, ordering and removing', () => {
    const d = open([box('a'), box('b')])
    d.change({ op: 'put', shape: box('c') })
    d.change({ op: 'put', shape: box('a', 5) })
    d.change({ op: 'put', shape: box('a', 5), at: 2 })
    d.change([{ op: 'remove', shape: 'b' }, { op: 'remove', shape: 'c' }])
    expect(ids(d)).toEqual(['a'])
    const seen: string[][] = [ids(d)]
    while (d.undo()) seen.push(ids(d))
    expect(seen).toEqual([['a'], ['b', 'c', 'a'], ['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b']])
    expect(d.shape('a')).toEqual(box('a'))
    while (d.redo());
    expect(d.annotation()).toEqual({ shapes: [box('a', 5)] })
  })

  it('tells what undo did, to be sent', () => {
    const d = open([box('a')])
    const told: DocumentEvent[] = []
    const off = d.listen((e) => told.push(e))
    d.change({ op: 'remove', shape: 'a' })
    d.undo()
    expect(told).toEqual([{ changes: [{ op: 'remove', shape: 'a' }], origin: 'local' }, { changes: [{ op: 'put', shape: box('a'), at: 0 }], origin: 'undo' }])
    off()
    d.redo()
    expect(told).toHaveLength(2)
  })

  it('never undoes what others did, and passes over what they removed', () => {
    const d = open([box('a'), box('b')])
    d.change({ op: 'put', shape: box('a', 1) })
    d.change({ op: 'put', shape: box('b', 1) })
    d.change({ op: 'put', shape: box('b', 2) })
    d.receive({ op: 'remove', shape: 'b' })
    expect(d.undo()).toBe(true)
    expect(d.shape('b')).toBeUndefined()
    expect(d.shape('a')).toEqual(box('a'))
    expect(d.undo()).toBe(false)
  })

  it('keeps a shape that somebody else moved since', () => {
    const d = open([box('a')])
    d.change({ op: 'put', shape: box('a', 1) })
    d.receive({ op: 'put', shape: box('a', 50) })
    expect(d.undo()).toBe(false)
    expect(d.shape('a')).toEqual(box('a', 50))
  })

  it('undoes the part of a step that is still there', () => {
    const d = open([box('a'), box('b')])
    d.change([{ op: 'put', shape: box('a', 1) }, { op: 'put', shape: box('b', 1) }])
    d.receive({ op: 'put', shape: box('b', 9) })
    expect(d.undo()).toBe(true)
    expect([d.shape('a'), d.shape('b')]).toEqual([box('a'), box('b', 9)])
    expect(d.redo()).toBe(true)
    expect([d.shape('a'), d.shape('b')]).toEqual([box('a', 1), box('b', 9)])
  })

  it("undoes its own change also after the server's clipping", () => {
    const d = open([box('a')])
    d.change({ op: 'put', shape: box('a', 95) })
    d.receive({ op: 'put', shape: { ...box('a', 95), w: 5 } }, { own: true })
    expect(d.undo()).toBe(true)
    expect(d.shape('a')).toEqual(box('a'))
  })

  it('has one label or several', () => {
    const one = open([], 'image-class')
    one.change({ op: 'label', label: 'cat', on: true })
    one.change({ op: 'label', label: 'dog', on: true })
    expect(one.labels).toEqual(['dog'])
    one.undo()
    expect(one.labels).toEqual(['cat'])
    one.undo()
    expect(one.labels).toEqual([])
    const several = open([], 'image-classes')
    several.change([{ op: 'label', label: 'dog', on: true }, { op: 'label', label: 'cat', on: true }])
    expect(several.labels).toEqual(['cat', 'dog'])
    several.change({ op: 'label', label: 'dog', on: false })
    several.undo()
    expect(several.labels).toEqual(['cat', 'dog'])
  })

  it('has text and attributes', () => {
    const d = open([], 'transcription')
    d.change({ op: 'text', text: 'hello' })
    d.change({ op: 'attribute', name: 'noise', value: 'low' })
    d.change({ op: 'attribute', name: 'noise', value: null })
    expect(d.annotation()).toEqual({ text: 'hello' })
    d.undo()
    expect(d.attributes).toEqual({ noise: 'low' })
    d.undo()
    d.undo()
    expect(d.annotation()).toEqual({})
  })

  it('replaces all at once', () => {
    const d = open([box('a')])
    d.change({ op: 'replace', annotation: { shapes: [box('x')] } })
    expect(ids(d)).toEqual(['x'])
    d.undo()
    expect(ids(d)).toEqual(['a'])
  })

  it('drops changes that change nothing', () => {
    const d = open([box('a')])
    d.change([{ op: 'put', shape: box('a') }, { op: 'remove', shape: 'none' }, { op: 'text', text: null }])
    expect(d.canUndo).toBe(false)
    expect(d.version).toBe(0)
  })

  it('has no limit of steps', () => {
    const d = open([box('a')])
    for (let i = 1; i <= 5_000; i += 1) d.change({ op: 'put', shape: box('a', i / 100) })
    let steps = 0
    while (d.undo()) steps += 1
    expect(steps).toBe(5_000)
    expect(d.shape('a')).toEqual(box('a'))
  })

  it('gives ids to shapes without, and other ones to doubles', () => {
    const d = createDocument({ annotation: { shapes: [box('a'), box('a'), { ...box(''), id: '' }] }, type: 'detection', width: 1, height: 1 })
    expect(new Set(ids(d)).size).toBe(3)
    expect(newId()).toMatch(/^[A-Za-z0-9]{10}$/)
  })
})

it('what is typed during one visit of a field is one step of undo', () => {
  const document = createDocument({ annotation: { shapes: [{ id: 'a', type: 'box', x: 0, y: 0, w: 1, h: 1 }] }, type: 'ocr', width: 9, height: 9 })
  const type = (text: string, visit: string) => document.change({ op: 'put', shape: { id: 'a', type: 'box', x: 0, y: 0, w: 1, h: 1, text } }, visit)
  const text = () => document.shape('a')?.text
  for (const part of ['S', 'ST', 'STOP']) type(part, 'one')
  type('STOP!', 'two')
  document.undo()
  expect(text()).toBe('STOP')
  type('STOP?', 'two')
  document.undo()
  document.undo()
  expect(text()).toBeUndefined()
  document.redo()
  expect(text()).toBe('STOP')
})
