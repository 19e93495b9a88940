import { expect, test } from 'vitest'
import type { Field, Kind } from '../../api/kinds'
import { filterOf, isNarrowed, listParams } from './filters'

const field = (name: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  name, type, title: { en: name, zh: name }, help: null, required: false, create: true, update: true, search: false,
  sort: false, filter: true, unique: false, secret: false, list: false, long: false, virtual: false, min: null,
  max: null, item_max: null, rule: null, choices: null, ref: null, default: null, unit: null, advanced: false, section: 'what', mount: null, ...more,
})
const kind: Kind = {
  name: 'job', plural: 'jobs', scope: 'project', parent: null, collection: null, menu: 'build', title: { en: '', zh: '' },
  titles: { en: '', zh: '' }, help: null, public: false, verbs: ['list'], permissions: {}, actions: [],
  fields: [field('name', 'text'), field('state', 'choice'), field('public', 'bool'), field('owner', 'ref'), field('at', 'time')],
}

test('facets become a conjunction; values are quoted as JSON', () => {
  const params = new URLSearchParams('state=a"b&public=true&owner=7&name=x')
  expect(filterOf(kind, params)).toBe('state = "a\\"b" and public = true and owner = 7')
})

test('one of several choices', () => {
  expect(filterOf(kind, new URLSearchParams('state=failed,degraded'))).toBe('state in ("failed", "degraded")')
})

test('nonsense in the address is left out', () => {
  expect(filterOf(kind, new URLSearchParams('public=maybe&owner=x&at.from=yesterday'))).toBeUndefined()
})

test('days include their end', () => {
  const filter = filterOf(kind, new URLSearchParams('at.from=2026-11-16&at.to=2026-11-16')) ?? ''
  const [from, to] = [...filter.matchAll(/"([^"]+)"/g)].map((m) => Date.parse(m[1] ?? ''))
  expect((to ?? 0) - (from ?? 0)).toBe(86_400_000)
})

test('the fixed part comes first; sort does not narrow', () => {
  expect(listParams(kind, new URLSearchParams('q=a&mine=1&state=x'), 'id = 3')).toEqual({ q: 'a', mine: true, sort: undefined, filter: 'id = 3 and state = "x"' })
  expect(isNarrowed(new URLSearchParams('sort=-name&tab=members'))).toBe(false)
  expect(isNarrowed(new URLSearchParams('q=a'))).toBe(true)
})
