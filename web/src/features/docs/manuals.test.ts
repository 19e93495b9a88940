import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markdown, type Block, type Inline } from '../../components/markdown'
import { manualUrl, type Manual } from '../../app/links'
import { manuals, resolveIn, sections } from './manuals'
import { docsZh } from '../../i18n/docs.zh'
import { chineseAnchors, chineseHeading } from '../../i18n/manuals.zh'
import { search, type Entry } from './search'

const folder = join(__dirname, '../../../../docs')
const source = (name: string) => readFileSync(join(folder, `${name}.md`), 'utf8')

function linksOf(inside: readonly Inline[]): string[] {
  return inside.flatMap((p) => ('inside' in p ? [...(p.type === 'link' ? [p.url] : []), ...linksOf(p.inside)] : []))
}

function wordsOf(block: Block): Inline[] {
  if (block.type === 'table') return [block.head, ...block.rows].flat(2)
  return block.type === 'list' ? block.items.flat() : 'inside' in block ? block.inside : []
}

test('every manual of docs/ has its place', () => {
  const there = readdirSync(folder).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3))
  expect([...manuals].sort()).toEqual(there.sort())
})

test('links between the manuals lead to headings that are there', () => {
  const anchors = new Map(manuals.map((name) => [name as string, new Set(sections(source(name)).map((one) => one.anchor))]))
  let followed = 0
  for (const name of manuals) {
    for (const url of markdown(source(name), resolveIn(name)).flatMap((block) => linksOf(wordsOf(block)))) {
      const [, manual, anchor] = /^\/docs\/([a-z0-9-]+)(?:#(.*))?$/.exec(url) ?? []
      if (!manual) continue
      followed += 1
      expect(anchors.has(manual), `${name}: ${url}`).toBe(true)
      if (anchor) expect(anchors.get(manual)?.has(anchor), `${name}: ${url}`).toBe(true)
    }
  }
  expect(followed).toBeGreaterThan(40)
})

test('links of pages to their manuals lead to headings that are there', () => {
  for (const kind of ['label_set', 'label_task', 'team', 'spec', 'node_pool', 'token', 'session', 'role']) {
    const [, manual, anchor] = /^\/docs\/([a-z0-9-]+)#(.*)$/.exec(manualUrl(kind) ?? '') ?? []
    expect(sections(source(manual ?? '')).map((one) => one.anchor), kind).toContain(anchor)
  }
  expect(manualUrl('nothing')).toBeNull()
})

test('where links of a manual lead', () => {
  const resolve = resolveIn('jobs')
  expect(resolve('labelling.md#keys')).toBe('/docs/labelling#keys')
  expect(resolve('#devices')).toBe('/docs/jobs#devices')
  expect(resolve('https://example.org/a')).toBe('https://example.org/a')
  for (const other of ['../src/exec/exec.h', 'javascript:alert(1)', '//evil.example', 'nothing.md', '']) expect(resolve(other), other).toBe('')
})

test('tables, lists and code of a manual come through whole', () => {
  expect(markdown('| a | b |\n|---|---|\n| `x \\| y` | [z](api.md) |\n\n- one\n  goes on\n- two\n```sh\nls\n```', resolveIn('cli'))).toEqual([
    { type: 'table', head: [[{ type: 'text', text: 'a' }], [{ type: 'text', text: 'b' }]], rows: [[[{ type: 'code', text: 'x | y' }], [{ type: 'link', url: '/docs/api', inside: [{ type: 'text', text: 'z' }] }]]] },
    { type: 'list', ordered: false, items: [[{ type: 'text', text: 'one goes on' }], [{ type: 'text', text: 'two' }]] },
    { type: 'code', text: 'ls', language: 'sh' },
  ])
})

test('the search finds words in any place, headings first, with the words around them', () => {
  const entries = manuals.flatMap((name: Manual) => sections(source(name)).map((one): Entry => ({ url: `${name}#${one.anchor}`, title: one.title, where: name, text: one.text })))
  expect(search(entries, 'backup restore')[0]?.url).toBe('cli#backup-and-restore')
  expect(search(entries, 'resuming')[0]?.url).toBe('training#resuming')
  const [hit] = search(entries, 'bring them back')
  expect(hit?.excerpt.filter((_, i) => i % 2 === 1).join(' ')).toMatch(/back/i)
  expect(search(entries, 'nosuchwordanywhere')).toEqual([])
  expect(search(entries, '  ')).toEqual([])
  expect(search(entries, '(.*)[')).toEqual([])
})

const chinese = manuals.flatMap((name: Manual) => sections(source(name)).map((one): Entry => {
  const own = chineseHeading(name, one.anchor)
  return { url: `${name}#${one.anchor}`, title: `${own?.title ?? ''} · ${one.title}`, where: docsZh[`docs.manual.${name}`], text: one.text, also: own?.words }
}))

test('every section of a manual has a Chinese heading, and none is of a section that went', () => {
  for (const name of manuals) {
    const there = sections(source(name)).map((one) => one.anchor).filter(Boolean)
    expect(chineseAnchors(name).sort(), name).toEqual(there.sort())
    for (const anchor of there) expect(chineseHeading(name, anchor)?.title, `${name}#${anchor}`).toMatch(/\p{Script=Han}|[A-Z]/u)
  }
})

test.each([
  ['备份', 'cli#backup-and-restore'], ['断点续训', 'training#resuming'], ['快捷键', 'labelling#keys'], ['忘记密码怎么办', 'sign-in#passwords'], ['显卡', 'jobs#devices'],
  ['怎么导入COCO', 'annotations#formats'], ['离线 模型', 'built-in-models#machines-without-a-network'], ['灰度', 'gateway#canary'], ['混淆矩阵', 'evaluation#the-report'], ['单点登录', 'sign-in#providers'],
])('the search finds %s', (query, url) => {
  expect(search(chinese, query).slice(0, 3).map((hit) => hit.url)).toContain(url)
})
