import { dialog, expect, option, signInAsAdmin, test, unique } from './fixtures'

test('search, facets, sorting and paging; the address keeps them', async ({ page, api, project }) => {
  await Promise.all(Array.from({ length: 65 }, (_, i) => api.create('label-sets', { project: project.id, name: `set ${String(i).padStart(2, '0')}`, public: i % 20 === 0 })))
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets?sort=name`)
  const rows = page.locator('tbody tr')
  await expect(page.getByText('65 items')).toBeVisible()
  await expect(rows.first()).toContainText('set 00')
  // The next page comes by itself when the end is near.
  await rows.nth(49).scrollIntoViewIfNeeded()
  await expect(rows).toHaveCount(65)

  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await page.keyboard.type('set 1')
  await expect(page.getByText('10 items')).toBeVisible()
  await expect(page).toHaveURL(/q=set\+1/)
  await page.reload()
  await expect(page.getByText('10 items')).toBeVisible()
  await expect(page.getByRole('searchbox')).toHaveValue('set 1')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page.getByText('65 items')).toBeVisible()

  await page.getByRole('combobox', { name: 'Filter by Public' }).click()
  await option(page, 'Public: Yes').click()
  await expect(page.getByText('4 items')).toBeVisible()
  await page.getByRole('switch', { name: 'Created by me' }).click()
  await expect(page).toHaveURL(/mine=1/)
  await expect(page.getByText('4 items')).toBeVisible()
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await expect(page.locator('tbody tr').first()).toContainText('set 60')
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending')
})

test('an empty list says what to do; a search without a match says so', async ({ page, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('heading', { name: 'No label sets yet' })).toBeVisible()
  await page.getByRole('searchbox').fill('zebra')
  await expect(page.getByRole('heading', { name: 'Nothing matches' })).toBeVisible()
  await page.getByRole('status').getByRole('button', { name: 'Clear filters' }).click()
  await expect(page.getByRole('heading', { name: 'No label sets yet' })).toBeVisible()
  await page.getByRole('status').getByRole('button', { name: 'New label set' }).click()
  await expect(dialog(page)).toContainText('New label set')
})

test('changes by others appear by themselves', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const first = unique('first')
  await api.create('label-sets', { project: project.id, name: first })
  const streaming = page.waitForResponse((r) => r.url().includes('/api/v1/events') && r.status() === 200)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('link', { name: first })).toBeVisible()
  await streaming
  const second = unique('second')
  await api.create('label-sets', { project: project.id, name: second })
  await expect(page.getByRole('link', { name: second })).toBeVisible()
  await expect(page.getByText('2 items')).toBeVisible()
})

test('rows by keyboard', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const made = await api.create('label-sets', { project: project.id, name: 'only one' })
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('link', { name: 'only one' })).toBeVisible()
  await page.keyboard.press('j')
  await page.keyboard.press('Delete')
  await expect(dialog(page)).toContainText('Delete only one?')
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toBeHidden()
  await page.keyboard.press('o')
  await expect(page).toHaveURL(new RegExp(`/label-sets/${made.id}$`))
  await expect(page.getByRole('heading', { name: 'only one' })).toBeVisible()
})

test('a server that fails shows why, and a way to try again', async ({ page, project }) => {
  await signInAsAdmin(page)
  let broken = true
  await page.route('**/api/v1/label-sets?*', (route) => (broken ? route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"internal","status":500,"title":"x","detail":"the disk is on fire"}' }) : route.continue()))
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('alert')).toContainText('the disk is on fire')
  broken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { name: 'No label sets yet' })).toBeVisible()
})

test('what changes while the first answer is under way is not missed', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  let come = () => {}
  const held = new Promise<void>((done) => (come = done))
  let fetched = () => {}
  const old = new Promise<void>((done) => (fetched = done))
  let first = true
  await page.route('**/api/v1/label-sets?*', async (route) => {
    if (!first) return route.continue()
    first = false
    const response = await route.fetch()
    fetched()
    await held
    await route.fulfill({ response })
  })
  const streaming = page.waitForResponse((r) => r.url().includes(`/api/v1/events?project=${project.id}`) && r.status() === 200)
  await page.goto(`/p/${project.name}/label-sets`)
  await Promise.all([streaming, old])
  await api.create('label-sets', { project: project.id, name: 'meanwhile' })
  // Changes are taken in in their order; this one makes the page ask what one may do.
  const taken = page.waitForRequest((r) => r.url().endsWith('/api/v1/session'))
  await api.patch(`projects/${project.id}`, { description: 'changed' })
  await taken
  come()
  await expect(page.getByRole('link', { name: 'meanwhile' })).toBeVisible()
})

test('the row one is at stays the same when others come in above it', async ({ page, api, project }) => {
  await api.create('label-sets', { project: project.id, name: 'older' })
  await signInAsAdmin(page)
  const streaming = page.waitForResponse((r) => r.url().includes(`/api/v1/events?project=${project.id}`) && r.status() === 200)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('link', { name: 'older' })).toBeVisible()
  await streaming
  await page.keyboard.press('j')
  await expect(page.locator('tr.active')).toContainText('older')
  await api.create('label-sets', { project: project.id, name: 'newer' })
  await expect(page.locator('tbody tr').first()).toContainText('newer')
  await page.keyboard.press('Delete')
  await expect(dialog(page)).toContainText('Delete older?')
})

test('what is offered fits what is typed, before the answer comes too', async ({ page, api, project }) => {
  await api.create('projects', { name: unique('another') })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await page.getByRole('combobox', { name: 'Project' }).press('ArrowDown')
  const offered = page.locator('.ant-select-dropdown:visible .ant-select-item-option')
  await expect(offered.first()).toBeVisible()
  let come = () => {}
  const held = new Promise<void>((done) => (come = done))
  await page.route('**/api/v1/projects?*', async (route) => {
    await held
    await route.continue()
  })
  const asked = page.waitForRequest((r) => r.url().includes('/api/v1/projects?') && r.url().includes('q='))
  await page.keyboard.type(project.name)
  await asked
  await expect(offered.filter({ hasNotText: project.name })).toHaveCount(0)
  come()
  await expect(option(page, project.name)).toBeVisible()
})
