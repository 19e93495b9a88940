import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from './fixtures'
import { png } from './pictures'
import { adminPassword, serve } from './server'

// Imports from elsewhere than the browser, on a server of its own whose configuration allows one folder and no host.
test('from a folder of the server; object stores and databases are asked for and refused by name', async ({ page }) => {
  const place = mkdtempSync(join(tmpdir(), 'ingot-sources-'))
  const root = join(place, 'mounted')
  for (const [label, seed] of [['cat', 1], ['dog', 2]] as const) {
    mkdirSync(join(root, 'animals', label), { recursive: true })
    for (let i = 0; i < 3; i += 1) writeFileSync(join(root, 'animals', label, `${label}-${i}.png`), png(32, 24, seed * 10 + i))
  }
  writeFileSync(join(place, 'config.json'), JSON.stringify({ import_roots: [root] }))
  const server = await serve(['--config', join(place, 'config.json')])
  try {
    const make = async (path: string, data: Record<string, unknown>) => {
      const answer = await page.request.post(`${server.url}/api/v1/${path}`, { data, headers: { Origin: server.url } })
      expect(answer.status(), await answer.text()).toBe(201)
      return ((await answer.json()) as { id: number }).id
    }
    await make('sessions', { name: 'admin', password: adminPassword })
    const project = await make('projects', { name: 'sources' })
    const set = await make('datasets', { project, name: 'animals', annotation_type: 'image-class' })
    await make(`datasets/${set}/versions`, {})
    await page.goto(`${server.url}/p/sources/datasets/${set}/v/1?tab=import`)
    const start = page.getByRole('button', { name: 'Start import' })
    await page.getByText('From elsewhere', { exact: true }).click()

    // A folder that is not allowed is refused with its name; nothing is lost of what was typed.
    const folder = page.getByRole('textbox', { name: 'From a folder of the server' })
    await expect(start).toBeDisabled()
    await folder.fill('/etc')
    await start.click()
    await expect(page.getByRole('alert')).toContainText('/etc')
    await expect(folder).toHaveValue('/etc')

    // Object stores: the bucket must be given; the administrator allows no host.
    await page.getByRole('tab', { name: 'Object store (S3)' }).click()
    await expect(start).toBeDisabled()
    await page.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9')
    await expect(start).toBeDisabled()
    await page.getByRole('textbox', { name: 'Bucket' }).fill('roads')
    await start.click()
    await expect(page.getByRole('alert')).toContainText('127.0.0.1')

    // Databases: host, user, database and the column of names.
    await page.getByRole('tab', { name: 'Database' }).click()
    for (const name of ['Host', 'User', 'Database']) {
      await expect(start).toBeDisabled()
      await page.getByRole('textbox', { name }).fill(name === 'Host' ? 'db.invalid' : 'roads')
    }
    await page.getByRole('textbox', { name: 'Column with the name' }).fill('id')
    await page.getByRole('textbox', { name: 'Table' }).fill('pictures')
    await start.click()
    await expect(page.getByRole('alert')).toContainText('db.invalid')

    // The folder that is allowed becomes samples with the names of its folders as classes.
    await page.getByRole('tab', { name: 'From a folder of the server' }).click()
    await folder.fill(join(root, 'animals'))
    await start.click()
    await expect(page.locator('.task-done')).toBeVisible()
    await page.getByRole('link', { name: 'Samples', exact: true }).click()
    await expect(page.getByRole('option')).toHaveCount(6)
    await expect(page.getByRole('option', { name: /cat-0\.png, Annotated/ })).toBeVisible()
  } finally {
    await server.stop()
    rmSync(place, { recursive: true, force: true })
  }
})
