import { expect, member, signInAs, signInAsAdmin, test } from './fixtures'

test('the command palette finds pages, objects and actions', async ({ page, api, project }) => {
  const made = await api.create('label-sets', { project: project.id, name: `findme ${project.name}` })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await expect(page.getByRole('heading', { name: project.name })).toBeVisible()
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox', { name: 'Search pages, objects and actions' })
  await expect(box).toBeFocused()
  await page.keyboard.type(made.name)
  await expect(page.getByRole('option', { name: made.name })).toBeVisible()
  // What was done with it is no object to go to.
  await expect(page.getByRole('option').filter({ hasText: 'Audit entry' })).toHaveCount(0)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`/label-sets/${made.id}$`))

  await page.keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await page.keyboard.type('Users')
  await expect(page.getByRole('option', { selected: true })).toContainText('Users')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Users' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await page.keyboard.type('Create: Label set')
  await expect(page.getByRole('option', { selected: true })).toContainText('Create: Label set')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'New label set' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog', { name: 'New label set' })).toBeHidden()
})

test('the palette: one question for all kinds, loosely typed, in Chinese, the last opened first', async ({ page, api, project }) => {
  const set = await api.create('label-sets', { project: project.id, name: 'traffic-detection' })
  await api.create('model-sets', { project: project.id, name: '夜间黄色车辆', description: 'seen by cameras' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets/${set.id}`)
  await expect(page.getByRole('heading', { name: set.name })).toBeVisible()
  await page.goto(`/p/${project.name}/datasets`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  const asked: string[] = []
  page.on('request', (request) => { if (/[?&]q=/.test(request.url())) asked.push(new URL(request.url()).pathname) })
  const box = page.getByRole('combobox', { name: 'Search pages, objects and actions' })
  const selected = page.getByRole('option', { selected: true })
  await page.keyboard.press('Control+k')
  await expect(box).toBeFocused()
  await expect(selected).toContainText('traffic-detection')
  await expect(selected).toContainText('Recent')
  for (const [typed, title, marks] of [['trfdet', 'traffic-detection', ['tr', 'f', 'det']], ['车辆', '夜间黄色车辆', ['车辆']], ['cameras', '夜间黄色车辆', ['cameras']]] as const) {
    await box.fill(typed)
    await expect(selected).toContainText(title)
    await expect(selected.locator('mark')).toHaveText([...marks])
  }
  expect([...new Set(asked)]).toEqual(['/api/v1/search'])
  await box.fill('crelabel')
  await expect(selected).toContainText('Create: Label')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await box.fill('车辆')
  await expect(selected).toContainText('夜间黄色车辆')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: '夜间黄色车辆' })).toBeVisible()
})

test('the palette has no pages of the administration for whom they are not', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await signInAs(page, user.name, password)
  await page.goto(`/p/${project.name}`)
  await expect(page.getByRole('heading', { name: project.name })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search pages, objects and actions' }).fill('Users')
  await expect(page.getByRole('status').filter({ hasText: 'Nothing found' })).toBeVisible()
})

test('"?" shows the keys of the page', async ({ page, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('heading', { name: 'No label sets yet' })).toBeVisible()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard' })
  await expect(help).toContainText('Search in this list')
  await expect(help).toContainText('Go to anything')
  await page.keyboard.press('Escape')
  await expect(help).toBeHidden()
})

test('Chinese everywhere, dark, remembered', async ({ page, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitem', { name: '中文' }).click()
  await expect(page.getByRole('heading', { name: '还没有标签组' })).toBeVisible()
  await page.getByRole('button', { name: '主题' }).click()
  await page.getByRole('menuitem', { name: '深色' }).click()
  await page.reload()
  await expect(page.getByRole('heading', { name: '还没有标签组' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.getByRole('button', { name: '新建标签组' }).first().click()
  const form = page.getByRole('dialog', { name: '新建标签组' })
  await form.getByRole('textbox', { name: /^名称/ }).fill('a:b')
  await expect(form.getByText('名称不能包含 :。')).toBeVisible()
})

test('on a phone the menu is a drawer and rows are cards', async ({ page, api, project }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await api.create('label-sets', { project: project.id, name: 'small' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await expect(page.getByRole('heading', { name: project.name })).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Menu' })).toBeHidden()
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Label sets' }).click()
  await expect(page.getByRole('link', { name: 'small' })).toBeVisible()
  await expect(page.getByRole('table')).toHaveCount(0)
  // Nothing is wider than the screen.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await page.getByRole('button', { name: 'Edit: small' }).click()
  await expect(page.getByRole('dialog', { name: 'Edit small' })).toBeVisible()
})

test('everything by keyboard: skip link, then a link of the page', async ({ page, api, project }) => {
  await api.create('label-sets', { project: project.id, name: 'reach me' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('link', { name: 'reach me' })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
  // First the manual, whose label sets are listed and a new one, then the search.
  await page.keyboard.press('Tab')
  await expect(page.getByRole('main').locator(':focus')).toHaveCount(1)
  for (let i = 0; i < 6 && !(await page.getByRole('searchbox').evaluate((box) => box === document.activeElement)); i += 1) await page.keyboard.press('Tab')
  await expect(page.getByRole('searchbox')).toBeFocused()
})

test('a link that is followed while a search settles leads there, however long the page takes', async ({ page, api, project }) => {
  await api.create('label-sets', { project: project.id, name: 'slow to come' })
  await signInAsAdmin(page)
  await page.clock.install()
  let come = () => {}
  const fetched = new Promise<void>((done) => {
    come = done
  })
  await page.route(/DetailPage/, async (route) => {
    await fetched
    await route.continue()
  })
  await page.goto(`/p/${project.name}/label-sets`)
  const link = page.getByRole('link', { name: 'slow to come' })
  await expect(link).toBeVisible()
  const asked = page.waitForRequest(/DetailPage/)
  await page.getByRole('searchbox').fill('slow')
  await link.click()
  await asked
  await page.clock.runFor(5000)
  come()
  await expect(page.getByRole('heading', { name: 'slow to come' })).toBeVisible()
})

test('a page whose program does not come leaves the one that is shown, and offers to load it anew', async ({ page, api, project }) => {
  await api.create('label-sets', { project: project.id, name: 'second time' })
  await signInAsAdmin(page)
  await page.route(/DetailPage/, (route) => route.abort())
  await page.goto(`/p/${project.name}/label-sets`)
  const link = page.getByRole('link', { name: 'second time' })
  await link.click()
  const offer = page.getByRole('alert').filter({ hasText: 'A new version is available.' })
  await expect(offer).toBeVisible()
  await expect(link).toBeVisible()
  await page.unroute(/DetailPage/)
  await offer.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByRole('heading', { name: 'second time' })).toBeVisible()
  await expect(page).toHaveURL(/\/label-sets\/\d+$/)
})

test('a first page whose program does not come is loaded anew, once', async ({ page, project }) => {
  await signInAsAdmin(page)
  let loads = 0
  let enough = 2
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1
  })
  await page.route(/ListPage/, (route) => (loads < enough ? route.abort() : route.continue()))
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('heading', { name: 'Label sets', level: 1 })).toBeVisible()
  expect(loads).toBe(2)
  // Not for ever.
  enough = 1000
  await page.reload()
  await expect(page.getByRole('alert')).toContainText('A new version is available.')
})

test('groups of the menu fold, for good; administration is for those who have it', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  const menu = page.getByRole('navigation', { name: 'Menu' })
  const group = (name: string) => menu.getByRole('button', { name, exact: true })
  await expect(group('Administration')).toHaveAttribute('aria-expanded', 'false')
  await expect(menu.getByRole('link', { name: 'Users' })).toBeHidden()
  await group('Administration').click()
  await menu.getByRole('link', { name: 'Users' }).click()
  await expect(page.getByRole('heading', { name: 'Users' })).toBeVisible()
  // Of a folded group the page one is at stays.
  await group('Administration').click()
  await expect(menu.getByRole('link', { name: 'Users' })).toBeVisible()
  await expect(menu.getByRole('link', { name: 'Roles' })).toBeHidden()
  await group('Data').click()
  await expect(menu.getByRole('link', { name: 'Datasets' })).toBeHidden()
  await page.reload()
  await expect(menu.getByRole('link', { name: 'Services' })).toBeVisible()
  await expect(menu.getByRole('link', { name: 'Datasets' })).toBeHidden()

  const { user, password } = await member(api, project, 'member')
  await page.context().clearCookies()
  await signInAs(page, user.name, password)
  await page.goto(`/p/${project.name}`)
  await expect(menu.getByRole('link', { name: 'Services' })).toBeVisible()
  await expect(group('Administration')).toHaveCount(0)
})

test('the font comes with the pages, and is small', async ({ page }) => {
  const come = page.waitForResponse(/\.woff2$/)
  await page.goto('/sign-in')
  const font = await (await come).body()
  expect(font.length).toBeLessThan(60 * 1024)
  expect(await page.evaluate(async () => (await document.fonts.load('550 13px Inter')).length)).toBe(1)
})
