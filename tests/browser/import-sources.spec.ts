import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, option, test } from './fixtures'
import { png } from './pictures'
import { adminPassword, serve } from './server'

/** Signs in, makes an empty version and opens the part of its import that asks for other places. */
async function openImport(page: Page, url: string): Promise<void> {
  const make = async (path: string, data: Record<string, unknown>) => {
    const answer = await page.request.post(`${url}/api/v1/${path}`, { data, headers: { Origin: url } })
    expect(answer.status(), await answer.text()).toBe(201)
    return ((await answer.json()) as { id: number }).id
  }
  await make('sessions', { name: 'admin', password: adminPassword })
  const project = await make('projects', { name: 'sources' })
  const set = await make('datasets', { project, name: 'animals', annotation_type: 'image-class' })
  await make(`datasets/${set}/versions`, {})
  await page.goto(`${url}/p/sources/datasets/${set}/v/1?tab=import`)
  await page.getByText('From elsewhere', { exact: true }).click()
}

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
    await openImport(page, server.url)
    const start = page.getByRole('button', { name: 'Start import' })

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

interface Places {
  s3: { url: string; port: number; bucket: string; key: string; secret: string; ca: string }
  database: { port: number; user: string; password: string; database: string; ca: string }
}

/** The S3 server and the MariaDB of the API tests, with these files in both. */
async function startPlaces(files: Record<string, Buffer>): Promise<{ places: Places; stop: () => Promise<void> }> {
  const encoded = Object.fromEntries(Object.entries(files).map(([name, data]) => [name, data.toString('base64')]))
  const program = spawn(resolve(__dirname, '../../.cache/venv/bin/python'), [resolve(__dirname, 'sources.py'), JSON.stringify(encoded)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(program, 'exit')
  let text = ''
  for await (const chunk of program.stdout) {
    text += String(chunk)
    if (text.includes('\n')) break
  }
  const stop = async () => {
    program.stdin.end()
    await ended
  }
  return { places: JSON.parse(text) as Places, stop }
}

test('from an object store and from a database, over TLS with an authority of their own', async ({ page }) => {
  const pictures = Object.fromEntries(['cat/cat-0.png', 'cat/cat-1.png', 'dog/dog-0.png'].map((name, i) => [name, png(32, 24, i)]))
  const { places: { s3, database }, stop } = await startPlaces(pictures)
  const place = mkdtempSync(join(tmpdir(), 'ingot-sources-'))
  writeFileSync(join(place, 'config.json'), JSON.stringify({ import_hosts: [`127.0.0.1:${s3.port}`, `127.0.0.1:${database.port}`] }))
  try {
    const server = await serve(['--config', join(place, 'config.json')])
    try {
      await openImport(page, server.url)
      const start = page.getByRole('button', { name: 'Start import' })
      const authority = page.getByRole('textbox', { name: 'Certificate authority (PEM), unless a public one' })
      const type = async (values: Record<string, string>) => {
        for (const [name, value] of Object.entries(values)) await page.getByRole('textbox', { name, exact: true }).fill(value)
      }

      // Without its authority the store is not trusted; what was typed stays, but for the secret.
      await page.getByRole('tab', { name: 'Object store (S3)' }).click()
      await type({ Address: s3.url, 'Bucket *': s3.bucket, 'All keys that start with': 'animals/', 'Access key': s3.key, 'Secret key': s3.secret })
      await start.click()
      await expect(page.locator('.task-failed')).toBeVisible()
      await expect(page.locator('.running').getByRole('alert')).toContainText('certificate')
      await authority.fill(s3.ca)
      await type({ 'Secret key': s3.secret })
      await start.click()
      await expect(page.locator('.task-done')).toBeVisible()
      await page.getByRole('link', { name: 'See the samples' }).click()
      await expect(page.getByRole('option', { name: /cat-0\.png, Annotated/ })).toBeVisible()
      await expect(page.getByRole('option')).toHaveCount(3)

      // The same pictures by other names: they are samples of their own.
      await page.getByRole('link', { name: 'Import', exact: true }).click()
      await page.getByText('From elsewhere', { exact: true }).click()
      await page.getByRole('tab', { name: 'Database' }).click()
      await type({ 'Host *': '127.0.0.1', Port: String(database.port), 'User *': database.user, 'Database *': database.database, Table: 'pictures', 'Column with the name *': 'id', 'Column with the content': 'bytes', 'Column with the class': 'class', Password: database.password })
      await page.getByRole('combobox', { name: 'Encryption (TLS)' }).press('ArrowDown')
      await option(page, 'Required, certificate is checked').click()
      await authority.fill(database.ca)
      await start.click()
      await expect(page.locator('.task-done')).toBeVisible()
      await page.getByRole('link', { name: 'See the samples' }).click()
      await expect(page.getByRole('option', { name: /^row-dog-0\.png, Annotated/ })).toBeVisible()
      await expect(page.getByRole('option')).toHaveCount(6)
    } finally {
      await server.stop()
    }
  } finally {
    await stop()
    rmSync(place, { recursive: true, force: true })
  }
})
