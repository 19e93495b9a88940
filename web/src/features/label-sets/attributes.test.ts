import { expect, test } from 'vitest'
import { attributeFaults, cleanAttributes, retyped, type Attribute } from './attributes'

const colour: Attribute = { name: 'colour', type: 'choice', choices: ['red', 'blue'], required: true, default: 'red', title: { en: 'Colour', zh: '颜色' } }

test('faults name the place and the member', () => {
  expect(attributeFaults([colour, { name: 'doors', type: 'number', default: 4 }])).toEqual([])
  expect(attributeFaults([colour, { ...colour, choices: [] }, { name: ' ', type: 'text', default: 'x'.repeat(1001) }])).toEqual([
    { at: 1, member: 'name', rule: 'duplicate' }, { at: 1, member: 'choices', rule: 'choices' },
    { at: 2, member: 'name', rule: 'required' }, { at: 2, member: 'default', rule: 'text' },
  ])
  expect(attributeFaults([{ ...colour, default: 'green' }])).toEqual([{ at: 0, member: 'default', rule: 'choice' }])
  expect(attributeFaults([{ ...colour, choices: ['a', 'a'] }])[0]?.rule).toBe('choices')
})

test('what says nothing is not sent', () => {
  expect(cleanAttributes([colour])).toEqual([colour])
  expect(cleanAttributes([{ name: ' a ', type: 'text', title: { en: ' ', zh: '' }, required: false, default: '', choices: null }])).toEqual([{ name: 'a', type: 'text' }])
  expect(cleanAttributes([{ name: 'parked', type: 'flag', default: false }])).toEqual([{ name: 'parked', type: 'flag', default: false }])
})

test('another type keeps the name and forgets choices and default', () => {
  expect(retyped(colour, 'flag')).toEqual({ name: 'colour', type: 'flag', required: true, title: { en: 'Colour', zh: '颜色' } })
  expect(retyped({ name: 'a', type: 'text', default: 'x' }, 'choice')).toEqual({ name: 'a', type: 'choice', choices: [] })
})
