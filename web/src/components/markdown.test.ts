import { expect, test } from 'vitest'
import { markdown, safeUrl } from './markdown'

test('headings, lists, code, pictures and links', () => {
  expect(markdown('# Cars\n\nDraw **every** car.\n- one\n- `two`\n\n![car](/api/x.png)\n1. a\n2. b\n```\n<b>\n```')).toEqual([
    { type: 'heading', level: 1, inside: [{ type: 'text', text: 'Cars' }] },
    { type: 'paragraph', inside: [{ type: 'text', text: 'Draw ' }, { type: 'strong', inside: [{ type: 'text', text: 'every' }] }, { type: 'text', text: ' car.' }] },
    { type: 'list', ordered: false, items: [[{ type: 'text', text: 'one' }], [{ type: 'code', text: 'two' }]] },
    { type: 'paragraph', inside: [{ type: 'picture', url: '/api/x.png', alt: 'car' }] },
    { type: 'list', ordered: true, items: [[{ type: 'text', text: 'a' }], [{ type: 'text', text: 'b' }]] },
    { type: 'code', text: '<b>' },
  ])
})

test('nothing that runs gets through', () => {
  for (const url of ['javascript:alert(1)', 'data:text/html,x', '//evil.example', '/\\evil', ' javascript:x', 'vbscript:x']) expect(safeUrl(url), url).toBeNull()
  expect(markdown('[x](javascript:alert(1))')).toEqual([{ type: 'paragraph', inside: [{ type: 'text', text: '[x](javascript:alert(1))' }] }])
  expect(markdown('<script>alert(1)</script>')).toEqual([{ type: 'paragraph', inside: [{ type: 'text', text: '<script>alert(1)</script>' }] }])
})

test('what may not be followed hides nothing that comes after it', () => {
  expect(markdown('[x](vbscript:y) [docs](https://example.org)')).toEqual([
    { type: 'paragraph', inside: [{ type: 'text', text: '[x](vbscript:y) ' }, { type: 'link', url: 'https://example.org', inside: [{ type: 'text', text: 'docs' }] }] },
  ])
})

test('whatever it is, it ends', () => {
  for (const text of ['', '#', '```', '- ', '>', '****', '![](', '*'.repeat(5000), '[a]('.repeat(2000), '\n\n\n', '1.', '#x\n-y']) expect(Array.isArray(markdown(text))).toBe(true)
})
