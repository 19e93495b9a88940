import type { Page } from '@playwright/test'
import { dialog, expect, option, signInAsAdmin, test, unique, type Api, type Made } from './fixtures'

/** A small spec, so that many fit on a small machine. */
export async function smallSpec(api: Api): Promise<Made> {
  return api.create('specs', { name: unique('small'), cpus: 0.2, memory: 256 << 20 })
}

async function runJob(api: Api, project: Made, command: string, fields: Record<string, unknown> = {}): Promise<{ job: Made; url: string }> {
  const spec = await smallSpec(api)
  const job = await api.create('jobs', { project: project.id, name: unique('job'), spec: spec.id, command, ...fields })
  return { job, url: `/p/${project.name}/jobs/${job.id}` }
}

async function reaches(api: Api, job: Made, states: string[]): Promise<void> {
  await expect.poll(async () => String((await api.get(`jobs/${job.id}`))['state']), { timeout: 120_000 }).toMatch(new RegExp(`^(${states.join('|')})$`))
}

const line = (page: Page, n: number) => page.locator(`.log-line[data-line="${n}"]`)

test('a job is made in the form, runs, and shows its log and events', async ({ page, api, project }) => {
  const spec = await smallSpec(api)
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/jobs?new=1`)
  await dialog(page).getByLabel('Name', { exact: false }).first().fill('hello')
  await dialog(page).getByLabel('Command').fill("printf '\\033[31mred words\\033[0m and plain\\n'; echo \"$GREETING\"; exit 3")
  await dialog(page).getByRole('button', { name: 'Add variable' }).click()
  await dialog(page).getByLabel('Name of variable 1').fill('1BAD')
  await expect(dialog(page).getByText('is no name of a variable')).toBeVisible()
  await dialog(page).getByLabel('Name of variable 1').fill('GREETING')
  await dialog(page).getByLabel('Value of GREETING').fill('good morning')
  await dialog(page).getByRole('combobox', { name: 'Compute spec' }).click()
  await option(page, spec.name).click()
  await expect(dialog(page).getByText('Takes 0.2 CPUs and 256 MiB in all')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'hello' }).click()
  await expect(page.locator('.compute-head .state-failed')).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: '3' }).first()).toBeVisible()

  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await expect(page.getByText('good morning')).toBeVisible()
  await expect(page.getByText('red words')).toHaveCSS('color', 'rgb(180, 35, 24)')
  await page.getByRole('link', { name: 'Events' }).click()
  await expect(page.getByRole('cell', { name: 'Starting' })).toBeVisible()
  await page.getByRole('link', { name: 'Terminal' }).click()
  await expect(page.getByText('It has ended')).toBeVisible()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog(page).getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('No jobs yet')).toBeVisible()
})

test('a running job: log that follows, terminal, stop', async ({ page, api, project }) => {
  const { job, url } = await runJob(api, project, 'echo up; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo went on; exec sleep 1000')
  await signInAsAdmin(page)
  await page.goto(`${url}?tab=log`)
  await expect(page.getByText('up', { exact: true })).toBeVisible()
  await expect(page.getByText('· live')).toBeVisible()
  await reaches(api, job, ['running'])
  await page.goto(`${url}?tab=terminal`)
  await expect(page.locator('.terminal[data-state="open"]')).toBeVisible()
  await page.locator('.terminal textarea').pressSequentially('touch /tmp/go; echo made-$((40+2))\n')
  await expect(page.locator('.terminal .xterm-accessibility')).toContainText('made-42')
  await page.locator('.terminal textarea').pressSequentially('exit\n')
  await expect(page.getByText('Disconnected')).toBeVisible()
  await page.getByRole('button', { name: 'Connect again' }).click()
  await expect(page.locator('.terminal[data-state="open"]')).toBeVisible()
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await expect(page.getByText('went on')).toBeVisible()
  await page.getByRole('button', { name: 'Stop' }).click()
  await dialog(page).getByRole('button', { name: 'Stop' }).click()
  await expect(page.locator('.compute-head .state-stopped')).toBeVisible()
})

test('a log of a million lines', async ({ page, api, project }) => {
  const { job, url } = await runJob(api, project, 'seq -f "line %.0f of many" 1000000')
  await reaches(api, job, ['completed'])
  await signInAsAdmin(page)
  await page.goto(`${url}?tab=log`)
  await expect(line(page, 1)).toContainText('line 1 of many')
  await expect(page.getByText('1,000,000 lines')).toBeVisible()
  await page.getByLabel('Go to line').fill('777777')
  await page.getByLabel('Go to line').press('Enter')
  await expect(line(page, 777_777)).toContainText('line 777777 of many')
  await expect(line(page, 777_777)).toBeInViewport()
  await page.getByLabel('Search in the log').fill('line 987654 of')
  await expect(page.getByText('1 of 1')).toBeVisible()
  await expect(line(page, 987_654)).toBeInViewport()
  await page.getByLabel('Follow').click()
  await expect(line(page, 1_000_000)).toBeInViewport()
})

test('nodes of a gang have logs of their own', async ({ page, api, project }) => {
  const { job, url } = await runJob(api, project, 'echo "I am node $NODE_RANK"', { nodes: 2 })
  await reaches(api, job, ['completed'])
  await signInAsAdmin(page)
  await page.goto(`${url}?tab=log`)
  await expect(page.getByText('I am node 0')).toBeVisible()
  await page.getByRole('combobox', { name: 'Node' }).press('ArrowDown')
  await option(page, 'Node 1').click()
  await expect(page.getByText('I am node 1')).toBeVisible()
})
