import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, signInAsAdmin, test, unique } from './fixtures'

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const run = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: { id: string; nodes: { target: string[] }[] }[] }> } }).axe.run
    return (await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })).violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}`))
  })
}

test('manuals are read and searched by whoever is there, in light and dark', async ({ page }) => {
  await page.goto('/docs/labelling#keys')
  await expect(page.getByRole('heading', { name: 'Keys', exact: true })).toBeFocused()
  await expect(page.getByRole('heading', { name: 'Keys', exact: true })).toBeInViewport()
  await expect(page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Keys' })).toHaveAttribute('aria-current', 'location')
  // A link of the text to another manual.
  await page.getByRole('article').getByRole('link', { name: 'annotations.md' }).first().click()
  await expect(page).toHaveURL(/\/docs\/annotations$/)
  await expect(page.getByRole('article').getByRole('heading', { name: 'Annotations', exact: true })).toBeVisible()
  // The search, without a mouse.
  await page.keyboard.press('/')
  const find = page.getByRole('combobox', { name: 'Search manuals and API' })
  await expect(find).toBeFocused()
  await find.fill('backup restore')
  await expect(page.getByRole('option').first()).toContainText('Backup and restore')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/docs\/cli#backup-and-restore$/)
  await expect(page.getByRole('heading', { name: 'Backup and restore' })).toBeFocused()
  await find.fill('label_set_create')
  await expect(page.getByRole('option')).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: /POST \/api\/v1\/label-sets / })).toHaveAttribute('aria-expanded', 'true')
  await expect(page.getByText('You are not signed in.')).toBeVisible()
  const wrong: string[] = []
  for (const theme of ['light', 'dark']) {
    await page.evaluate((t) => localStorage.setItem('ingot.theme', t), theme)
    for (const path of ['/docs', '/docs/operating', '/docs/reference', '/docs/reference/label_set#label_set_create']) {
      await page.goto(path)
      await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Label sets' })).toBeVisible()
      wrong.push(...(await violations(page)).map((one) => `${theme} ${path} ${one}`))
    }
  }
  expect(wrong).toEqual([])
  // What a field is about has room beside the menu, too.
  await page.setViewportSize({ width: 768, height: 900 })
  const says = page.locator('.docs-says:visible').first()
  await expect(says).toBeVisible()
  expect((await says.boundingBox())?.width).toBeGreaterThan(250)
  await page.setViewportSize({ width: 1280, height: 800 })
  // To readers of Chinese, in Chinese; what is English only is said to be.
  await page.evaluate(() => localStorage.setItem('ingot.language', 'zh'))
  await page.goto('/docs/labelling')
  await expect(page.getByRole('note')).toContainText('手册与接口说明为英文')
  await expect(page.getByRole('navigation', { name: '目录' }).getByRole('link', { name: '标签组' })).toBeVisible()
  await expect(page.getByRole('heading', { name: /^Keys/ })).toContainText('快捷键')
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: '搜索手册与接口' }).fill('怎么备份数据')
  await expect(page.getByRole('option').first()).toContainText('备份与恢复 · Backup and restore')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/docs\/cli#backup-and-restore$/)
  await expect(page.getByRole('navigation', { name: '本页内容' }).getByRole('link', { name: '退出码' })).toBeVisible()
  await page.goto('/docs/nothing')
  await expect(page.getByText('/docs/nothing')).toBeVisible()
})

test('the reference asks as who is signed in, and its snippets work when copied', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await page.getByRole('link', { name: 'Learn more' }).first().click()
  await expect(page).toHaveURL(/\/docs\/labelling#labels-change$/)
  await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Label sets' }).click()
  await page.getByRole('button', { name: /POST \/api\/v1\/label-sets Label set: create/ }).click()
  const [tried, byCurl, byPython] = [unique('tried'), unique('by-curl'), unique('by-python')]
  const form = page.getByRole('form', { name: 'Try it' })
  const body = (name: string) => form.getByLabel('Body').fill(JSON.stringify({ project: project.id, name, description: "it's" }))
  await expect(form.getByText('Sent as admin')).toBeVisible()
  await form.getByLabel('Body').fill('{')
  await expect(form.getByRole('button', { name: 'Send' })).toBeDisabled()
  await body(tried)
  await form.getByRole('button', { name: 'Send' }).click()
  await expect(form.getByText('201 Created')).toBeVisible()
  await expect(form.locator('pre')).toContainText(tried)
  // What stands there, in a shell and in Python.
  const secret = String((await api.create('tokens', { name: unique('docs') }) as unknown as { secret: string }).secret)
  const env = { ...process.env, INGOT_TOKEN: secret, PYTHONPATH: resolve(__dirname, '../../python'), NO_PROXY: '*' }
  await body(byCurl)
  const curl = await page.getByLabel('curl', { exact: true }).and(page.locator('pre')).innerText()
  expect(JSON.parse(execFileSync('sh', ['-c', curl], { env, stdio: ['ignore', 'pipe', 'ignore'] }).toString())).toMatchObject({ name: byCurl })
  await body(byPython)
  await page.getByText('Python', { exact: true }).first().click()
  const python = await page.getByLabel('Python', { exact: true }).and(page.locator('pre')).innerText()
  expect(execFileSync('/usr/bin/python3', ['-c', python], { env }).toString()).toContain(byPython)
  // A parameter, and the way back.
  await page.getByRole('button', { name: /GET \/api\/v1\/label-sets Label sets: list/ }).click()
  const list = page.getByRole('region', { name: /GET \/api\/v1\/label-sets Label sets: list/ }).getByRole('form')
  await list.getByLabel('project').fill(String(project.id))
  await list.getByRole('button', { name: 'Send' }).click()
  await expect(list.getByText('200 OK')).toBeVisible()
  await expect(list.locator('pre')).toContainText(byPython)
  await page.getByRole('link', { name: 'Back to Ingot' }).click()
  await expect(page).toHaveURL(new RegExp(`/p/${project.name}/label-sets$`))
})
