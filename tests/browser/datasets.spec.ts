import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { dialog, expect, option, signInAsAdmin, test, type Api, type Made } from './fixtures'
import { cocoZip, png } from './pictures'

const folder = resolve(__dirname, '../../test-results/screens')

async function draft(api: Api, project: Made, name = 'cats and dogs'): Promise<{ set: Made; url: string; path: string }> {
  const labels = await api.create('label-sets', { project: project.id, name: `${name} labels`, labels: [{ name: 'cat', color: '#e5484d' }, { name: 'dog', color: '#0090ff' }] })
  const set = await api.create('datasets', { project: project.id, name, annotation_type: 'detection', label_set: labels.id })
  const version = await api.create(`datasets/${set.id}/versions`, {})
  return { set, url: `/p/${project.name}/datasets/${set.id}/v/1`, path: `datasets/${set.id}/versions/${version.id}` }
}

/** Imports through the page. */
async function bring(page: Page, url: string, files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  await page.goto(`${url}?tab=import`)
  await page.getByTestId('import-files').setInputFiles(files)
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
}

const cells = (page: Page) => page.getByRole('option')
const thumbnails = (page: Page) => page.locator('.cell img')

test('from an empty version to an export', async ({ page, api, project }) => {
  const { set, url } = await draft(api, project)
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/datasets/${set.id}`)
  await page.getByRole('link', { name: 'v1' }).click()
  await expect(page.getByText('No samples yet')).toBeVisible()
  await page.getByRole('main').getByRole('button', { name: 'Import' }).last().click()
  await page.getByTestId('import-files').setInputFiles([{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  await expect(page.getByText('coco.zip')).toBeVisible()
  // What was chosen is still there after a look at another tab.
  await page.getByRole('link', { name: 'Statistics' }).click()
  await page.getByRole('navigation', { name: 'Version' }).getByRole('link', { name: 'Import' }).click()
  await expect(page.getByText('coco.zip')).toBeVisible()
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  // The box that leaves its picture was cut and is in the report.
  await expect(page.locator('.running').getByText('Report', { exact: true })).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-import.png` })
  await page.getByRole('link', { name: 'See the samples' }).click()

  await expect(cells(page)).toHaveCount(12)
  await expect(thumbnails(page)).toHaveCount(12)
  await expect.poll(() => thumbnails(page).evaluateAll((all) => all.filter((i) => (i as HTMLImageElement).naturalWidth > 0).length)).toBe(12)
  await expect(page.locator('#sample-0 .shapes [data-label="cat"] rect')).toHaveAttribute('stroke', '#e5484d')
  await expect(page.locator('#sample-0 .shapes rect')).toHaveCount(2)
  await page.screenshot({ path: `${folder}/en-light-gallery.png` })

  // Filters live in the address.
  await page.getByRole('combobox', { name: 'Label' }).click()
  await option(page, 'dog (2)').click()
  await expect(cells(page)).toHaveCount(2)
  expect(page.url()).toContain('label=dog')
  await page.goto(`${url}?q=images/01`)
  await expect(cells(page)).toHaveCount(2)
  await page.goto(`${url}?state=unannotated`)
  await expect(cells(page)).toHaveCount(10)

  // Clean by keyboard, then undo. Keys count from the moment the cells are there, even if their samples come later.
  let come = () => {}
  const held = new Promise<void>((resolve) => (come = resolve))
  await page.route(/\/samples\?/, async (route) => {
    await held
    await route.continue()
  })
  await page.goto(url)
  await expect(cells(page)).toHaveCount(12)
  await expect(cells(page).first()).toHaveAccessibleName('Loading…')
  await page.keyboard.press('g')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  come()
  await expect(page.getByText('3 selected')).toBeVisible()
  await page.unroute(/\/samples\?/)
  await page.keyboard.press('x')
  await expect(cells(page)).toHaveCount(9)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(cells(page)).toHaveCount(12)

  await page.getByRole('link', { name: 'Export', exact: true }).click()
  await page.getByRole('button', { name: 'Create archive' }).click()
  const link = page.locator('.made').getByRole('link', { name: 'Download' })
  await expect(link).toBeVisible()
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(readFileSync(await download.path()).subarray(0, 2).toString()).toBe('PK')
})

test('one sample: shapes, neighbours, history', async ({ page, api, project }) => {
  const { url, path } = await draft(api, project)
  await signInAsAdmin(page)
  await bring(page, url, [{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  const { items } = (await api.get(`${path}/samples?limit=3`)) as { items: { id: number; revision: number }[] }
  const sample = items[2] as { id: number; revision: number }
  const answer = await api.context.put(`/api/v1/${path}/samples/${sample.id}/annotation`, {
    data: { annotation: { shapes: [{ type: 'box', label: 'cat', x: 5, y: 5, w: 50, h: 50 }] } }, headers: { 'If-Match': `"${sample.revision}"` },
  })
  expect(answer.status()).toBe(200)
  await page.goto(url)
  await page.locator('#sample-0').click()
  await expect(dialog(page).getByText('images/000.png')).toBeVisible()
  await expect(dialog(page).locator('.shapes rect')).toHaveCount(2)
  await page.screenshot({ path: `${folder}/en-light-sample.png` })
  await page.keyboard.press('ArrowRight')
  await expect(dialog(page).getByText('images/001.png')).toBeVisible()
  await page.keyboard.press('ArrowRight')
  await expect(dialog(page).getByText('images/002.png')).toBeVisible()
  // The history tells who did what; a line shows the sample as it was, and may be restored.
  await expect(dialog(page).getByRole('button', { name: 'admin replaced everything' })).toBeVisible()
  await dialog(page).getByRole('button', { name: 'admin brought the sample' }).click()
  await dialog(page).getByRole('button', { name: 'Restore this state' }).click()
  await expect(dialog(page).getByText('Nothing is annotated.')).toBeVisible()
  expect(await api.get(`${path}/samples/${sample.id}`)).toMatchObject({ state: 'unannotated', revision: 3 })
  // The address opens the same sample again.
  await page.reload()
  await expect(dialog(page).getByText('images/002.png')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toBeHidden()
})

test('statistics, likeness, preprocessing, comparing, publishing', async ({ page, api, project }) => {
  const { set, url } = await draft(api, project)
  await signInAsAdmin(page)
  await bring(page, url, [{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }, { name: 'again.png', mimeType: 'image/png', buffer: png(160, 120, 3) }])
  await page.goto(`${url}?tab=statistics`)
  await expect(page.getByRole('row', { name: 'dog 2 (2 objects)' })).toBeVisible()
  await page.getByRole('button', { name: 'Measure sharpness and similarity' }).click()
  await expect(page.locator('.histogram')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Sizes in pixels' }).getByRole('row', { name: '160 × 120 13' })).toBeVisible()
  await expect(page.getByRole('table', { name: 'Sizes of files' })).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-statistics.png`, fullPage: true })
  // A threshold is chosen by keyboard, and goes with one to the steps.
  await page.getByRole('slider', { name: 'Threshold' }).press('End')
  await expect(page.getByText('About 13 of 13 lie below 5,000.')).toBeVisible()
  await page.getByRole('button', { name: 'Clean those in a new version' }).click()
  await expect(dialog(page).getByRole('spinbutton', { name: 'Threshold' })).toHaveValue('5000')
  await dialog(page).getByRole('slider', { name: 'Threshold' }).press('Home')
  await expect(dialog(page).getByRole('spinbutton', { name: 'Threshold' })).toHaveValue('0')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Leave' }).click()
  await expect(dialog(page)).toHaveCount(0)
  await page.getByRole('link', { name: 'Duplicates' }).click()
  await expect(page.locator('.groups img[alt="again.png"]')).toBeVisible()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Preprocess' }).click()
  await dialog(page).getByRole('button', { name: 'Add a step' }).click()
  await page.getByRole('menuitem', { name: 'Rotate' }).click()
  await expect(dialog(page).getByText('160 × 120 → 120 × 160')).toBeVisible()
  await expect.poll(() => dialog(page).locator('canvas').evaluate((c) => (c as HTMLCanvasElement).height)).toBe(160)
  await page.screenshot({ path: `${folder}/en-light-preprocess.png` })
  await dialog(page).getByRole('button', { name: 'Create version' }).click()
  await expect(dialog(page)).toBeHidden()
  await page.goto(`/p/${project.name}/datasets/${set.id}`)
  await page.getByRole('link', { name: 'v2' }).click()
  await expect(cells(page)).toHaveCount(13)
  await page.getByRole('link', { name: 'Compare' }).click()
  await expect(page.getByText('What changed from v1 to v2')).toBeVisible()
  await expect(page.getByRole('cell', { name: 'again.png' })).toBeVisible()
  await expect(page.getByText('Changed 13')).toBeVisible()
  await page.getByRole('link', { name: 'images/000.png' }).click()
  await expect(dialog(page).getByRole('region', { name: 'v1' })).toContainText('160 × 120')
  await expect(dialog(page).getByRole('region', { name: 'v2' })).toContainText('120 × 160')
  await expect(dialog(page).locator('.shapes rect')).toHaveCount(4)
  await page.reload()
  await expect(dialog(page).getByRole('region', { name: 'v2' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toHaveCount(0)

  await page.getByRole('button', { name: 'Publish' }).click()
  await dialog(page).getByRole('button', { name: 'Publish' }).click()
  await expect(page.getByText('Published', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Publish' })).toHaveCount(0)
  await page.getByRole('region', { name: 'Activity' }).getByRole('button').first().click()
  // The page of a task leads to what it worked on.
  await page.getByRole('region', { name: 'Activity' }).getByRole('link', { name: /Import 2 files/ }).click()
  await page.getByRole('main').getByRole('link', { name: `${set.name} v1` }).click()
  await expect(page).toHaveURL(new RegExp(`/datasets/${set.id}/v/1$`))
})

test('sample archives; record files are written, looked into and checked', async ({ page, api, project }) => {
  const { url } = await draft(api, project, 'records')
  await signInAsAdmin(page)
  await page.goto(`${url}?tab=import`)
  await expect(page.getByRole('link', { name: 'COCO' })).toHaveAttribute('href', '/api/v1/formats/coco/example?type=detection')
  const loading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Pascal VOC' }).click()
  const archive = await loading
  expect(archive.suggestedFilename()).toBe('voc-detection.zip')
  await bring(page, url, [{ name: 'voc.zip', mimeType: 'application/zip', buffer: readFileSync(await archive.path()) }])

  await page.goto(`${url}?tab=records`)
  await page.getByRole('button', { name: 'Write record files' }).click()
  await expect(page.getByRole('heading', { name: '0 – 3 of 4' })).toBeVisible()
  await expect(page.locator('.record-thumb')).toHaveCount(4)
  await expect.poll(() => page.locator('.record-thumb').evaluateAll((all) => all.filter((i) => (i as HTMLImageElement).naturalWidth > 0).length)).toBe(4)
  await page.getByRole('button', { name: 'Verify' }).click()
  await expect(page.getByText('The file is sound')).toBeVisible()
  await page.getByRole('button', { name: 'Open record 2' }).click()
  await expect(page.getByRole('dialog').locator('.record-picture')).toBeVisible()
  await expect(page.getByRole('dialog').getByText('"shapes"')).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-record.png` })
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('a folder is dropped on the page with the mouse', async ({ page, api, project }, info) => {
  const { url, path } = await draft(api, project, 'dropped')
  const top = info.outputPath('animals')
  const names = ['cat/one.png', 'cat/deep/猫 2.png', 'dog/one.png', ...Array.from({ length: 120 }, (_, i) => `many/${String(i).padStart(3, '0')}.png`)]
  names.forEach((name, i) => {
    mkdirSync(dirname(join(top, name)), { recursive: true })
    writeFileSync(join(top, name), png(16, 12, i))
  })
  writeFileSync(join(top, 'cat', '.DS_Store'), 'left behind')
  await signInAsAdmin(page)
  await page.goto(`${url}?tab=import`)
  const box = await page.locator('.drop').boundingBox()
  const mouse = await page.context().newCDPSession(page)
  const at = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 20, data: { items: [], files: [top], dragOperationsMask: 1 } }
  await mouse.send('Input.dispatchDragEvent', { type: 'dragEnter', ...at })
  await mouse.send('Input.dispatchDragEvent', { type: 'dragOver', ...at })
  await expect(page.locator('.drop')).toHaveClass(/over/)
  await mouse.send('Input.dispatchDragEvent', { type: 'drop', ...at })
  await expect(page.getByRole('region', { name: 'Chosen files' }).getByText('animals/cat/deep/猫 2.png')).toBeVisible()
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  const { items } = (await api.get(`${path}/samples?limit=1000`)) as { items: { name: string }[] }
  expect(items.map((s) => s.name).sort()).toEqual(names.map((name) => `animals/${name}`).sort())
})

test('what differs: only annotations; datasets as cards with their pictures', async ({ page, api, project }) => {
  const { set, url, path } = await draft(api, project)
  await signInAsAdmin(page)
  await bring(page, url, [{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  const next = await api.create(`datasets/${set.id}/versions`, { from: Number(path.split('/').at(-1)) })
  await expect.poll(async () => (await api.get(`datasets/${set.id}/versions/${next.id}`))['samples']).toBe(12)
  const { items } = (await api.get(`datasets/${set.id}/versions/${next.id}/samples`)) as { items: { id: number; revision: number }[] }
  const sample = items[0] as { id: number; revision: number }
  const answer = await api.context.put(`/api/v1/datasets/${set.id}/versions/${next.id}/samples/${sample.id}/annotation`, { data: { annotation: {} }, headers: { 'If-Match': `"${sample.revision}"` } })
  expect(answer.status(), await answer.text()).toBe(200)
  await page.goto(url.replace('/v/1', '/v/2?tab=compare&change=annotated'))
  await expect(page.getByRole('row')).toHaveCount(2)
  await page.getByRole('link', { name: 'images/000.png' }).click()
  await expect(dialog(page).getByRole('region', { name: 'v1' }).locator('.shapes rect')).toHaveCount(2)
  await expect(dialog(page).getByRole('region', { name: 'v2' })).toContainText('Nothing is annotated.')

  // The list tells how far each is; as cards they show their first pictures, and stay so.
  await page.goto(`/p/${project.name}/datasets`)
  await expect(page.getByRole('row', { name: 'cats and dogs' }).getByRole('cell', { name: '12', exact: true })).toBeVisible()
  await page.getByTitle('Cards').click()
  await expect.poll(() => page.locator('.cover img').evaluateAll((all) => all.filter((i) => (i as HTMLImageElement).naturalWidth > 0).length)).toBe(4)
  await expect(page.locator('.dataset-card')).toContainText('12 samples · 8% annotated')
  await page.reload()
  await expect(page.locator('.dataset-card')).toHaveCount(1)
  await page.getByTitle('Rows').click()
  await expect(page.getByRole('row', { name: 'cats and dogs' })).toBeVisible()
})

test('texts show how they begin', async ({ page, api, project }) => {
  const set = await api.create('datasets', { project: project.id, name: 'reports', data_type: 'text', annotation_type: 'text-class' })
  await api.create(`datasets/${set.id}/versions`, {})
  await signInAsAdmin(page)
  await bring(page, `/p/${project.name}/datasets/${set.id}/v/1`, [{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from(`轴承过热 ${'很'.repeat(500)}`) }])
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1`)
  // The last character within the bytes asked for is cut in two and not shown.
  await expect(page.locator('.line-text')).toHaveText(/^轴承过热 很+$/)
})

test('what differs: parts of a split; a link to a difference far down opens it', async ({ page, api, project }) => {
  const long = '000-crossing-of-the-north-by-night-camera-2.txt'
  const set = await api.create('datasets', { project: project.id, name: 'parts', data_type: 'text', annotation_type: 'text-class' })
  await signInAsAdmin(page)
  for (const [version, part] of [[1, 'train'], [2, 'val']] as const) {
    await api.create(`datasets/${set.id}/versions`, {})
    const lines = Array.from({ length: 450 }, (_, i) => JSON.stringify({ file: i === 0 ? long : `${String(i).padStart(3, '0')}.txt`, content: `text ${i}`, split: part }))
    await bring(page, `/p/${project.name}/datasets/${set.id}/v/${version}`, [{ name: 'ingot.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) }])
  }
  const url = `/p/${project.name}/datasets/${set.id}/v/2?tab=compare`
  await page.goto(url)
  await expect(page.getByText('Split 450')).toBeVisible()
  await expect(page.getByRole('row', { name: long })).toContainText('train → val')
  await page.goto(`${url}&change=split&name=420.txt`)
  await expect(dialog(page).getByText('420.txt')).toBeVisible()
  await expect(dialog(page).getByRole('region', { name: 'v2' })).toContainText('text 420')
  await page.keyboard.press('ArrowRight')
  await expect(dialog(page).getByText('421.txt')).toBeVisible()
  // On a telephone what changed is in sight, and a long name ends before the buttons.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${url}&name=${encodeURIComponent(long)}`)
  const [title, button] = await Promise.all([dialog(page).locator('.drawer-title').boundingBox(), dialog(page).getByRole('button', { name: 'Previous sample' }).boundingBox()])
  expect((title?.x ?? 0) + (title?.width ?? 0)).toBeLessThanOrEqual(button?.x ?? 0)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('row', { name: long }).locator('.tag')).toBeInViewport({ ratio: 1 })
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${url}&name=500.txt`)
  await expect(page.getByRole('status').filter({ hasText: '“500.txt” is not among these differences.' })).toBeVisible()
})
