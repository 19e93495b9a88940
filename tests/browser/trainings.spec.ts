import { resolve } from 'node:path'
import { dialog, expect, option, signInAsAdmin, test, unique, type Api, type Made } from './fixtures'

const folder = resolve(__dirname, '../../test-results/screens')

/** Counts to ten in steps, with a loss that falls; goes on from its checkpoint; leaves a model. */
const script = `import os, sys, time
start = 0
if os.path.exists('/workspace/persistent-model/step'):
    start = int(open('/workspace/persistent-model/step').read())
    print('resumed at', start)
for step in range(start + 1, start + 11):
    print(f'step={step} loss={1 / step:.4f} accuracy={1 - 1 / (step + 1):.4f}', flush=True)
if os.environ.get('NODE_RANK', '0') == '0':
    os.makedirs('/workspace/persistent-model', exist_ok=True)
    open('/workspace/persistent-model/step', 'w').write(str(start + 10))
    open('/workspace/persistent-model/weights.txt', 'w').write('0.25 ' * 10)
`

async function algorithm(api: Api, project: Made): Promise<Made> {
  const set = await api.create('algorithm-sets', { project: project.id, name: 'counter' })
  const version = await api.create(`algorithm-sets/${set.id}/versions`, {})
  const path = `/api/v1/algorithm-sets/${set.id}/versions/${version.id}/content?path=train.py`
  const put = await api.context.put(path, { data: script, headers: { 'Content-Type': 'application/octet-stream' } })
  expect(put.ok(), await put.text()).toBe(true)
  return set
}

test('a training is made in the form, runs twice, and its model knows where it comes from', async ({ page, api, project }) => {
  await algorithm(api, project)
  await api.create('model-sets', { project: project.id, name: 'counted' })
  const spec = await api.create('specs', { name: unique('small'), cpus: 0.2, memory: 256 << 20 })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/trainings?new=1`)
  await dialog(page).getByLabel('Name', { exact: false }).first().fill('count')
  await dialog(page).getByRole('combobox', { name: 'Algorithm' }).click()
  await option(page, 'counter').click()
  await expect(dialog(page).locator('.version-number')).toContainText('v1')
  await dialog(page).getByRole('combobox', { name: 'Compute spec' }).click()
  await option(page, spec.name).click()
  await dialog(page).getByLabel('Command').fill('python3 train.py')
  await dialog(page).getByLabel('Nodes').fill('2')
  await expect(dialog(page).getByText('Takes 0.4 CPUs and 512 MiB in all')).toBeVisible()
  await dialog(page).getByRole('combobox', { name: 'Save the model to' }).click()
  await option(page, 'counted').click()
  await page.screenshot({ path: `${folder}/training-new.png` })
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'count', exact: true }).click()
  await page.getByRole('button', { name: 'Start' }).click()

  await expect(page.locator('.compute-head .state-completed')).toBeVisible({ timeout: 120_000 })
  await expect(page.getByRole('figure', { name: /loss/ })).toBeVisible()
  await expect(page.getByRole('figure', { name: /loss/ })).toContainText('0.1')
  await page.screenshot({ path: `${folder}/training-metrics.png` })
  await expect(page.getByRole('link', { name: 'counted v1' })).toBeVisible({ timeout: 120_000 })

  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.getByRole('link', { name: 'counted v2' })).toBeVisible({ timeout: 120_000 })
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await expect(page.getByText('resumed at 10')).toBeVisible()
  await page.getByRole('link', { name: 'counted v2' }).click()
  await page.getByRole('link', { name: 'Lineage' }).click()
  await expect(page.getByRole('link', { name: 'counter v1' })).toBeVisible()
  await expect(page.getByText('python3 train.py')).toBeVisible()
  await page.screenshot({ path: `${folder}/model-lineage.png` })
  await page.getByRole('group', { name: 'Lineage' }).getByRole('link', { name: 'count', exact: true }).click()
  await expect(page.getByText('2 items')).toBeVisible()
})
