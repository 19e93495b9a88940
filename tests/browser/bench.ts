// The workbench from outside: pictures to work on, and the hand that draws.
import type { Browser, Page } from '@playwright/test'
import { expect, signInAs, type Api, type Made } from './fixtures'
import { png, zip } from './pictures'

export interface Data {
  set: Made
  version: Made
}

export interface Shape {
  id: string
  type: string
  label?: string
  text?: string
  x: number
  y: number
  w: number
  h: number
  rings?: number[][]
  holes?: number[][]
  points?: [number, number, number][]
}

type Place = [x: number, y: number]
const things = [{ name: 'cat', color: '#e5484d' }, { name: 'dog', color: '#0090ff' }]

/** A dataset with a few pictures of 320 x 240, and two labels. */
export async function pictures(page: Page, api: Api, project: Made, count: number, { type = 'detection', labels = things, files }: { type?: string; labels?: object[]; files?: Record<string, Buffer> } = {}): Promise<Data> {
  const labelSet = await api.create('label-sets', { project: project.id, name: `${type} labels`, labels })
  const set = await api.create('datasets', { project: project.id, name: `${type} work`, annotation_type: type, label_set: labelSet.id })
  const version = await api.create(`datasets/${set.id}/versions`, {})
  const archive = zip(files ?? Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.png`, png(320, 240, i)])))
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'few.zip', mimeType: 'application/zip', buffer: archive }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible({ timeout: 120_000 })
  return { set, version }
}

export async function samples(api: Api, set: Made, version: Made) {
  const { items } = (await api.get(`datasets/${set.id}/versions/${version.id}/samples?state=any`)) as { items: { id: number; state: string; annotation: { shapes?: Shape[] } }[] }
  return items
}

/** A box from one share of the canvas to another. */
export async function draw(page: Page, from: Place, to: Place): Promise<void> {
  await page.mouse.move(...(await placeOf(page, from)))
  await page.mouse.down()
  await page.mouse.move(...(await placeOf(page, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2])))
  await page.mouse.move(...(await placeOf(page, to)))
  await page.mouse.up()
}

export const saved = (page: Page) => page.locator('.bench-foot').getByText('Saved', { exact: true })
export const objects = (page: Page) => page.getByRole('region', { name: 'Objects' }).getByRole('listitem')
export const shown = async (page: Page) => {
  await expect(page.locator('.bench-canvas')).toBeVisible()
  await expect(page.locator('.film-cell[aria-current] img')).toBeVisible()
}

/** A place of the window, of shares of the canvas. */
async function placeOf(page: Page, [x, y]: Place): Promise<Place> {
  const box = await page.locator('.bench-canvas').boundingBox()
  if (!box) throw new Error('no canvas')
  return [box.x + box.width * x, box.y + box.height * y]
}

export async function click(page: Page, ...places: Place[]): Promise<void> {
  for (const place of places) await page.mouse.click(...(await placeOf(page, place)))
}

/** Places of the window, of pixels of the picture that is shown. */
async function onPicture(page: Page, places: readonly Place[]): Promise<Place[]> {
  const image = page.locator('.bench-canvas [data-src]')
  const [box, width] = [await image.boundingBox(), await image.evaluate((node) => (node as HTMLElement).offsetWidth)]
  if (!box) throw new Error('no picture')
  return places.map(([x, y]) => [box.x + (x * box.width) / width, box.y + (y * box.width) / width])
}

/** Clicks on pixels of the picture, one after the other. */
export async function clickPixels(page: Page, ...places: Place[]): Promise<void> {
  for (const place of await onPicture(page, places)) await page.mouse.click(...place)
}

/** Draws from one pixel of the picture to another. */
export async function drag(page: Page, from: Place, to: Place): Promise<void> {
  const [a, middle, b] = await onPicture(page, [from, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], to])
  await page.mouse.move(...(a as Place))
  await page.mouse.down()
  await page.mouse.move(...(middle as Place))
  await page.mouse.move(...(b as Place))
  await page.mouse.up()
}

/** Another person in a browser of their own. */
export async function another(browser: Browser, who: { user: Made; password: string }, url: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: process.env['INGOT_URL'] as string, locale: 'en-GB' })
  const page = await context.newPage()
  await signInAs(page, who.user.name, who.password)
  await page.goto(url)
  return page
}

/** Teams, and a task that is open; its id. */
export async function openTask(api: Api, project: Made, { version }: Data, people: { labellers: Made[]; reviewers: Made[] }, more: object = {}): Promise<number> {
  const hands = await api.create('teams', { project: project.id, name: 'hands', role: 'labelling', members: people.labellers.map((one) => one.id) })
  const eyes = await api.create('teams', { project: project.id, name: 'eyes', role: 'review', members: people.reviewers.map((one) => one.id) })
  const task = await api.create('label-tasks', { project: project.id, name: 'boxes', version: version.id, labelling_team: hands.id, review_team: eyes.id, review_ratio: 100, ...more })
  const opened = await api.context.post(`/api/v1/label-tasks/${task.id}/open`, { data: {} })
  expect(opened.ok(), await opened.text()).toBe(true)
  return task.id
}
