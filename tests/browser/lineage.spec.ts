import { resolve } from 'node:path'
import { countingAlgorithm, reaches, smallSpec } from './compute'
import { expect, signInAsAdmin, test } from './fixtures'

const folder = resolve(__dirname, '../../test-results/screens')

test('one walks from data to what serves a model of it, by links', async ({ page, api, project }) => {
  const spec = await smallSpec(api)
  const { version } = await countingAlgorithm(api, project)
  const data = await api.create('datasets', { project: project.id, name: 'streets', annotation_type: 'detection' })
  const first = await api.create(`datasets/${data.id}/versions`, {})
  const second = await api.create(`datasets/${data.id}/versions`, { from: first.id })
  const models = await api.create('model-sets', { project: project.id, name: 'counted' })
  const training = await api.create('trainings', { project: project.id, name: 'nightly', spec: spec.id, algorithm: version.id, datasets: [second.id], command: 'python3 train.py', save_to: models.id })
  const answer = await api.context.post(`/api/v1/trainings/${training.id}/start`, { data: {} })
  const run = (await answer.json()) as { id: number }
  await reaches(api, `trainings/${training.id}/instances/${run.id}`, ['completed'])
  await expect.poll(async () => (await api.get(`trainings/${training.id}/instances/${run.id}`))['model_version'], { timeout: 120_000 }).not.toBeNull()
  const made = (await api.get(`trainings/${training.id}/instances/${run.id}`))['model_version'] as { id: number }
  const service = await api.create('services', { project: project.id, name: 'counter' })
  await api.create(`services/${service.id}/versions`, { spec: spec.id, model_version: made.id, replicas: 0 })

  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/datasets/${data.id}/v/1?tab=lineage`)
  const graph = page.getByRole('region', { name: 'Lineage' })
  await expect(graph.locator('.graph-node')).toHaveCount(5)
  await graph.getByRole('link', { name: /counted v1/ }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('counted')
  await expect(graph.locator('.graph-node')).toHaveCount(6)
  await expect(graph.locator('.graph-node.here')).toContainText('counted v1')
  await expect(graph.locator('path')).toHaveCount(5)
  await page.screenshot({ path: `${folder}/lineage-model.png`, fullPage: true })
  // By keyboard too.
  const served = graph.getByRole('link', { name: /counter v1/ }).last()
  await served.focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/services\/\d+\?tab=lineage/)
  await expect(graph.locator('.graph-node.here')).toContainText('counter v1')
  await expect(page.getByRole('searchbox', { name: 'Id of an answer' })).toBeVisible()
  await page.getByRole('searchbox', { name: 'Id of an answer' }).fill('0f6c1e5d2a9b4c7e0000000000000007')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/lineage\/request\/0f6c1e5d2a9b4c7e0000000000000007$/)
  await expect(page.getByRole('alert')).toBeVisible()
  await page.goBack()
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(page.getByRole('heading', { name: 'Made from' })).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
  await page.screenshot({ path: `${folder}/lineage-phone.png`, fullPage: true })
})
