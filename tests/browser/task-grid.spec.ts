import { another, draw, objects, openTask, pictures, samples, saved, shown } from './bench'
import { expect, member, signInAsAdmin, test } from './fixtures'
import type { Page } from '@playwright/test'

// Tasks beyond one sample after the other: many at once, what was handed in, and questions at a place.

const sheet = (page: Page) => page.locator('.sheet-cells')
const cells = (page: Page) => sheet(page).getByRole('option')

async function openSheet(page: Page): Promise<void> {
  await expect(page.locator('.film-cell[aria-current] img')).toBeVisible()
  await page.keyboard.press('Shift+G')
  await sheet(page).focus()
}

test('classification by grid: labelled, handed in and taken back by keys, judged many at a time', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 5, { type: 'image-class' })
  const [anna, eye] = [await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, data, { labellers: [anna.user], reviewers: [eye.user] })
  const url = `/p/${project.name}/label-tasks/${task}`
  const now = async () => (await samples(api, data.set, data.version)).map((s) => `${s.state} ${((s.annotation as { labels?: string[] }).labels ?? []).join()}`.trim())

  const hand = await another(browser, anna, `${url}/label`)
  await openSheet(hand)
  await expect(cells(hand)).toHaveCount(5)
  for (const key of ['1', '2', '1']) await hand.keyboard.press(key)
  await expect(saved(hand)).toBeVisible()
  // Labelling hands nothing in.
  await expect.poll(now).toEqual(['unannotated cat', 'unannotated dog', 'unannotated cat', 'unannotated', 'unannotated'])
  await hand.keyboard.press('s')
  await expect(hand.getByText('3 samples submitted')).toBeVisible()
  await expect.poll(now).toEqual(['review cat', 'review dog', 'review cat', 'unannotated', 'unannotated'])
  await expect(cells(hand).nth(1)).toHaveAccessibleName('1.png, Handed in, dog')

  // What was handed in stays as it is; what is selected and has nothing on it is handed in as such.
  await hand.keyboard.press('Home')
  await hand.keyboard.press('2')
  await expect(hand.locator('.bench-said')).toHaveText('Handed in')
  await hand.keyboard.press('End')
  await hand.keyboard.press('m')
  await expect.poll(now).toEqual(['review cat', 'review dog', 'review cat', 'unannotated', 'review'])
  await hand.keyboard.press('End')
  await hand.keyboard.press('Shift+Z')
  await expect.poll(now).toEqual(['review cat', 'review dog', 'review cat', 'unannotated', 'unannotated'])
  await expect(cells(hand).nth(4)).not.toHaveAccessibleName(/Handed in/)
  await hand.keyboard.press('2')
  await hand.keyboard.press('ArrowLeft')
  await hand.keyboard.press('2')
  await expect(saved(hand)).toBeVisible()
  await hand.keyboard.press('s')
  await expect(hand.getByRole('heading', { name: 'All done' })).toBeVisible()
  await hand.context().close()

  const judge = await another(browser, eye, `${url}/review`)
  await openSheet(judge)
  await expect(cells(judge)).toHaveCount(5)
  await judge.keyboard.press('u')
  await judge.getByRole('textbox', { name: 'Reason' }).fill('no cat')
  await judge.getByRole('button', { name: 'Send' }).click()
  await expect.poll(now).toEqual(['rejected cat', 'review dog', 'review cat', 'review dog', 'review dog'])
  await expect(judge.getByRole('dialog')).toBeHidden()
  await sheet(judge).focus()
  await judge.keyboard.press('Shift+End')
  await judge.keyboard.press('y')
  await expect.poll(now).toEqual(['rejected cat', 'accepted dog', 'accepted cat', 'accepted dog', 'accepted dog'])
  await judge.context().close()
})

test('each of several people has a grid of their own', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2, { type: 'image-class' })
  const [anna, ben, eye] = [await member(api, project, 'annotator'), await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, data, { labellers: [anna.user, ben.user], reviewers: [eye.user] }, { seats: 2 })
  for (const [who, key, label] of [[anna, '1', 'cat'], [ben, '2', 'dog']] as const) {
    const hand = await another(browser, who, `/p/${project.name}/label-tasks/${task}/label`)
    await openSheet(hand)
    await expect(cells(hand).first()).toHaveAccessibleName('0.png, Not annotated')
    await hand.keyboard.press(key)
    await hand.keyboard.press(key)
    await expect(saved(hand)).toBeVisible()
    // What one said is there again, and nothing of the other's.
    await hand.reload()
    await openSheet(hand)
    for (const i of [0, 1]) await expect(cells(hand).nth(i)).toHaveAccessibleName(`${i}.png, Not annotated, ${label}`)
    await sheet(hand).focus()
    await hand.keyboard.press('Shift+End')
    await hand.keyboard.press('s')
    await expect(hand.getByRole('heading', { name: 'All done' })).toBeVisible()
    await hand.context().close()
  }
  expect((await samples(api, data.set, data.version)).map((s) => [s.state, s.annotation])).toEqual([['review', {}], ['review', {}]])
})

test('what was handed in is looked at, and changed once it is taken back; a question stands at its place', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2)
  const [anna, eye] = [await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, data, { labellers: [anna.user], reviewers: [eye.user] }, { review_ratio: 0 })
  const url = `/p/${project.name}/label-tasks/${task}`
  const hand = await another(browser, anna, `${url}/label`)
  await shown(hand)
  await draw(hand, [0.3, 0.3], [0.45, 0.5])
  await expect(saved(hand)).toBeVisible()
  await hand.keyboard.press('s')
  await expect(hand.getByRole('heading', { name: '1.png' })).toBeVisible()
  await hand.keyboard.press('a')
  await expect(hand.getByText('You submitted this sample.')).toBeVisible()
  await expect(objects(hand)).toHaveCount(1)
  await draw(hand, [0.55, 0.55], [0.65, 0.65])
  await expect(hand.getByText('This cannot be changed')).toBeVisible()
  await expect(objects(hand)).toHaveCount(1)
  await hand.keyboard.press('Shift+Z')
  await expect(hand.getByText('You submitted this sample.')).toBeHidden()
  await draw(hand, [0.55, 0.55], [0.65, 0.65])
  await expect(objects(hand)).toHaveCount(2)
  await expect(saved(hand)).toBeVisible()
  await hand.keyboard.press('s')
  await expect(hand.getByRole('heading', { name: '1.png' })).toBeVisible()
  expect((await samples(api, data.set, data.version))[0]?.annotation.shapes).toHaveLength(2)

  // A click says where; the owner sees the place and answers, and the answer is there.
  await shown(hand)
  await hand.keyboard.press("'")
  const canvas = await hand.locator('.bench-canvas').boundingBox()
  if (!canvas) throw new Error('no canvas')
  await hand.mouse.click(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2)
  await hand.getByRole('textbox', { name: 'What do you want to know?' }).fill('Is this a dog?')
  await hand.getByRole('button', { name: 'Send' }).click()
  const asked = hand.getByRole('region', { name: 'Questions and remarks' })
  await expect(asked.getByRole('button', { name: 'Show question 1' })).toBeVisible()
  const { items } = (await api.get(`label-tasks/${task}/threads`)) as { items: { x: number; y: number }[] }
  expect(items).toHaveLength(1)
  for (const [at, size] of [[items[0]?.x ?? 0, 320], [items[0]?.y ?? 0, 240]] as const) expect(Math.abs(at - size / 2)).toBeLessThan(size / 20)
  // The tool that was there is there again.
  await expect(hand.getByRole('button', { name: 'Box', exact: true })).toHaveAttribute('aria-pressed', 'true')

  await page.goto(`${url}?tab=questions`)
  await expect(page.locator('.thread-picture .note-number')).toHaveText('1')
  await expect(page.getByRole('link', { name: 'Open the sample' })).toHaveAttribute('href', new RegExp(`/v/1/label\\?sample=\\d+$`))
  await page.getByLabel('Answer').fill('Yes.')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.locator('.thread li')).toHaveCount(2)
  await hand.reload()
  await expect(asked.getByText('Yes.')).toBeVisible()
  await asked.getByRole('button', { name: 'Resolve' }).click()
  await expect(asked.getByRole('button', { name: 'Resolve' })).toBeHidden()
  await hand.context().close()
})

test('by touch: several are picked one by one, labelled, and left again', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 5, { type: 'image-class' })
  const now = async () => (await samples(api, data.set, data.version)).map((s) => ((s.annotation as { labels?: string[] }).labels ?? []).join())
  const context = await browser.newContext({ baseURL: process.env['INGOT_URL'] as string, locale: 'en-GB', hasTouch: true, viewport: { width: 1024, height: 768 } })
  const tablet = await context.newPage()
  await signInAsAdmin(tablet)
  await tablet.goto(`/p/${project.name}/datasets/${data.set.id}/v/1/label`)
  await openSheet(tablet)
  const several = tablet.getByRole('button', { name: 'Pick several' })
  await cells(tablet).nth(0).tap()
  await several.tap()
  for (const i of [2, 4, 3, 3]) await cells(tablet).nth(i).tap()
  await expect(tablet.getByText('3 selected')).toBeVisible()
  await tablet.getByRole('button', { name: 'dog', exact: false }).tap()
  await expect.poll(now).toEqual(['dog', '', 'dog', '', 'dog'])
  await several.tap()
  await cells(tablet).nth(1).tap()
  await expect(tablet.getByText('1 selected')).toBeVisible()
  await tablet.getByRole('button', { name: 'cat', exact: false }).tap()
  await expect.poll(now).toEqual(['dog', 'cat', 'dog', '', 'dog'])
  await context.close()
})
