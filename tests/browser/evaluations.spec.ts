import { resolve } from 'node:path'
import { violations } from './axe'
import { pictures, samples } from './bench'
import { reaches } from './compute'
import { dialog, expect, signInAsAdmin, test, type Api, type Made } from './fixtures'
import { modelSet } from './models'

const folder = resolve(__dirname, '../../test-results/screens')
const labels = Array.from({ length: 5 }, (_, i) => ({ name: `class ${i}`, color: ['#e5484d', '#0090ff', '#30a46c', '#f76b15', '#8e4ec6'][i] }))

/** What people labelled: by turns this and that. */
async function label(api: Api, set: Made, version: Made, annotation: (i: number) => object): Promise<void> {
  const path = `datasets/${set.id}/versions/${version.id}`
  for (const [i, sample] of (await samples(api, set, version)).entries()) {
    const answer = await api.context.put(`/api/v1/${path}/samples/${sample.id}/annotation`, { data: { annotation: annotation(i) }, headers: { 'If-Match': '"1"' } })
    expect(answer.ok(), await answer.text()).toBe(true)
  }
}

test('a model is evaluated: words, figures, what is taken for what, worst samples, another one beside it', async ({ page, api, project }) => {
  test.setTimeout(300_000)
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 10, { type: 'image-class', labels })
  await label(api, set, version, (i) => ({ labels: [`class ${i % 3}`] }))
  const { set: model, versions } = await modelSet(api, project, 'fruit', 'image_class', 2)

  // From the model's page, with the model filled in.
  await page.goto(`/p/${project.name}/model-sets/${model.id}/v/1?tab=evaluations`)
  await page.getByRole('button', { name: 'New evaluation' }).first().click()
  const form = dialog(page)
  await expect(form.getByText('fruit')).toBeVisible()
  await form.getByRole('combobox', { name: 'Dataset' }).click()
  await page.locator('.ant-select-dropdown:visible').getByText('image-class work').click()
  await form.getByRole('button', { name: 'Create' }).click()
  await expect(form).toBeHidden()
  const [made] = ((await api.get(`evaluations?project=${project.id}`)) as { items: Made[] }).items
  if (!made) throw new Error('no evaluation')
  const second = await api.create('evaluations', { project: project.id, model_version: versions[1]?.id, dataset_version: version.id, name: 'again' })
  await page.goto(`/p/${project.name}/evaluations/${made.id}`)
  expect(await reaches(api, `evaluations/${made.id}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })

  await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible({ timeout: 60_000 })
  await expect(page.locator('.evaluation-words li').first()).toBeVisible()
  await expect(page.locator('.evaluation-figures .first')).toContainText('%')
  await expect(page.getByText(/^Time per sample: .* ms/)).toBeVisible()
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-evaluation.png`, fullPage: true })
  // Another least score is counted at once.
  const slider = page.getByRole('slider', { name: 'Score threshold' })
  await slider.focus()
  await page.keyboard.press('End')
  await expect(page.getByText('0 correct, 0 wrong, 10 missed', { exact: false })).toBeVisible()
  await page.getByRole('button', { name: /^Reset to/ }).click()
  // A cell leads to its samples.
  const cell = page.locator('.confusion td a').first()
  await cell.click()
  await expect(page.locator('.evaluation-samples > li').first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Show all samples again' })).toBeVisible()
  await page.getByRole('button', { name: 'Show all samples again' }).click()
  await expect(page.locator('.evaluation-samples > li')).toHaveCount(10)
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-evaluation-samples.png` })
  await expect(page.getByRole('link', { name: 'Correct the labels' }).first()).toHaveAttribute('href', new RegExp(`/datasets/${set.id}/v/1/label\\?sample=`))

  expect(await reaches(api, `evaluations/${second.id}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })
  await page.getByRole('link', { name: 'Compare', exact: true }).click()
  await expect(page.getByText('No significant difference').first()).toBeVisible()
  await expect(page.getByText('Same result on 10 of 10 samples.')).toBeVisible()
  expect(await violations(page)).toEqual([])
  // The model's card has its newest evaluation: how good, how quick, on what data.
  await page.goto(`/p/${project.name}/model-sets/${model.id}/v/1`)
  const card = page.getByRole('region', { name: 'Model card' })
  await expect(card).toContainText(/ ms 95% within/)
  await expect(card.getByRole('link', { name: /%$/ }).first()).toHaveAttribute('href', new RegExp(`/evaluations/${made.id}$`))
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-model-card.png` })

  await page.evaluate(() => {
    localStorage.setItem('ingot.language', 'zh')
    localStorage.setItem('ingot.theme', 'dark')
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/p/${project.name}/evaluations/${made.id}`)
  await expect(page.getByRole('heading', { name: '混淆矩阵' })).toBeVisible()
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/zh-dark-evaluation.png`, fullPage: true })
  await page.goto(`/p/${project.name}/model-sets/${model.id}/v/1`)
  await expect(page.getByRole('region', { name: '模型卡片' })).toContainText('毫秒')
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/zh-dark-model-card.png`, fullPage: true })
})

test('shapes that were found are drawn beside the truth', async ({ page, api, project }) => {
  test.setTimeout(300_000)
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 4, { labels })
  await label(api, set, version, (i) => ({ shapes: [{ type: 'box', label: `class ${i % 5}`, x: 40 + 10 * i, y: 30, w: 120, h: 90 }] }))
  const { versions } = await modelSet(api, project, 'boxes', 'boxes_scores', 1)
  const made = await api.create('evaluations', { project: project.id, model_version: versions[0]?.id, dataset_version: version.id, name: 'boxes' })
  expect(await reaches(api, `evaluations/${made.id}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })
  await page.goto(`/p/${project.name}/evaluations/${made.id}?tab=samples`)
  await expect(page.locator('.evaluation-pair')).toHaveCount(4)
  await expect(page.locator('.evaluation-pair .shapes rect').first()).toBeVisible()
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-evaluation-boxes.png` })
})
