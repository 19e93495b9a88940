import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { expect, signInAsAdmin, test } from './fixtures'

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  help: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** What axe finds wrong on the page, as text. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const run = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: Violation[] }> } }).axe.run
    return (await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })).violations
  })
  return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`))
}

for (const theme of ['light', 'dark']) {
  test(`axe finds nothing wrong, ${theme}`, async ({ page, api, project }) => {
    const set = await api.create('label-sets', { project: project.id, name: 'animals', description: 'x', labels: [{ name: 'cat', color: '#e5484d', key: 'c' }] })
    await page.addInitScript((t) => localStorage.setItem('ingot.theme', t), theme)
    const wrong: string[] = []
    const look = async (where: string) => wrong.push(...(await violations(page)).map((v) => `${where} ${v}`))
    await page.goto('/sign-in')
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
    await look('sign-in')
    await signInAsAdmin(page)
    for (const [path, seen] of [
      [`/p/${project.name}`, 'Quota'],
      [`/p/${project.name}/label-sets`, '1 item'],
      [`/p/${project.name}/label-sets/${set.id}`, 'animals'],
      [`/p/${project.name}/algorithm-sets`, 'No algorithms yet'],
      ['/admin/roles/3', 'Permissions'],
      ['/admin/audit', 'Audit log'],
      ['/profile', 'Display name'],
      ['/nowhere', 'Not found'],
    ] as const) {
      await page.goto(path)
      await expect(page.getByRole('main').getByText(seen).first()).toBeVisible()
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      await look(path)
    }
    await page.goto(`/p/${project.name}/label-sets?new=1`)
    await expect(page.getByRole('button', { name: 'Add label' })).toBeVisible()
    await look('form')
    expect(wrong).toEqual([])
  })
}
