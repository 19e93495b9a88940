import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, signInAsAdmin, test } from './fixtures'
import { cocoZip } from './pictures'

// Pictures of the pages of data for people to look at, in test-results/screens; none is wider than the window, and
// axe finds nothing wrong on any of them.
const folder = resolve(__dirname, '../../test-results/screens')
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const run = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: Violation[] }> } }).axe.run
    const found = (await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })).violations
    return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`))
  })
}

test('pictures of the pages of data', async ({ page, api, project }) => {
  test.setTimeout(240_000)
  const set = await api.create('datasets', { project: project.id, name: '交通标志 2026', annotation_type: 'detection' })
  const version = await api.create(`datasets/${set.id}/versions`, { description: 'Crossings of the north' })
  const algorithm = await api.create('algorithm-sets', { project: project.id, name: 'detector' })
  const made = await api.create(`algorithm-sets/${algorithm.id}/versions`, {})
  await api.context.put(`/api/v1/algorithm-sets/${algorithm.id}/versions/${made.id}/content?path=src/train.py`, { data: 'import torch\n\nprint(torch.__version__)\n', headers: { 'Content-Type': 'application/octet-stream' } })
  const url = `/p/${project.name}/datasets/${set.id}`
  await signInAsAdmin(page)
  await page.goto(`${url}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  const written = await api.context.post(`/api/v1/datasets/${set.id}/versions/${version.id}/write-records`, { data: {} })
  expect(written.status()).toBe(202)
  await expect.poll(async () => (await api.get(`datasets/${set.id}/versions/${version.id}`))['records']).not.toBeNull()
  const { items } = (await api.get(`tasks?project=${project.id}`)) as { items: { id: number }[] }
  const pages: [string, string][] = [
    ['datasets', `/p/${project.name}/datasets`], ['dataset', url], ['gallery', `${url}/v/1`], ['sample', `${url}/v/1?sample=1`], ['statistics', `${url}/v/1?tab=statistics`], ['import', `${url}/v/1?tab=import`],
    ['export', `${url}/v/1?tab=export`], ['records', `${url}/v/1?tab=records`], ['duplicates', `${url}/v/1?tab=duplicates`], ['compare', `${url}/v/1?tab=compare`], ['task', `/p/${project.name}/tasks/${items[0]?.id ?? 0}`],
    ['files', `/p/${project.name}/algorithm-sets/${algorithm.id}/v/1`], ['file', `/p/${project.name}/algorithm-sets/${algorithm.id}/v/1?path=src&file=train.py`],
  ]
  const wrong: string[] = []
  for (const look of [
    { name: 'data-zh-dark', language: 'zh', theme: 'dark', width: 1280, height: 800 },
    { name: 'data-zh-phone', language: 'zh', theme: 'light', width: 390, height: 844 },
  ]) {
    await page.evaluate(({ language, theme }) => {
      localStorage.setItem('ingot.language', language)
      localStorage.setItem('ingot.theme', theme)
    }, look)
    await page.setViewportSize(look)
    for (const [name, path] of pages) {
      await page.goto(path)
      await expect(page.getByRole('main')).toBeVisible()
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      if (name === 'gallery') await expect(page.getByRole('option')).toHaveCount(12)
      if (name === 'sample') await expect(page.getByRole('dialog').locator('img')).toBeVisible()
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${look.name} ${name}`).toBeLessThanOrEqual(look.width)
      await page.screenshot({ path: `${folder}/${look.name}-${name}.png` })
      wrong.push(...(await violations(page)).map((v) => `${look.name} ${name} ${v}`))
    }
  }
  expect(wrong).toEqual([])
})
