import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { en } from './en'
import { allSentences, sentence } from './sentences'

test('sentences of the server are told in Chinese, part by part', () => {
  expect(sentence('it has no label', 'en')).toBe('it has no label')
  expect(sentence('it has no label', 'zh')).toBe('没有标签')
  expect(sentence('cancelled', 'zh', '已取消')).toBe('已取消')
  expect(sentence('repaired: it was clipped at the edge of the picture of 64 x 48 pixels', 'zh')).toBe('已修复：已按图片边缘裁剪（64 x 48 像素）')
  expect(sentence('the archive "a.zip" cannot be read: Truncated ZIP file data', 'zh', '压缩包“a.zip”无法读取：Truncated ZIP file data')).toBe('压缩包“a.zip”无法读取：ZIP 数据被截断')
  expect(sentence('its size is not known: something new', 'zh')).toBe('尺寸未知：something new')
  expect(sentence('never heard of', 'zh')).toBe('never heard of')
  expect(sentence('skipped: "$& a*b" has annotations already; these are left out', 'zh')).toBe('已跳过：“$& a*b”已有标注，这些标注未导入')
})

test('both languages have the same number of differing parts, and nothing is there twice', () => {
  for (const [english, chinese] of allSentences) expect([english, chinese.split('*').length]).toEqual([english, english.split('*').length])
  expect(new Set(allSentences.map(([english]) => english)).size).toBe(allSentences.length)
})

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? sources(path) : entry.name.endsWith('.c') ? [readFileSync(path, 'utf8')] : []
  })
}

test('every type of task that the server knows has a text', () => {
  const core = sources(join(__dirname, '../../../src/core'))
  const types = core.flatMap((text) => [...text.matchAll(/const struct task_type \w+ = \{\s*\.name = "([^"]+)"/g)].map((m) => m[1] ?? ''))
  const registered = /task_types\[\] = \{([^}]*)\}/.exec(core.join('\n'))?.[1]?.split(',').length
  expect(types.length).toBe(registered)
  for (const type of types) expect(en).toHaveProperty([`taskType.${type}`])
})

test('whatever an import leaves out or repairs is told in Chinese', () => {
  const codec = sources(join(__dirname, '../../../src/codec')).join('\n')
  // Reasons begin so; formats are filled in.
  const reasons = [...codec.matchAll(/"(its? [^"\\]+)"/g)].map((m) => (m[1] ?? '').replace(/%[a-z]+/g, '7'))
  expect(reasons.length).toBeGreaterThan(40)
  expect(reasons.filter((reason) => sentence(reason, 'zh') === reason)).toEqual([])
})
