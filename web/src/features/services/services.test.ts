import { describe, expect, it } from 'vitest'
import { above, ranking, shareText } from './services'
import { snippets } from './snippets'

describe('predictions', () => {
  it('hides what is below the threshold', () => {
    const shapes = [{ type: 'box' as const, score: 0.2 }, { type: 'box' as const, score: 0.8 }, { type: 'box' as const }]
    expect(above({ shapes }, 0.5).shapes).toEqual([shapes[1], shapes[2]])
  })
  it('ranks labels by score', () => {
    expect(ranking({ scores: { cat: 0.1, dog: 0.7, cow: 0.2 } }, 2)).toEqual([['dog', 0.7], ['cow', 0.2]])
    expect(ranking({ labels: ['cat'] }, 2)).toEqual([])
  })
  it('writes shares', () => {
    expect(shareText(100)).toBe('10 %')
    expect(shareText(5)).toBe('0.5 %')
  })
})

describe('snippets', () => {
  it('never hold the key itself', () => {
    for (const { text } of snippets('http://127.0.0.1:8082/vision/fruit', true)) {
      expect(text).toContain('http://127.0.0.1:8082/vision/fruit')
      expect(text).toContain('INGOT_KEY')
    }
  })
})
