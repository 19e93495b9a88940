import { expect, test } from 'vitest'
import { clients, commandsOf, isVersion, versionOf } from './commands'

test('commands name host, repository and version', () => {
  for (const client of clients) {
    const all = commandsOf(client, 'ingot.example:8080', false, 'vision/tool', 'v1', 'ann')
    expect(all.some((c) => c.text.includes('ingot.example:8080/vision/tool:v1'))).toBe(true)
    expect(all[0]?.text).toContain('-u ann')
  }
  expect(commandsOf('podman', 'h', false, 'p/i', 'v', 'u').every((c) => c.text.includes('--tls-verify=false') || c.label === 'images.tag')).toBe(true)
  expect(commandsOf('podman', 'h', true, 'p/i', 'v', 'u').some((c) => c.text.includes('tls-verify'))).toBe(false)
})

test('versions', () => {
  expect(['v1', '1.0', '_x', 'A-b.c'].every(isVersion)).toBe(true)
  expect(['', '.x', '-x', 'a b', 'x'.repeat(51)].some(isVersion)).toBe(false)
  expect(versionOf('tool-1.2.tar.gz')).toBe('1.2')
  expect(versionOf('image.tar')).toBe('latest')
})
