import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { countingAlgorithm, reaches } from './compute'
import { expect, signInAsAdmin, test, unique, type Api, type Made } from './fixtures'
import { cocoZip } from './pictures'

// Pictures of the pages of data and compute for people to look at, in test-results/screens; none is wider than the window,
// and axe finds nothing wrong on any of them. Each page is taken in one look; INGOT_SCREENS=all takes every page in every look.
const folder = resolve(__dirname, '../../test-results/screens')
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const run = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: Violation[] }> } }).axe.run
    const found = (await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })).violations
    return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`))
  })
}

const looks = [
  { name: 'en-light', language: 'en', theme: 'light', width: 1280, height: 800 },
  { name: 'zh-dark', language: 'zh', theme: 'dark', width: 1280, height: 800 },
  { name: 'en-tablet-dark', language: 'en', theme: 'dark', width: 768, height: 1024 },
  { name: 'zh-tablet', language: 'zh', theme: 'light', width: 768, height: 1024 },
  { name: 'zh-phone', language: 'zh', theme: 'light', width: 390, height: 844 },
  { name: 'en-phone-dark', language: 'en', theme: 'dark', width: 390, height: 844 },
]

/** A page, and what must be there before its picture is taken. */
type Shot = [name: string, path: string, ready?: string]

async function take(page: Page, part: string, pages: Shot[]): Promise<void> {
  const wrong: string[] = []
  for (const [l, look] of looks.entries()) {
    await page.goto('/profile')
    await page.evaluate(({ language, theme }) => {
      localStorage.setItem('ingot.language', language)
      localStorage.setItem('ingot.theme', theme)
    }, look)
    await page.setViewportSize(look)
    for (const [i, [name, path, ready]] of pages.entries()) {
      if (process.env['INGOT_SCREENS'] !== 'all' && i % looks.length !== l) continue
      await page.goto(path)
      await expect(page.getByRole('main').locator('h1').first()).toBeVisible()
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      if (ready) await expect(page.locator(ready).first()).toBeAttached()
      await expect.poll(() => page.locator('img').evaluateAll((all) => all.every((img) => (img as HTMLImageElement).complete || img.getBoundingClientRect().top > window.innerHeight))).toBe(true)
      const at = `${part}-${look.name}-${name}`
      expect(await page.evaluate(() => document.documentElement.scrollWidth), at).toBeLessThanOrEqual(look.width)
      await page.screenshot({ path: `${folder}/${at}.png` })
      wrong.push(...(await violations(page)).map((v) => `${at} ${v}`))
    }
  }
  expect(wrong).toEqual([])
}

async function dataPages(page: Page, api: Api, project: Made): Promise<Shot[]> {
  const set = await api.create('datasets', { project: project.id, name: '交通标志 2026', annotation_type: 'detection' })
  const version = await api.create(`datasets/${set.id}/versions`, { description: 'Crossings of the north' })
  const algorithm = await api.create('algorithm-sets', { project: project.id, name: 'detector' })
  const made = await api.create(`algorithm-sets/${algorithm.id}/versions`, {})
  await api.context.put(`/api/v1/algorithm-sets/${algorithm.id}/versions/${made.id}/content?path=src/train.py`, { data: 'import torch\n\nprint(torch.__version__)\n', headers: { 'Content-Type': 'application/octet-stream' } })
  const url = `/p/${project.name}/datasets/${set.id}`
  await signInAsAdmin(page)
  await page.goto(`${url}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'coco.zip', mimeType: 'application/zip', buffer: cocoZip() }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  const written = await api.context.post(`/api/v1/datasets/${set.id}/versions/${version.id}/write-records`, { data: {} })
  expect(written.status()).toBe(202)
  await expect.poll(async () => (await api.get(`datasets/${set.id}/versions/${version.id}`))['records']).not.toBeNull()
  const { items } = (await api.get(`tasks?project=${project.id}`)) as { items: { id: number }[] }
  const samples = (await api.get(`datasets/${set.id}/versions/${version.id}/samples?limit=1`)) as { items: { id: number }[] }
  return [
    ['datasets', `/p/${project.name}/datasets`], ['dataset', url], ['gallery', `${url}/v/1`, '.cell img'], ['sample', `${url}/v/1?sample=${samples.items[0]?.id ?? 0}`, '.sample-frame img'], ['statistics', `${url}/v/1?tab=statistics`], ['import', `${url}/v/1?tab=import`],
    ['export', `${url}/v/1?tab=export`], ['records', `${url}/v/1?tab=records`], ['duplicates', `${url}/v/1?tab=duplicates`], ['compare', `${url}/v/1?tab=compare`], ['task', `/p/${project.name}/tasks/${items[0]?.id ?? 0}`],
    ['files', `/p/${project.name}/algorithm-sets/${algorithm.id}/v/1`], ['file', `/p/${project.name}/algorithm-sets/${algorithm.id}/v/1?path=src&file=train.py`],
  ]
}

test('pictures of the pages of data', async ({ page, api, project }) => {
  test.setTimeout(480_000)
  await take(page, 'data', await dataPages(page, api, project))
})

const talk = `printf '\\033[1;32mINFO\\033[0m loading data\\n'; printf '\\033[33mWARN\\033[0m 3 files are empty\\n' >&2
i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "batch $i of 40: read 128 samples"; done; exec sleep 1000`

test('pictures of the pages of compute', async ({ page, api }) => {
  test.setTimeout(480_000)
  const project = await api.create('projects', { name: unique('vision'), quota: { cpu: 4, memory: 8 * 1024 ** 3 } })
  const spec = await api.create('specs', { name: unique('cpu-small'), cpus: 0.2, memory: 256 << 20 })
  const { version } = await countingAlgorithm(api, project)
  const models = await api.create('model-sets', { project: project.id, name: 'counted' })
  const training = await api.create('trainings', { project: project.id, name: 'count to ten', spec: spec.id, algorithm: version.id, command: 'python3 train.py', save_to: models.id, env: { EPOCHS: '10' } })
  const answer = await api.context.post(`/api/v1/trainings/${training.id}/start`, { data: {} })
  const run = (await answer.json()) as { id: number }
  const job = await api.create('jobs', { project: project.id, name: 'read all batches', spec: spec.id, command: talk })
  const failed = await api.create('jobs', { project: project.id, name: 'fails', spec: spec.id, command: 'echo no; exit 7' })
  const waiting = await api.create('jobs', { project: project.id, name: 'waits for room', spec: spec.id, nodes: 64, command: 'true' })
  const environment = await api.create('environments', { project: project.id, name: 'lab', spec: spec.id })
  await reaches(api, `jobs/${job.id}`, ['running'])
  await reaches(api, `jobs/${failed.id}`, ['failed'])
  await reaches(api, `trainings/${training.id}/instances/${run.id}`, ['completed'])
  await expect.poll(async () => (await api.get(`trainings/${training.id}/instances/${run.id}`))['model_version'], { timeout: 120_000 }).not.toBeNull()
  const inside = `/p/${project.name}`
  const instance = `${inside}/trainings/${training.id}/instances/${run.id}`
  const jobUrl = `${inside}/jobs/${job.id}`
  await signInAsAdmin(page)
  await take(page, 'compute', [
    ['overview', inside, '[data-resource="cpus"]'], ['jobs', `${inside}/jobs`], ['job-new', `${inside}/jobs?new=1`], ['job', jobUrl], ['job-failed', `${inside}/jobs/${failed.id}`], ['job-waiting', `${inside}/jobs/${waiting.id}`],
    ['job-curves', `${jobUrl}?tab=curves`, '.chart-line'], ['job-log', `${jobUrl}?tab=log`, '.log-line'], ['job-events', `${jobUrl}?tab=events`], ['job-terminal', `${jobUrl}?tab=terminal`, '.terminal-box[data-state="open"]'],
    ['environments', `${inside}/environments`], ['environment', `${inside}/environments/${environment.id}`], ['environment-new', `${inside}/environments?new=1`],
    ['trainings', `${inside}/trainings`], ['training', `${inside}/trainings/${training.id}`], ['training-new', `${inside}/trainings?new=1`],
    ['instance', instance, '.chart-line'], ['instance-lineage', `${instance}?tab=lineage`, '.graph-node.here'], ['model-lineage', `${inside}/model-sets/${models.id}/v/1?tab=lineage`, '.graph-node.here'],
    ['resources', '/admin/resources', '.meter'], ['nodes', '/admin/nodes'], ['pools', '/admin/node-pools'],
  ])
  for (const id of [job.id, waiting.id]) await api.context.post(`/api/v1/jobs/${id}/stop`, { data: {} })
  for (const id of [job.id, waiting.id]) await reaches(api, `jobs/${id}`, ['stopped'])
})
