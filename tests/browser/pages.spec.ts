import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { putFile } from './compute'
import { dialog, expect, member, signInAs, signInAsAdmin, test, unique, type Api, type Made } from './fixtures'
import { cocoZip, png } from './pictures'

// Pages of datasets, algorithms and models show the thing itself, and offer what comes next.
const root = resolve(__dirname, '../..')
const build = process.env['INGOT_BUILD'] ?? join(root, 'build/san')

async function filled(page: import('@playwright/test').Page, api: Api, project: Made): Promise<Made> {
  const labels = await api.create('label-sets', { project: project.id, name: 'pets', labels: [{ name: 'cat', color: '#e5484d' }, { name: 'dog', color: '#0090ff' }] })
  const set = await api.create('datasets', { project: project.id, name: 'cats & dogs', annotation_type: 'detection', label_set: labels.id })
  await page.goto(`/p/${project.name}/datasets/${set.id}`)
  // What is chosen on the page of a dataset without versions becomes its first.
  await page.getByTestId('first-files').setInputFiles([{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  await expect(page.locator('.running .task-done')).toBeVisible()
  return set
}

test('a dataset opens on its newest version, with its versions and figures beside', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const set = await filled(page, api, project)
  const url = `/p/${project.name}/datasets/${set.id}`
  await page.goto(url)
  await expect(page.getByRole('heading', { name: 'cats & dogs v1' })).toBeVisible()
  await expect(page.getByRole('option')).toHaveCount(12)
  const beside = page.getByRole('complementary', { name: 'About this version' })
  await expect(beside).toContainText('2 of 12 samples')
  await expect(beside.getByRole('progressbar', { name: 'Labelled' })).toHaveAttribute('aria-valuenow', '17')
  await expect(beside.locator('.balance li').filter({ hasText: 'dog' })).toContainText('2')
  await expect(beside).toContainText('Object detection')
  // The next sensible thing is the primary button; to edit is in the menu.
  await expect(page.locator('.ant-btn-primary')).toHaveText('Label')
  await expect(page.getByRole('button', { name: 'Edit' })).toHaveCount(0)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit dataset' }).click()
  await expect(page.getByRole('dialog', { name: 'Edit cats & dogs' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toHaveCount(0)
  // A label leads to its samples.
  await beside.getByRole('link', { name: 'dog' }).click()
  await expect(page.getByRole('option')).toHaveCount(2)

  await beside.getByRole('button', { name: 'New version' }).click()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await expect(page.getByRole('heading', { name: 'cats & dogs v2' })).toBeVisible()
  await expect(page.locator('.ant-btn-primary').first()).toHaveText('Import')
  await page.goto(url)
  await expect(page.getByRole('heading', { name: 'cats & dogs v2' })).toBeVisible()
  await beside.getByRole('link', { name: 'v1' }).click()
  await expect(page).toHaveURL(`${url}/v/1`)
  await expect(page.getByRole('option')).toHaveCount(12)
  // Where there is no room beside it, it is folded above.
  await page.setViewportSize({ width: 800, height: 900 })
  await expect(beside).toHaveCount(0)
  await page.getByText('About this version').click()
  await expect(page.locator('details.aside')).toContainText('2 of 12 samples')
})

test('the commands beside a version work as they are copied', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const set = await filled(page, api, project)
  const token = (await api.create('tokens', { name: unique('copied') })) as Made & { secret: string }
  const folder = mkdtempSync(join(tmpdir(), 'ingot-copied-'))
  try {
    const environment = { ...process.env, INGOT_URL: process.env['INGOT_URL'], INGOT_TOKEN: token.secret, PATH: `${build}:${process.env['PATH'] ?? ''}`, PYTHONPATH: join(root, 'python'), HOME: folder }
    const run = (program: string, text: string) => execFileSync(program, ['-c', text], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
    await page.goto(`/p/${project.name}/datasets/${set.id}`)
    const beside = page.getByRole('complementary', { name: 'About this version' })
    const archive = join(folder, 'cats-dogs.zip')
    run('sh', (await beside.getByLabel('CLI', { exact: true }).last().textContent()) ?? '')
    expect(readFileSync(archive).subarray(0, 2).toString()).toBe('PK')
    rmSync(archive)
    await beside.getByText('Python', { exact: true }).click()
    run('/usr/bin/python3', (await beside.getByLabel('Python', { exact: true }).last().textContent()) ?? '')
    expect(readFileSync(archive).subarray(0, 2).toString()).toBe('PK')

    const code = await api.create('algorithm-sets', { project: project.id, name: 'net' })
    const version = await api.create(`algorithm-sets/${code.id}/versions`, {})
    await putFile(api, `algorithm-sets/${code.id}/versions/${version.id}`, 'train.py', 'pass\n')
    await page.goto(`/p/${project.name}/algorithm-sets/${code.id}`)
    run('sh', (await beside.getByLabel('CLI', { exact: true }).last().textContent()) ?? '')
    expect(existsSync(join(folder, 'net/train.py'))).toBe(true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a README is shown as it is meant, and nothing in it runs', async ({ page, api, project }) => {
  const set = await api.create('model-sets', { project: project.id, name: 'fruit' })
  const version = await api.create(`model-sets/${set.id}/versions`, {})
  const text = '# Fruit\n\nTells **apples** from pears.\n\n<img src=x onerror="document.title=\'bad\'">\n\n[a](javascript:document.title=1) [docs](https://example.org/docs)\n'
  await putFile(api, `model-sets/${set.id}/versions/${version.id}`, 'README.md', text)
  await putFile(api, `model-sets/${set.id}/versions/${version.id}`, 'weights.txt', '1 2 3')
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/model-sets/${set.id}`)
  const readme = page.getByRole('region', { name: 'README' })
  await expect(readme.getByRole('heading', { name: 'Fruit' })).toBeVisible()
  await expect(readme.locator('strong')).toHaveText('apples')
  await expect(readme.locator('img')).toHaveCount(0)
  await expect(readme.getByRole('link')).toHaveCount(1)
  await expect(page.locator('.ant-btn-primary')).toHaveText('Deploy')
  // The files are there, too, with the way back from one.
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByRole('link', { name: 'weights.txt', exact: true }).click()
  await expect(page.locator('.file-text')).toContainText('1 2 3')
  await page.getByRole('navigation', { name: 'Folder' }).getByRole('link', { name: 'v1' }).click()
  await expect(page.getByRole('link', { name: 'weights.txt', exact: true })).toBeVisible()
})

test('a new dataset takes files at once, and opens', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/datasets?new=1`)
  await dialog(page).getByRole('textbox', { name: /^Name/ }).fill('texts')
  await dialog(page).getByTestId('new-files').setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('one') }, { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('two') }])
  await expect(dialog(page).getByRole('status').filter({ hasText: '2 files' })).toBeVisible()
  // What the files are says what data it is.
  await expect(dialog(page).getByText('Text classification')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await expect(page.getByRole('heading', { name: 'texts v1' })).toBeVisible()
  await expect(page.locator('.running .task-done')).toBeVisible()
  await page.getByRole('link', { name: 'Samples', exact: true }).click()
  await expect(page.getByRole('option')).toHaveCount(2)
  // What was chosen and not used is not there the next time.
  await page.goto(`/p/${project.name}/datasets?new=1`)
  await dialog(page).getByRole('textbox', { name: /^Name/ }).fill('pictures')
  await dialog(page).getByTestId('new-files').setInputFiles([{ name: 'a.png', mimeType: 'image/png', buffer: png(32, 24, 1) }])
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Leave', exact: true }).click()
  await page.getByRole('button', { name: 'New dataset' }).click()
  await dialog(page).getByRole('textbox', { name: /^Name/ }).fill('empty')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await expect(page.getByRole('heading', { name: 'empty v1' })).toBeVisible()
  expect((await api.get(`datasets?project=${project.id}&filter=${encodeURIComponent('name = "empty"')}`))['items']).toMatchObject([{ versions: 1, samples: 0 }])
})

test('the tray shows only what one began oneself', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await filled(page, api, project)
  const tray = page.getByRole('region', { name: 'Activity' })
  await expect(tray).toBeVisible()
  const { user, password } = await member(api, project, 'member')
  await page.context().clearCookies()
  await signInAs(page, user.name, password)
  const asked = page.waitForResponse((answer) => /\/tasks\?.*mine=true/.test(answer.url()))
  await page.goto(`/p/${project.name}/tasks`)
  expect(((await (await asked).json()) as { items: unknown[] }).items).toEqual([])
  await expect(page.getByRole('link', { name: /coco.zip|Import/ }).first()).toBeVisible()
  await expect(tray).toHaveCount(0)
})
