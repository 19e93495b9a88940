import type { Page } from '@playwright/test'
import { resolve } from 'node:path'
import { reaches } from './compute'
import { Api, dialog, expect, signInAs, test, type Made } from './fixtures'
import { painted, zip } from './pictures'
import { adminPassword, serve } from './server'

// As a new user would, on a folder with nothing in it: labelled pictures, one click, its curves, how good the model is and where
// it fails, two labels that were wrong, a second model, both beside each other, and the better one as canary.
const folder = resolve(__dirname, '../../test-results/screens')
const each = 24
const all = 3 * each + 2
type Colour = readonly [number, number, number]
const colours: Record<string, Colour> = { apple: [200, 40, 50], leaf: [40, 160, 60], sky: [50, 80, 210] }

/** Folders of pictures as ImageFolder has them; one apple and one leaf are filed as sky. */
function archive(): Buffer {
  const files: Record<string, Buffer> = {}
  for (const [label, colour] of Object.entries(colours)) for (let i = 0; i < each; i += 1) files[`${label}/${label}-${i}.png`] = painted(40, 40, colour, i)
  files['sky/odd-apple.png'] = painted(40, 40, colours['apple'] as Colour, 71)
  files['sky/odd-leaf.png'] = painted(40, 40, colours['leaf'] as Colour, 72)
  return zip(files)
}

/** One click, with what makes it quick opened; gives the run. */
async function train(page: Page, version: string): Promise<{ training: number; run: number }> {
  await page.goto(version)
  await page.getByRole('button', { name: 'Train on this' }).click()
  const drawer = dialog(page)
  await expect(drawer.getByRole('table', { name: 'Classes' }).getByRole('row')).toHaveCount(3, { timeout: 60_000 })
  await drawer.getByText('Advanced parameters').click()
  await drawer.getByRole('spinbutton', { name: 'Most epochs' }).fill('15')
  await drawer.getByRole('spinbutton', { name: 'Input size' }).fill('32')
  await drawer.getByRole('button', { name: 'Start training' }).click()
  await expect(page).toHaveURL(/\/trainings\/\d+\/instances\/\d+/, { timeout: 60_000 })
  const [, training, run] = /trainings\/(\d+)\/instances\/(\d+)/.exec(page.url()) ?? []
  return { training: Number(training), run: Number(run) }
}

async function model(api: Api, { training, run }: { training: number; run: number }): Promise<Made> {
  expect(await reaches(api, `trainings/${training}/instances/${run}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })
  await expect.poll(async () => (await api.get(`trainings/${training}/instances/${run}`))['model_version'], { timeout: 120_000 }).not.toBeNull()
  return (await api.get(`trainings/${training}/instances/${run}`))['model_version'] as Made
}

/** A sample in the list of the worst: what is filed wrongly is found otherwise, and surely. */
const worst = (page: Page, file: string) => page.locator('.evaluation-samples > li').filter({ hasText: file })

async function evaluated(api: Api, project: Made, version: Made, truth: Made): Promise<Made> {
  const made = await api.create('evaluations', { project: project.id, model_version: version.id, dataset_version: truth.id, name: `all of ${version.name}` })
  expect(await reaches(api, `evaluations/${made.id}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })
  return made
}

test('from labelled pictures by one click to a better model as canary', async ({ page }) => {
  test.setTimeout(900_000)
  const server = await serve()
  try {
    const api = await Api.signIn('admin', adminPassword, server.url)
    const project = await api.create('projects', { name: 'orchard' })
    await api.create('specs', { name: 'room', cpus: 1, memory: 2 * 2 ** 30 })
    const set = await api.create('datasets', { project: project.id, name: 'things', data_type: 'image', annotation_type: 'image-class' })
    const truth = await api.create(`datasets/${set.id}/versions`, {})
    const data = `${server.url}/p/orchard/datasets/${set.id}/v`
    const shot = (name: string) => page.screenshot({ path: `${folder}/learning-${name}.png`, fullPage: true })
    await signInAs(page, 'admin', adminPassword, server.url)

    await test.step('import what is labelled', async () => {
      await page.goto(`${data}/1?tab=import`)
      await page.getByTestId('import-files').setInputFiles([{ name: 'things.zip', mimeType: 'application/zip', buffer: archive() }])
      await page.getByRole('button', { name: 'Start import' }).click()
      await expect(page.locator('.running .task-done')).toBeVisible({ timeout: 120_000 })
    })

    const first = await test.step('press train, and watch', async () => {
      const started = await train(page, `${data}/1`)
      const made = await model(api, started)
      await expect(page.getByRole('figure', { name: /^loss/ })).toBeVisible({ timeout: 60_000 })
      await expect(page.getByRole('button', { name: 'Deploy' })).toBeVisible({ timeout: 60_000 })
      await shot('1-run')
      return { ...started, made }
    })

    await test.step('the first model answers', async () => {
      await page.getByRole('button', { name: 'Deploy' }).click()
      await dialog(page).getByRole('button', { name: 'Deploy' }).click()
      await dialog(page).getByRole('button', { name: 'I have copied it' }).click()
      await expect(page).toHaveURL(/\/services\/\d+$/)
    })
    const service = Number(/\d+$/.exec(page.url())?.[0])
    await reaches(api, `services/${service}`, ['serving'])

    const report = await evaluated(api, project, first.made, truth)
    await test.step('read the report, and find the worst samples', async () => {
      await page.goto(`${server.url}/p/orchard/evaluations/${report.id}`)
      await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible({ timeout: 60_000 })
      await expect(page.locator('.evaluation-words li').first()).toBeVisible()
      await shot('2-report')
      await page.getByRole('link', { name: 'Samples', exact: true }).click()
      await expect(page.locator('.evaluation-samples > li').first()).toBeVisible()
      await expect.poll(() => page.locator('.evaluation-picture img').first().evaluate((node) => (node as HTMLImageElement).naturalWidth)).toBeGreaterThan(0)
      await shot('3-samples')
    })

    await test.step('mend two labels in the workbench', async () => {
      for (const [file, label] of [['odd-apple.png', 'apple'], ['odd-leaf.png', 'leaf']] as const) {
        await page.goto(`${server.url}/p/orchard/evaluations/${report.id}?tab=samples&label=sky`)
        await worst(page, file).getByRole('link', { name: 'Correct the labels' }).click()
        await expect(page.locator('.film-cell[aria-current] img')).toBeVisible({ timeout: 60_000 })
        const sample = Number(/sample=(\d+)/.exec(page.url())?.[1])
        await shot(`4-mend-${label}`)
        await page.getByRole('region', { name: 'Labels' }).getByRole('button', { name: new RegExp(`^${label}`) }).click()
        await expect.poll(async () => ((await api.get(`datasets/${set.id}/versions/${truth.id}/samples/${sample}`))['annotation'] as { labels?: string[] }).labels).toEqual([label])
      }
    })

    const mended = await test.step('train again, on a new version', async () => {
      const version = await api.create(`datasets/${set.id}/versions`, { from: truth.id })
      await expect.poll(async () => (await api.get(`datasets/${set.id}/versions/${version.id}`))['annotated'], { timeout: 120_000 }).toBe(all)
      return version
    })
    const second = await train(page, `${data}/2`)
    const better = await model(api, second)

    await test.step('compare', async () => {
      const old = await evaluated(api, project, first.made, mended)
      const now = await evaluated(api, project, better, mended)
      await page.goto(`${server.url}/p/orchard/evaluations/${now.id}?tab=compare&with=${old.id}`)
      await expect(page.locator('.verdict').first()).toBeVisible({ timeout: 60_000 })
      await shot('5-compare')
      await page.goto(`${server.url}/p/orchard/runs/compare?runs=${first.run},${second.run}&tab=differences`)
      await expect(page.getByText('things v1 → things v2', { exact: false })).toContainText('2')
      await shot('6-differences')
    })

    await test.step('deploy the better one as canary', async () => {
      await page.goto(`${server.url}/p/orchard/trainings/${second.training}/instances/${second.run}`)
      await page.getByRole('button', { name: 'As canary of things' }).click()
      await expect(dialog(page).getByText('As canary: a share of the requests goes to it')).toBeVisible()
      await dialog(page).getByRole('button', { name: 'Deploy' }).click()
      await expect(page).toHaveURL(new RegExp(`/services/${service}$`))
      await expect.poll(async () => (await api.get(`services/${service}`))['canary'], { timeout: 180_000 }).toBe('1/1')
      await expect(page.getByText('Serving').nth(1)).toBeVisible({ timeout: 60_000 })
      await shot('7-canary')
    })
  } finally {
    await server.stop()
  }
})
