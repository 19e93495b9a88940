import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Api, expect, option, signInAs, test, type Made } from './fixtures'
import { png, zip } from './pictures'
import { adminPassword, serve } from './server'

const folder = resolve(__dirname, '../../test-results/screens')

const manifest = {
  ingot: 1,
  functions: {
    train: {
      command: 'sh ingot_learn/train.sh',
      parameters: [
        { name: 'minutes', type: 'real', default: 10, min: 0.1, max: 1440 },
        { name: 'leave_out', type: 'labels', default: [] },
        { name: 'merge', type: 'json', default: {} },
        { name: 'seed', type: 'int', default: 1, min: 0, title: { en: 'Seed', zh: '随机种子' }, help: { en: 'The same seed gives the same split.', zh: '相同的种子得到相同的划分。' } },
      ],
    },
  },
}

/** Pictures of several classes in a new project of that server. */
async function orchard(api: Api): Promise<{ path: string; project: number }> {
  const project = await api.create('projects', { name: 'orchard' })
  await api.create('specs', { name: 'room', cpus: 0.2, memory: 2 * 2 ** 30 })
  const data = await api.create('datasets', { project: project.id, name: 'fruit', data_type: 'image', annotation_type: 'image-class' })
  const version = await api.create(`datasets/${data.id}/versions`, {})
  const files: Record<string, Buffer> = {}
  for (const [seed, [label, count]] of Object.entries({ apple: 40, pear: 30, plum: 8, quince: 2 }).entries()) {
    for (let i = 0; i < count; i += 1) files[`${label}/${i}.png`] = png(8, 8, seed * 100 + i)
  }
  const bytes = zip(files)
  const tus = { 'Tus-Resumable': '1.0.0' }
  const made = await api.context.post(`/api/v1/uploads?project=${project.id}`, { headers: { ...tus, 'Upload-Length': String(bytes.length) } })
  const place = made.headers()['location'] ?? ''
  await api.context.patch(place, { data: bytes, headers: { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' } })
  const answer = await api.context.post(`/api/v1/datasets/${data.id}/versions/${version.id}/import`, { data: { uploads: [{ upload: place.split('/').pop(), name: 'fruit.zip' }] } })
  const task = (await answer.json()) as Made
  await expect.poll(async () => (await api.get(`tasks/${task.id}`))['state'], { timeout: 120_000 }).toBe('done')
  return { path: `/p/orchard/datasets/${data.id}/v/1`, project: project.id }
}

test('one click trains on a version, and the plan says what with', async ({ page }) => {
  test.setTimeout(400_000)
  const place = mkdtempSync(join(tmpdir(), 'ingot-algorithms-'))
  for (const name of ['one-click', 'ingot_learn']) mkdirSync(join(place, name))
  writeFileSync(join(place, 'one-click', 'ingot-algorithm.json'), JSON.stringify(manifest))
  writeFileSync(join(place, 'ingot_learn', 'train.sh'), 'echo "$INGOT_PARAMETERS"; echo step=1 accuracy=0.9; echo x > /workspace/persistent-model/x\n')
  const server = await serve([], { INGOT_ALGORITHMS: place })
  try {
    const api = await Api.signIn('admin', adminPassword, server.url)
    const { path, project } = await orchard(api)
    await signInAs(page, 'admin', adminPassword, server.url)
    await page.goto(server.url + path)
    await page.getByRole('button', { name: 'Train on this' }).click()
    const drawer = page.getByRole('dialog')
    const classes = drawer.getByRole('table', { name: 'Classes' })
    await expect(classes.getByRole('row')).toHaveCount(4, { timeout: 60_000 })
    await expect(drawer.getByText('quince has 2 samples', { exact: false })).toBeVisible()
    await expect(drawer.getByText('starts at once')).toBeVisible()
    await page.screenshot({ path: `${folder}/one-click.png` })

    await classes.getByRole('checkbox', { name: 'quince' }).uncheck()
    await classes.getByRole('combobox', { name: 'Merge plum into' }).click()
    await option(page, 'pear').click()
    await expect(classes.getByRole('row', { name: /pear/ }).first()).toContainText('38', { timeout: 60_000 })
    await expect(drawer.getByText('quince has 2 samples', { exact: false })).toBeHidden()
    await drawer.getByText('Advanced parameters').click()
    await drawer.getByRole('spinbutton', { name: 'Seed' }).fill('7')
    await drawer.getByRole('button', { name: 'Start training' }).click()
    await expect(page.locator('.compute-head .state-completed')).toBeVisible({ timeout: 180_000 })
    const runs = (await api.get(`training-instances?project=${project}`)) as { items: { parameters: unknown }[] }
    expect(runs.items[0]?.parameters ?? null).toEqual({ minutes: 10, leave_out: ['quince'], merge: { plum: 'pear' }, seed: 7 })

    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(server.url + path)
    await page.getByRole('button', { name: 'Train on this' }).click()
    await expect(classes.getByRole('row')).toHaveCount(4, { timeout: 60_000 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
    await page.screenshot({ path: `${folder}/one-click-small.png` })
  } finally {
    await server.stop()
    rmSync(place, { recursive: true, force: true })
  }
})
