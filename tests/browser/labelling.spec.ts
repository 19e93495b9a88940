import type { Page } from '@playwright/test'
import { Api, dialog, expect, member, option, signInAs, signInAsAdmin, test, type Made } from './fixtures'
import { png, zip } from './pictures'
import { wav } from './sounds'

// Teams, tasks and what annotators see of them; texts and sounds as they look outside of the workbench.

interface Data {
  set: Made
  version: Made
}

const labels = [{ name: 'good', color: '#46a758', key: 'g' }, { name: 'bad', color: '#e5484d', key: 'b' }]

/** A dataset with one version that the files were imported into. */
async function dataset(page: Page, api: Api, project: Made, name: string, type: string, data: string, files: Record<string, Buffer>): Promise<Data> {
  const labelSet = await api.create('label-sets', { project: project.id, name: `${name} labels`, labels })
  const set = await api.create('datasets', { project: project.id, name, annotation_type: type, data_type: data, label_set: labelSet.id })
  const version = await api.create(`datasets/${set.id}/versions`, {})
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'files.zip', mimeType: 'application/zip', buffer: zip(files) }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  return { set, version }
}

async function post(api: Api, path: string, data: object = {}): Promise<Record<string, unknown>> {
  const answer = await api.context.post(`/api/v1/${path}`, { data })
  const text = await answer.text()
  expect(answer.status(), `${path}: ${text}`).toBeLessThan(300)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

async function choose(page: Page, name: string, text: string): Promise<void> {
  await dialog(page).getByRole('combobox', { name }).click({ force: true })
  await option(page, text).click()
}

test('an owner makes teams and a task, its people see their work and nothing else', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const pictures = await dataset(page, api, project, 'animals', 'image-class', 'image', Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}.png`, png(32, 24, i)])))
  const anna = await member(api, project, 'annotator')
  const roger = await member(api, project, 'reviewer')
  await member(api, project, 'viewer')

  // Teams: only people who may do the work are offered.
  for (const [name, role, who] of [['Labellers', 'Labelling', anna], ['Judges', 'Review', roger]] as const) {
    await page.goto(`/p/${project.name}/teams?new=1`)
    await page.locator('#form-name').fill(name)
    if (role === 'Review') {
      await dialog(page).getByRole('combobox', { name: 'Role' }).click({ force: true })
      await option(page, role).click()
    }
    await choose(page, 'Members', who.user.name)
    // Several may be chosen: the list stays open until it is closed.
    await page.keyboard.press('Escape')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    await expect(page.getByRole('heading', { name, exact: true })).toBeVisible()
  }

  await page.goto(`/p/${project.name}/label-tasks?new=1`)
  await page.locator('#form-name').fill('First round')
  await dialog(page).getByRole('combobox', { name: 'Dataset', exact: true }).click({ force: true })
  await option(page, 'animals').click()
  await choose(page, 'Labelling team', 'Labellers')
  await choose(page, 'Review team', 'Judges')
  // Pictures come into the instructions as files, and from the clipboard where the cursor is.
  const told = dialog(page).getByRole('textbox', { name: 'Instructions' })
  await told.fill('Like this: ')
  await page.getByTestId('instructions-files').setInputFiles({ name: 'good.png', mimeType: 'image/png', buffer: png(40, 30, 3) })
  await expect(told).toHaveValue(/^Like this: !\[good\]\(upload:\w+\)$/)
  await told.evaluate((area: HTMLTextAreaElement, bytes) => {
    area.setSelectionRange(4, 4)
    const data = new DataTransfer()
    data.items.add(new File([new Uint8Array(bytes)], 'pasted.png', { type: 'image/png' }))
    area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  }, [...png(30, 40, 4)])
  await expect(told).toHaveValue(/^Like!\[pasted\]\(upload:\w+\) this: !\[good\]/)
  await page.getByTestId('instructions-files').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') })
  await expect(dialog(page).getByText('notes.txt is not a picture.')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await dialog(page).getByRole('button', { name: 'Open', exact: true }).click()
  await expect(page.locator('.part-legend')).toContainText('Waiting 8')

  // The annotator's home is "My tasks", and the menu has nothing else.
  const other = await (await browser.newContext({ baseURL: process.env['INGOT_URL'], locale: 'en-GB' })).newPage()
  await signInAs(other, anna.user.name, anna.password)
  await other.goto('/')
  await expect(other).toHaveURL(new RegExp(`/p/${project.name}/my-tasks$`))
  await expect(other.getByRole('heading', { name: 'My tasks' })).toBeVisible()
  await expect(other.getByRole('navigation', { name: 'Menu' }).getByRole('listitem')).toHaveText(['My tasks'])
  await expect(other.locator('.go-on')).toContainText('First round')

  // Work by the API; the page of the task tells of it.
  const worker = await Api.signIn(anna.user.name, anna.password)
  const { items: tasks } = (await api.get(`label-tasks?project=${project.id}`)) as { items: Made[] }
  const task = tasks[0]?.id ?? 0
  const given = (await post(worker, `label-tasks/${task}/next`, { stage: 'label' }))['items'] as { id: number; sample: { id: number } }[]
  expect(given).toHaveLength(8)
  for (const one of given.slice(0, 5)) await post(worker, `label-tasks/${task}/submit`, { assignment: one.id, nothing: true, active_seconds: 6 })
  await post(worker, `label-tasks/${task}/skip`, { assignment: given[5]?.id, reason: 'Too dark' })
  await post(worker, `label-tasks/${task}/threads?sample=${given[6]?.sample.id}`, { text: 'A cat or a dog?' })
  await other.goto('/')
  await expect(other.locator('.stage-facts')).toContainText('5')
  await other.goto(`/p/${project.name}/label-tasks/${task}/label`)
  await expect(other.locator('.bench-saved')).toBeVisible()
  await other.keyboard.press('Shift+I')
  const shown = other.locator('.markdown img')
  await expect(shown).toHaveCount(2)
  await expect.poll(() => shown.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth))).toEqual([30, 40])

  await page.goto(`/p/${project.name}/label-tasks/${task}`)
  await expect(page.locator('.part-legend')).toContainText('Skipped 1')
  const row = page.getByRole('row').filter({ hasText: anna.user.name })
  await expect(row.getByRole('cell')).toHaveText([anna.user.name, 'Labelling', '20%', '5', '0', '0', '1', /./, /\/h$/])
  // More of one person's work is reviewed from now on, and the table says so.
  await row.getByRole('button', { name: `Review more of ${anna.user.name}` }).click()
  await dialog(page).getByLabel('Percent of this person’s samples').fill('80')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('raised80%')
  expect((await api.get(`label-tasks/${task}`))['raised']).toEqual({ [anna.user.id]: 80 })
  await row.getByRole('button', { name: /Review more/ }).click()
  await dialog(page).getByRole('button', { name: 'Same as everyone' }).click()
  await expect(row).not.toContainText('raised')
  const csv = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download CSV' }).click()
  expect((await csv).suggestedFilename()).toMatch(/\.csv$/)
  await page.getByRole('link', { name: 'Samples', exact: true }).click()
  await expect(page.getByRole('row').filter({ hasText: 'Too dark' })).toContainText('Skipped')

  await page.getByRole('link', { name: 'Questions (1)' }).click()
  await expect(page.locator('.thread')).toContainText('A cat or a dog?')
  await page.getByLabel('Answer').fill('A dog.')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.locator('.thread li')).toHaveCount(2)
  await page.getByRole('button', { name: 'Resolve' }).click()
  await expect(page.getByText('No open questions')).toBeVisible()

  // Each step says what it means; closing accepts the rest where that is ticked.
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(dialog(page)).toContainText('No new samples are handed out')
  await dialog(page).getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByRole('button', { name: 'Resume' })).toBeVisible()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Close' }).click()
  await expect(dialog(page)).toContainText('3 samples are not labelled yet')
  await dialog(page).getByRole('checkbox').check()
  await dialog(page).getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.locator('.part-legend')).toContainText('Accepted 5')

  // Publishing after a review: the reviewer finds it among their tasks.
  const url = `/p/${project.name}/datasets/${pictures.set.id}/v/1`
  await page.goto(`${url}?tab=labelling`)
  await expect(page.getByRole('row').filter({ hasText: anna.user.name })).toContainText('Labelling')
  await page.getByRole('button', { name: 'Publish' }).click()
  await dialog(page).getByRole('button', { name: 'Ask for review first…' }).click()
  await choose(page, 'Review team', 'Judges')
  await dialog(page).getByRole('button', { name: 'Ask for review' }).click()
  await expect(page.getByText('Waiting for review')).toBeVisible()
  await other.context().clearCookies()
  await signInAs(other, roger.user.name, roger.password)
  await other.goto('/')
  await other.getByRole('link', { name: 'animals v1' }).click()
  await expect(other.getByRole('row').filter({ hasText: anna.user.name })).toBeVisible()
  await other.getByRole('button', { name: 'Accept and publish' }).click()
  await expect.poll(async () => (await api.get(`datasets/${pictures.set.id}/versions/${pictures.version.id}`))['state']).toBe('published')
  await other.context().close()
  await worker.context.dispose()
})

test('texts and sounds are rows; statistics have colours and splits', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const lines = ['Wonderful.', 'Never again.', 'So so.\nIn two lines.'].map((text, i) => JSON.stringify({ file: `${i}.txt`, text, ...(i < 2 && { labels: [labels[i]?.name], split: i === 0 ? 'train' : 'val' }) }))
  const texts = await dataset(page, api, project, 'reviews', 'text-class', 'text', { 'a.jsonl': Buffer.from(lines.join('\n')) })
  await page.goto(`/p/${project.name}/datasets/${texts.set.id}/v/1`)
  const rows = page.locator('.sample-row')
  await expect(rows).toHaveCount(3)
  await expect(rows.nth(0)).toContainText('Wonderful.')
  await expect(rows.nth(0)).toContainText('good')
  await expect(rows.nth(1)).toContainText('val')
  await expect(rows.nth(2)).toContainText('In two lines.')
  await page.goto(`/p/${project.name}/datasets/${texts.set.id}/v/1?tab=statistics`)
  const bad = page.getByRole('table', { name: 'Samples per label' }).getByRole('row').filter({ hasText: 'bad' })
  await expect(bad).toContainText('val 1')
  await expect(bad.locator('.bars-bar')).toHaveCSS('background-color', 'rgb(229, 72, 77)')
  await expect(page.getByText('1 label has no sample in train: bad')).toBeVisible()

  const sounds = await dataset(page, api, project, 'birds', 'audio-class', 'audio', { '1.wav': wav(1), '2.wav': wav(2) })
  await page.goto(`/p/${project.name}/datasets/${sounds.set.id}/v/1`)
  await expect(rows).toHaveCount(2)
  const drawn = () => page.locator('.line-wave').first().evaluate((canvas) => {
    const wave = canvas as HTMLCanvasElement
    const pixels = wave.getContext('2d')?.getImageData(0, 0, wave.width, wave.height).data ?? []
    return pixels.filter((value, i) => i % 4 === 3 && value > 0).length
  })
  await expect.poll(drawn).toBeGreaterThan(1000)
  const asked = page.waitForRequest(/\/content\?/)
  await page.locator('[data-play]').nth(1).click()
  expect((await asked).url()).toContain('/samples/')
  await expect(page).not.toHaveURL(/sample=/)
})

test('pictures many at once, texts and sounds are labelled by keys', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const labelled = async ({ set, version }: Data) => {
    const { items } = (await api.get(`datasets/${set.id}/versions/${version.id}/samples?limit=100`)) as { items: { annotation: { labels?: string[] } }[] }
    return items.map((one) => one.annotation.labels?.join() ?? '')
  }
  const bench = ({ set }: Data) => `/p/${project.name}/datasets/${set.id}/v/1/label`

  // A key labels and leads on; Shift selects several, a key labels them all, and undo takes that back as one.
  const pictures = await dataset(page, api, project, 'animals', 'image-class', 'image', Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.png`, png(32, 24, i)])))
  await page.goto(bench(pictures))
  await expect(page.locator('.film-cell[aria-current] img')).toBeVisible()
  await page.keyboard.press('Shift+G')
  const sheet = page.locator('.sheet-cells')
  await expect(sheet.getByRole('option')).toHaveCount(6)
  await sheet.focus()
  await page.keyboard.press('g')
  await expect.poll(() => labelled(pictures)).toEqual(['good', '', '', '', '', ''])
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('b')
  await expect.poll(() => labelled(pictures)).toEqual(['good', 'bad', 'bad', 'bad', '', ''])
  await page.keyboard.press('Control+z')
  await expect.poll(() => labelled(pictures)).toEqual(['good', '', '', '', '', ''])

  const long = `${'Line after line of it. 👩‍👩‍👧‍👦\n'.repeat(2000)}The cafe\u0301 at the end.`
  const texts = await dataset(page, api, project, 'reviews', 'text-class', 'text', { 'a.txt': Buffer.from(long), 'b.txt': Buffer.from('Short.') })
  await page.goto(bench(texts))
  await expect(page.locator('.reading-pane')).toContainText('Line after line')
  await page.getByLabel('Find in the text').fill('café')
  await expect(page.locator('mark.current')).toBeInViewport()
  await page.keyboard.press('Escape')
  await page.keyboard.press('b')
  await expect(page.locator('.chosen')).toContainText('bad')
  await expect.poll(() => labelled(texts)).toContain('bad')

  const sounds = await dataset(page, api, project, 'birds', 'audio-class', 'audio', { '1.wav': wav(1) })
  await page.goto(bench(sounds))
  await expect(page.locator('.hearing-wave[aria-busy="false"]')).toBeVisible()
  await page.keyboard.press('g')
  await expect(page.locator('.chosen')).toContainText('good')
  await expect.poll(() => labelled(sounds)).toEqual(['good'])
})
