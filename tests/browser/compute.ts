import type { Page } from '@playwright/test'
import { dialog, expect, option, unique, type Api, type Made } from './fixtures'

// What the tests of compute share.

/** In the form of a job: by its name, as the list of all tests' specs is longer than what is drawn of it. */
export async function pickSpec(page: Page, spec: Made): Promise<void> {
  const box = dialog(page).getByRole('combobox', { name: 'Compute spec' })
  await box.click()
  await box.fill(spec.name)
  await option(page, spec.name).click()
}

/** A small spec, so that many fit on a small machine. */
export async function smallSpec(api: Api, memory = 256 << 20): Promise<Made> {
  return api.create('specs', { name: unique('small'), cpus: 0.2, memory })
}

/** Waits until an object has one of the states. */
export async function reaches(api: Api, path: string, states: string[]): Promise<Record<string, unknown>> {
  let item: Record<string, unknown> = {}
  await expect.poll(async () => {
    item = await api.get(path)
    return String(item['state'])
  }, { timeout: 180_000 }).toMatch(new RegExp(`^(${states.join('|')})$`))
  return item
}

/** Opens a select that is no search box. */
export async function openSelect(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name }).press('ArrowDown')
}

/** A file of an algorithm or a model. */
export async function putFile(api: Api, version: string, path: string, data: string): Promise<void> {
  const answer = await api.context.put(`/api/v1/${version}/content?path=${encodeURIComponent(path)}`, { data, headers: { 'Content-Type': 'application/octet-stream' } })
  expect(answer.ok(), await answer.text()).toBe(true)
}

/** Counts on in steps of ten, with a loss that falls; goes on from where it was; leaves a model, and events for TensorBoard when it can. */
export const counting = `import os
model = '/workspace/persistent-model'
start = 0
if os.path.exists(model + '/step'):
    start = int(open(model + '/step').read())
    print('resumed at', start)
rank = os.environ.get('NODE_RANK', '0')
print('node', rank, 'of', os.environ.get('NNODES', '1'))
for step in range(start + 1, start + 11):
    print(f'step={step} loss={1 / step:.4f} accuracy={1 - 1 / (step + 1):.4f}', flush=True)
if rank == '0':
    os.makedirs(model, exist_ok=True)
    open(model + '/step', 'w').write(str(start + 10))
    open(model + '/weights.txt', 'w').write('0.25 ' * 10)
`

export async function countingAlgorithm(api: Api, project: Made): Promise<{ set: Made; version: Made }> {
  const set = await api.create('algorithm-sets', { project: project.id, name: 'counter' })
  const version = await api.create(`algorithm-sets/${set.id}/versions`, {})
  await putFile(api, `algorithm-sets/${set.id}/versions/${version.id}`, 'train.py', counting)
  return { set, version }
}
