import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test, type Browser, type Locator, type Page } from '@playwright/test'
import { draw, objects, pictures, saved, shown } from './bench'
import { reaches, smallSpec } from './compute'
import { Api, signInAs, type Made } from './fixtures'
import { modelSet } from './models'
import { png } from './pictures'
import { adminPassword, mortal } from './server'

// The server goes away and comes back, twice, under a page of every kind, all open at the same time.
const folder = resolve(__dirname, '../../test-results/screens')
const patience = { timeout: 120_000 }

const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' })

const upgraded = (page: Page) => page.getByRole('alert').filter({ hasText: 'A new version is available.' })

/** Whether the page is still the one that was loaded first. */
const mark = (page: Page) => page.evaluate(() => Object.assign(window, { untouched: true }))
const untouched = (page: Page) => page.evaluate(() => 'untouched' in window)

interface Kept {
  what: string
  path: string
  /** There before, meanwhile and afterwards. */
  shown: (page: Page) => Locator
  /** What is done before the server goes, while it is away, and what must be so when it is back. */
  before?: (page: Page) => Promise<void>
  meanwhile?: (page: Page) => Promise<void>
  after?: (page: Page, api: Api) => Promise<void>
}

interface Stage {
  project: Made
  labels: Made
  set: Made
  job: Made
  training: Made
  run: number
  service: number
}

const heading = (name: string) => (page: Page) => page.getByRole('main').getByRole('heading', { name }).first()
const form = (page: Page) => page.getByRole('dialog', { name: 'New label set' })
const lastLine = async (page: Page) => Number(/tick (\d+)/.exec((await page.locator('.log-line').last().innerText()))?.[1] ?? -1)
const screen = (page: Page) => page.locator('.terminal-box .xterm-accessibility')
const type = (page: Page, text: string) => page.locator('.terminal-box textarea').pressSequentially(text)

function pagesOf({ project, labels, set, job, training, run, service }: Stage): Kept[] {
  const inside = `/p/${project.name}`
  let line = -1
  return [
    { what: 'home', path: inside, shown: heading('away') },
    {
      what: 'list', path: `${inside}/label-sets`, shown: (page) => page.getByRole('link', { name: 'things' }),
      after: async (page, api) => {
        await api.create('label-sets', { project: project.id, name: 'made afterwards' })
        await expect(page.getByRole('link', { name: 'made afterwards' })).toBeVisible(patience)
      },
    },
    {
      what: 'detail', path: `${inside}/label-sets/${labels.id}`, shown: heading('things'),
      meanwhile: async (page) => {
        await page.getByRole('button', { name: 'Edit' }).click()
        await page.getByRole('dialog').getByRole('textbox', { name: 'Description' }).fill('typed meanwhile')
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await expect(page.getByRole('dialog').getByRole('alert')).toContainText('The server cannot be reached')
      },
      after: async (page) => {
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
        await expect(page.getByRole('dialog')).toBeHidden(patience)
        await expect(page.getByRole('main')).toContainText('typed meanwhile')
      },
    },
    {
      what: 'form', path: `${inside}/label-sets?new=1`, shown: (page) => form(page).getByRole('textbox', { name: /^Name/ }),
      before: (page) => form(page).getByRole('textbox', { name: /^Name/ }).fill('typed before'),
      meanwhile: async (page) => {
        await page.keyboard.press('Control+Enter')
        await expect(form(page).getByRole('alert')).toContainText('The server cannot be reached')
      },
      after: async (page) => {
        await form(page).getByRole('button', { name: 'Create' }).click()
        await expect(page.getByRole('heading', { name: 'typed before' })).toBeVisible(patience)
      },
    },
    {
      what: 'live log', path: `${inside}/jobs/${job.id}?tab=log`, shown: (page) => page.locator('.log-line').first(),
      meanwhile: async (page) => {
        line = await lastLine(page)
      },
      after: (page) => expect.poll(() => lastLine(page), patience).toBeGreaterThan(line),
    },
    {
      what: 'terminal', path: `${inside}/jobs/${job.id}?tab=terminal`, shown: (page) => page.locator('.terminal-box'),
      before: async (page) => {
        await expect(page.locator('.terminal-box[data-state="open"]')).toBeVisible(patience)
        await type(page, 'echo made-$((40+2))\n')
        await expect(screen(page)).toContainText('made-42', patience)
      },
      meanwhile: async (page) => {
        await expect(page.locator('.terminal-box')).toHaveAttribute('data-state', 'lost')
        await expect(screen(page)).toContainText('made-42')
      },
      after: async (page) => {
        await expect(page.locator('.terminal-box[data-state="open"]')).toBeVisible(patience)
        await type(page, 'echo made-$((50+1))\n')
        await expect(screen(page)).toContainText('made-51', patience)
      },
    },
    { what: 'gallery', path: `${inside}/datasets/${set.id}/v/1`, shown: (page) => page.locator('.cell img').first() },
    {
      what: 'workbench', path: `${inside}/datasets/${set.id}/v/1/label`, shown: (page) => page.locator('.bench-canvas'),
      before: async (page) => {
        await shown(page)
        await expect(saved(page)).toBeVisible(patience)
      },
      meanwhile: async (page) => {
        await page.keyboard.press('1')
        await page.keyboard.press('b')
        await draw(page, [0.4, 0.4], [0.6, 0.6])
        await expect(page.getByText('Offline: 1 change kept')).toBeVisible(patience)
      },
      after: async (page) => {
        await expect(saved(page)).toBeVisible(patience)
        await expect(objects(page)).toHaveCount(1)
      },
    },
    { what: 'run curves', path: `${inside}/trainings/${training.id}/instances/${run}`, shown: (page) => page.locator('.chart-line').first() },
    {
      what: 'service', path: `${inside}/services/${service}?tab=try`, shown: (page) => page.getByText('Drop or paste a picture here.'),
      meanwhile: async (page) => {
        await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png(64, 48, 2) })
        await expect(page.locator('.try').getByRole('alert')).toContainText('The server cannot be reached')
      },
      after: async (page, api) => {
        await reaches(api, `services/${service}`, ['serving'])
        await page.locator('input[type=file]').setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: png(64, 48, 3) })
        await expect(page.locator('.try-labels li').first()).toBeVisible(patience)
      },
    },
    { what: 'docs', path: '/docs', shown: (page) => page.locator('main h1').first() },
    { what: 'settings', path: '/profile', shown: (page) => page.locator('main h1').first() },
    { what: 'resources', path: '/admin/resources', shown: (page) => page.locator('.meter').first() },
  ]
}

async function stage(api: Api, page: Page): Promise<Stage> {
  const project = await api.create('projects', { name: 'away' })
  const labels = await api.create('label-sets', { project: project.id, name: 'things', labels: [] })
  const spec = await smallSpec(api)
  const job = await api.create('jobs', { project: project.id, name: 'talks', spec: spec.id, command: 'i=0; while true; do i=$((i+1)); echo "tick $i"; sleep 0.2; done' })
  const training = await api.create('trainings', { project: project.id, name: 'counts', spec: spec.id, command: 'i=0; while true; do i=$((i+1)); echo "step=$i loss=0.$((1000-i%900))"; sleep 0.5; done' })
  const started = await api.context.post(`/api/v1/trainings/${training.id}/start`, { data: {} })
  const run = (await started.json()) as { id: number }
  const { versions } = await modelSet(api, project, 'fruit', 'image_class', 1)
  const deployed = await api.context.post('/api/v1/services/deploy', { data: { project: project.id, name: 'fruit', model_version: versions[0]?.id } })
  expect(deployed.status(), await deployed.text()).toBeLessThan(300)
  const service = ((await deployed.json()) as { service: { id: number } }).service.id
  const { set } = await pictures(page, api, project, 3)
  await reaches(api, `jobs/${job.id}`, ['running'])
  await reaches(api, `services/${service}`, ['serving'])
  return { project, labels, set, job, training, run: run.id, service }
}

/** A browser of its own for each page: one holds only so many connections, and each page keeps one. */
async function openAll(browser: Browser, url: string, pages: readonly Kept[]): Promise<Page[]> {
  const signedIn = await browser.newContext()
  await signInAs(await signedIn.newPage(), 'admin', adminPassword, url)
  const storageState = await signedIn.storageState()
  await signedIn.close()
  const open: Page[] = []
  for (const { what, path, shown: there, before } of pages) {
    const page = await (await browser.newContext({ baseURL: url, storageState })).newPage()
    await page.goto(path, { waitUntil: 'commit', timeout: patience.timeout })
    await expect(there(page), what).toBeVisible(patience)
    await before?.(page)
    await mark(page)
    open.push(page)
  }
  return open
}

test('a server that is killed and comes back: every kind of page stays, and goes on by itself', async ({ browser }) => {
  test.setTimeout(600_000)
  mkdirSync(folder, { recursive: true })
  const server = await mortal()
  try {
    let api = await Api.signIn('admin', adminPassword, server.url)
    const maker = await (await browser.newContext({ baseURL: server.url })).newPage()
    await signInAs(maker, 'admin', adminPassword, server.url)
    const table = pagesOf(await stage(api, maker))
    await maker.context().close()
    const open = await openAll(browser, server.url, table)
    const each = async (look: (kept: Kept, page: Page) => Promise<unknown>) => {
      await Promise.all(table.map(async (kept, i) => {
        const page = open[i]
        if (page) await test.step(kept.what, () => look(kept, page))
      }))
    }

    await server.kill()
    await each(async (kept, page) => {
      await expect(banner(page), kept.what).toBeVisible(patience)
      await kept.meanwhile?.(page)
      await expect(kept.shown(page), kept.what).toBeVisible()
    })
    await open[1]?.screenshot({ path: `${folder}/en-light-away.png` })
    await server.again()
    await api.context.dispose()
    api = await Api.signIn('admin', adminPassword, server.url)
    await each(async (kept, page) => {
      await expect(banner(page), kept.what).toBeHidden(patience)
      await kept.after?.(page, api)
      if (kept.what !== 'form') await expect(kept.shown(page), kept.what).toBeVisible(patience)
      expect(await untouched(page), kept.what).toBe(true)
    })
    for (const page of open.slice(2)) await page.context().close()
    const [home, list] = open
    if (!home || !list) throw new Error('no pages')

    // A page whose code was not fetched yet comes when the server is back.
    await server.kill()
    await expect(banner(home)).toBeVisible(patience)
    await home.getByRole('link', { name: 'Jobs', exact: true }).first().click()
    await server.again()
    await expect(home).toHaveURL(/\/p\/away\/jobs$/, patience)
    await expect(home.getByRole('heading', { name: 'Jobs' })).toBeVisible(patience)
    expect(await untouched(home)).toBe(true)

    // The program that comes back may be another one, in which what this page has not fetched yet has another name: the page
    // stays, and is loaded anew when one says so, with what was typed and where one was going.
    const gone = '**/assets/MembersInput*'
    await list.route(gone, (route) => route.fulfill({ status: 404, body: '' }))
    await list.goto('/p/away/services?new=1')
    const name = list.getByRole('dialog', { name: 'New service' }).getByRole('textbox', { name: /^Name/ })
    await expect(upgraded(list)).toBeVisible(patience)
    await name.fill('typed before the upgrade')
    await list.unroute(gone)
    await mark(list)
    await upgraded(list).getByRole('button', { name: 'Reload' }).click()
    await expect(list.getByLabel('More failures by at most')).toBeVisible(patience)
    await expect(name).toHaveValue('typed before the upgrade')
    expect(await untouched(list)).toBe(false)
    await list.context().close()

    await home.route('**/assets/Resources*', (route) => route.fulfill({ status: 404, body: '' }))
    await home.getByRole('button', { name: 'Administration' }).click()
    await home.getByRole('link', { name: 'Resources', exact: true }).click()
    await expect(upgraded(home)).toBeVisible(patience)
    await expect(home.getByRole('heading', { name: 'Jobs' })).toBeVisible()
    await home.unroute('**/assets/Resources*')
    await upgraded(home).getByRole('button', { name: 'Reload' }).click()
    await expect(home).toHaveURL(/\/admin\/resources$/, patience)
    await expect(home.locator('.meter').first()).toBeVisible(patience)
    await api.context.dispose()
  } finally {
    await server.stop().catch(() => undefined)
  }
})
