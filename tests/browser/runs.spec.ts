import type { Page } from '@playwright/test'
import { resolve } from 'node:path'
import { violations } from './axe'
import { openSelect, putFile, reaches, smallSpec } from './compute'
import { expect, signInAsAdmin, test, type Api, type Made } from './fixtures'

const folder = resolve(__dirname, '../../test-results/screens')

const code = (from: number) => `import json, math, sys
lr = float(sys.argv[sys.argv.index('--lr') + 1])
print(json.dumps({'ingot.params': {'net.depth': 18}}))
for step in range(1, 61):
    print(f'step={step} loss={${from} * math.exp(-step * lr):.5f} accuracy={1 - 0.9 * math.exp(-step * lr):.5f} lr={lr}', flush=True)
`

/** Two trainings with three runs, of two versions of the code. */
async function runs(api: Api, project: Made): Promise<{ first: Made; ids: number[] }> {
  const spec = await smallSpec(api)
  const set = await api.create('algorithm-sets', { project: project.id, name: 'curves' })
  const versions: Made[] = []
  for (const from of [2, 3]) {
    const version = await api.create(`algorithm-sets/${set.id}/versions`, {})
    await putFile(api, `algorithm-sets/${set.id}/versions/${version.id}`, 'train.py', code(from))
    versions.push(version)
  }
  const ids: number[] = []
  const make = (name: string, version: number, lr: number) => api.create('trainings', { project: project.id, name, algorithm: versions[version]?.id, spec: spec.id, command: `python3 train.py --lr ${lr}` })
  const start = async (training: Made) => {
    const run = await api.create(`trainings/${training.id}/start`, {})
    expect(await reaches(api, `trainings/${training.id}/instances/${run.id}`, ['completed', 'failed'])).toMatchObject({ state: 'completed' })
    ids.push(run.id)
  }
  const first = await make('slow', 0, 0.02)
  await start(first)
  await api.patch(`trainings/${first.id}`, { command: 'python3 train.py --lr 0.1', algorithm: versions[1]?.id })
  await start(first)
  await start(await make('middle', 0, 0.05))
  return { first, ids }
}

const names = (page: Page) => page.locator('.runs-table tbody .first')

test('runs are found by what went in and what came out, laid over each other, and told apart', async ({ page, api, project }) => {
  test.setTimeout(400_000)
  await signInAsAdmin(page)
  const { first, ids } = await runs(api, project)

  // The list of trainings says how the last run went.
  await page.goto(`/p/${project.name}/trainings`)
  const row = page.getByRole('row', { name: /slow/ })
  await expect(row).toContainText('accuracy')
  await expect(row.getByRole('img', { name: 'accuracy of the last run' })).toBeVisible()
  await expect(row.getByRole('link', { name: 'run-2' })).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-trainings.png` })

  // All runs, the best first, by a parameter of the command.
  await page.getByText('All runs', { exact: true }).click()
  await expect(names(page)).toHaveCount(3)
  await page.getByRole('button', { name: 'accuracy', exact: true }).click()
  await expect(names(page)).toHaveText(['slow run-2', 'middle run-1', 'slow run-1'])
  await page.getByRole('button', { name: 'Condition' }).click()
  await page.getByRole('combobox', { name: 'Column' }).fill('lr')
  await page.locator('.ant-select-item-option').filter({ hasText: /^lr$/ }).last().click()
  await openSelect(page, 'Comparison')
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option').filter({ hasText: /^<$/ }).click()
  await page.getByRole('textbox', { name: 'Value' }).fill('0.1')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(names(page)).toHaveText(['middle run-1', 'slow run-1'])
  await page.reload()
  await expect(names(page)).toHaveText(['middle run-1', 'slow run-1'])
  await page.getByRole('button', { name: /^Remove: / }).click()
  await expect(names(page)).toHaveCount(3)

  // Chosen columns stay.
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'net.depth' }).check()
  await page.getByRole('button', { name: 'Move net.depth to the left' }).click()
  await page.keyboard.press('Escape')
  await page.reload()
  await expect(page.getByRole('columnheader', { name: 'net.depth' })).toBeVisible()
  for (const name of ['slow run-1', 'slow run-2', 'middle run-1']) {
    await page.getByRole('checkbox', { name: `Compare ${name}` }).click()
    await expect(page.getByRole('checkbox', { name: `Compare ${name}` })).toBeChecked()
  }
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-runs.png` })

  // Curves over each other.
  await page.getByRole('button', { name: 'Compare 3' }).click()
  const loss = page.getByRole('figure', { name: /^loss/ })
  await expect(loss.locator('.chart-line')).toHaveCount(3)
  await expect(page.locator('.charts figure').first()).toContainText('loss')
  await expect(loss.locator('.chart-best')).toHaveCount(3)
  await page.getByRole('checkbox', { name: 'Log. values' }).check()
  await expect(loss).toContainText('0.01')
  await page.getByRole('slider', { name: 'Smoothing' }).focus()
  await page.keyboard.press('End')
  await expect(loss.locator('.chart-raw')).toHaveCount(3)
  await page.keyboard.press('Home')
  await expect(loss.locator('.chart-raw')).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  // A stretch that is drawn with the pointer is looked at closely, in all charts.
  const box = await loss.locator('svg').boundingBox()
  if (!box) throw new Error('no chart')
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await expect(page.getByRole('button', { name: 'Reset zoom' })).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-runs-curves.png` })
  await page.getByRole('button', { name: 'Reset zoom' }).click()
  // The order of charts is a person's own.
  await page.getByRole('button', { name: 'Move lr to the front' }).click()
  await expect(page.locator('.charts figure').first()).toContainText('lr')
  await page.reload()
  await expect(page.locator('.charts figure').first()).toContainText('lr')

  // What they differ in.
  await page.goto(`/p/${project.name}/runs/compare?runs=${ids.slice(0, 2).join(',')}&tab=differences`)
  const parameters = page.getByRole('group', { name: 'Parameters' })
  await expect(parameters.getByRole('row', { name: /^lr/ })).toContainText('0.02')
  await expect(parameters.getByRole('row', { name: /net.depth/ })).toBeHidden()
  await expect(page.getByText('The same data.')).toBeVisible()
  await expect(page.locator('.diff-removed').first()).toContainText('2 *')
  await expect(page.locator('.diff-added').first()).toContainText('3 *')
  expect(await violations(page)).toEqual([])
  await page.screenshot({ path: `${folder}/en-light-runs-differences.png`, fullPage: true })

  await page.evaluate(() => { localStorage.setItem('ingot.language', 'zh'); localStorage.setItem('ingot.theme', 'dark') })
  await page.setViewportSize({ width: 390, height: 844 })
  for (const [name, url] of [['runs', `trainings/${first.id}?tab=instances`], ['training', `trainings/${first.id}`], ['runs-curves', `runs/compare?runs=${ids.join(',')}`], ['runs-differences', `runs/compare?runs=${ids.join(',')}&tab=differences`], ['trainings', 'trainings'], ['run', `trainings/${first.id}/instances/${ids[0]}`]] as const) {
    await page.goto(`/p/${project.name}/${url}`)
    await expect(page.locator('main .skeleton')).toHaveCount(0)
    await expect(page.locator('main h1')).toBeVisible()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), url).toBe(true)
    expect(await violations(page), url).toEqual([])
    await page.screenshot({ path: `${folder}/zh-dark-${name}.png`, fullPage: true })
  }
})
