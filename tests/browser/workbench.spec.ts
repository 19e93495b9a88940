import type { Page } from '@playwright/test'
import { adminPassword } from './server'
import { Api, expect, member, signInAs, signInAsAdmin, test, type Made } from './fixtures'
import { png, zip } from './pictures'

/** A dataset of detection with a few pictures and two labels. */
async function pictures(page: Page, api: Api, project: Made, count: number): Promise<{ set: Made; version: Made }> {
  const labels = await api.create('label-sets', { project: project.id, name: 'things', labels: [{ name: 'cat', color: '#e5484d' }, { name: 'dog', color: '#0090ff' }] })
  const set = await api.create('datasets', { project: project.id, name: 'work', annotation_type: 'detection', label_set: labels.id })
  const version = await api.create(`datasets/${set.id}/versions`, {})
  const files = Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.png`, png(320, 240, i)]))
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'few.zip', mimeType: 'application/zip', buffer: zip(files) }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible({ timeout: 120_000 })
  return { set, version }
}

async function samples(api: Api, set: Made, version: Made) {
  const { items } = (await api.get(`datasets/${set.id}/versions/${version.id}/samples?state=any`)) as { items: { id: number; state: string; annotation: { shapes?: { label?: string }[] } }[] }
  return items
}

/** A box from one share of the canvas to another. */
async function draw(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  const box = await page.locator('.bench-canvas').boundingBox()
  if (!box) throw new Error('no canvas')
  const at = ([x, y]: [number, number]) => [box.x + box.width * x, box.y + box.height * y] as const
  await page.mouse.move(...at(from))
  await page.mouse.down()
  await page.mouse.move(...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]))
  await page.mouse.move(...at(to))
  await page.mouse.up()
}

const saved = (page: Page) => page.locator('.bench-foot').getByText('Saved', { exact: true })
const objects = (page: Page) => page.getByRole('region', { name: 'Objects' }).getByRole('listitem')
const shown = async (page: Page) => {
  await expect(page.locator('.bench-canvas')).toBeVisible()
  await expect(page.locator('.film-cell[aria-current] img')).toBeVisible()
}

test('boxes are drawn, survive being off line, and are seen by another at once', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 3)
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1`)
  await page.getByRole('button', { name: 'Label', exact: true }).click()
  await shown(page)
  await expect(saved(page)).toBeVisible()
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect(objects(page)).toHaveCount(1)
  await expect(saved(page)).toBeVisible()

  // Another person sees it live.
  const { user, password } = await member(api, project, 'member')
  const context = await browser.newContext({ baseURL: process.env['INGOT_URL'] as string })
  const other = await context.newPage()
  await signInAs(other, user.name, password)
  await other.goto(page.url())
  await expect(objects(other)).toHaveCount(1)
  await expect(page.getByRole('list', { name: 'Also here' })).toBeVisible()

  // Off line for a while: everything is kept, and said.
  await page.context().setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  await page.keyboard.press('2')
  await page.keyboard.press('Escape')
  await page.keyboard.press('b')
  await draw(page, [0.55, 0.3], [0.65, 0.5])
  await draw(page, [0.55, 0.6], [0.65, 0.7])
  await expect(page.getByText('Offline: 2 changes kept')).toBeVisible({ timeout: 60_000 })
  await draw(other, [0.3, 0.6], [0.4, 0.7])
  await page.context().setOffline(false)
  await expect(saved(page)).toBeVisible({ timeout: 60_000 })
  await expect(objects(page)).toHaveCount(4)
  await expect(objects(other)).toHaveCount(4)

  // Undo is another operation; what one reloads is what was saved.
  await page.keyboard.press('Control+z')
  await expect(objects(other)).toHaveCount(3)
  await page.reload()
  await expect(objects(page)).toHaveCount(3)
  await page.keyboard.press('d')
  await expect(objects(page)).toHaveCount(0)
  const first = (await samples(api, set, version))[0]
  expect(first?.annotation.shapes?.map((s) => s.label).sort()).toEqual(['cat', 'cat', 'dog'])
  await context.close()
})

test('a task: labelled, rejected with a reason, mended and accepted', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 2)
  const annotator = await member(api, project, 'annotator')
  const reviewer = await member(api, project, 'reviewer')
  const team = await api.create('teams', { project: project.id, name: 'hands', role: 'labelling', members: [annotator.user.id] })
  const eyes = await api.create('teams', { project: project.id, name: 'eyes', role: 'review', members: [reviewer.user.id] })
  const task = await api.create('label-tasks', { project: project.id, name: 'boxes', version: version.id, labelling_team: team.id, review_team: eyes.id, review_ratio: 100, instructions: '# Cats\n\nDraw **every** cat.' })
  const opened = await api.context.post(`/api/v1/label-tasks/${task.id}/open`, { data: {} })
  expect(opened.ok(), await opened.text()).toBe(true)

  const as = async (who: { user: Made; password: string }, stage: string) => {
    const context = await browser.newContext({ baseURL: process.env['INGOT_URL'] as string })
    const own = await context.newPage()
    await signInAs(own, who.user.name, who.password)
    await own.goto(`/p/${project.name}/label-tasks/${task.id}/${stage}`)
    return own
  }
  const hand = await as(annotator, 'label')
  await shown(hand)
  await hand.keyboard.press('Shift+I')
  await expect(hand.getByText('every', { exact: true })).toBeVisible()
  await hand.keyboard.press('Shift+I')
  await hand.keyboard.press('1')
  await draw(hand, [0.35, 0.35], [0.5, 0.5])
  await expect(saved(hand)).toBeVisible()
  await hand.keyboard.press('s')
  await expect(hand.getByText('1 of 2 done')).toBeVisible()
  await expect(hand.getByRole('heading', { name: '1.png' })).toBeVisible()
  await hand.keyboard.press('m')
  await expect(hand.getByRole('heading', { name: 'All done' })).toBeVisible()

  const eye = await as(reviewer, 'review')
  await shown(eye)
  await eye.keyboard.press('u')
  await eye.getByRole('textbox', { name: 'Reason' }).fill('too small')
  await eye.getByRole('button', { name: 'Send' }).click()
  await expect(eye.getByText('1 of 2 done')).toBeVisible()
  await expect(eye.getByRole('dialog')).toBeHidden()
  await expect(eye.getByText('2 of 2', { exact: true })).toBeVisible()
  await eye.keyboard.press('y')
  await expect(eye.getByRole('heading', { name: 'All done' })).toBeVisible()

  await hand.getByRole('button', { name: 'Look again' }).click()
  await expect(hand.getByRole('note')).toContainText('too small')
  await hand.keyboard.press('1')
  await draw(hand, [0.55, 0.55], [0.7, 0.7])
  await expect(saved(hand)).toBeVisible()
  await hand.keyboard.press('s')
  await expect(hand.getByRole('heading', { name: 'All done' })).toBeVisible()
  await eye.getByRole('button', { name: 'Look again' }).click()
  await shown(eye)
  await eye.keyboard.press('y')
  await expect(eye.getByRole('heading', { name: 'All done' })).toBeVisible()
  const all = await samples(await Api.signIn('admin', adminPassword), set, version)
  expect(all.map((s) => s.state)).toEqual(['accepted', 'accepted'])
  await hand.context().close()
  await eye.context().close()
})
