import { violations } from './axe'
import { another, draw, objects, openTask, pictures, shown } from './bench'
import { Api, expect, member, signInAsAdmin, test } from './fixtures'

for (const theme of ['light', 'dark']) {
  test(`axe finds nothing wrong, ${theme}`, async ({ page, api, project }) => {
    const set = await api.create('label-sets', { project: project.id, name: 'animals', description: 'x', labels: [{ name: 'cat', color: '#e5484d', key: 'c' }] })
    await page.addInitScript((t) => localStorage.setItem('ingot.theme', t), theme)
    const wrong: string[] = []
    const look = async (where: string) => wrong.push(...(await violations(page)).map((v) => `${where} ${v}`))
    await page.goto('/sign-in')
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
    await look('sign-in')
    await signInAsAdmin(page)
    for (const [path, seen] of [
      [`/p/${project.name}`, 'Quota'],
      ['/home', 'Use by project'],
      [`/p/${project.name}/label-sets`, '1 item'],
      [`/p/${project.name}/label-sets/${set.id}`, 'animals'],
      [`/p/${project.name}/algorithm-sets`, 'No algorithms yet'],
      ['/admin/roles/3', 'Permissions'],
      ['/admin/audit', 'Audit log'],
      ['/profile', 'Display name'],
      ['/nowhere', 'Not found'],
    ] as const) {
      await page.goto(path)
      await expect(page.getByRole('main').getByText(seen).first()).toBeVisible()
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      await look(path)
    }
    await page.goto(`/p/${project.name}/label-sets?new=1`)
    await expect(page.getByRole('button', { name: 'Add label' })).toBeVisible()
    await look('form')
    expect(wrong).toEqual([])
  })
}

test('axe finds nothing wrong on the workbench, its grid and in review, light and dark', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const boxes = await pictures(page, api, project, 2)
  const classes = await pictures(page, api, project, 3, { type: 'image-class' })
  const [anna, eye] = [await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, boxes, { labellers: [anna.user], reviewers: [eye.user] })
  const hand = await Api.signIn(anna.user.name, anna.password)
  const post = async (action: string, data: object) => {
    const answer = await hand.context.post(`/api/v1/label-tasks/${task}/${action}`, { data })
    expect(answer.ok(), await answer.text()).toBe(true)
    return (await answer.json()) as { items: { id: number }[] }
  }
  const [first] = (await post('next', { stage: 'label' })).items
  await post('submit', { assignment: first?.id, nothing: true })
  await hand.context.dispose()

  const wrong: string[] = []
  const judge = await another(browser, eye, `/p/${project.name}/label-tasks/${task}/review`)
  for (const theme of ['light', 'dark']) {
    const look = async (on: Page, where: string) => wrong.push(...(await violations(on)).map((v) => `${theme} ${where} ${v}`))
    const open = async (on: Page, url: string) => {
      await on.evaluate((t) => localStorage.setItem('ingot.theme', t), theme)
      await on.goto(url)
    }
    await open(page, `/p/${project.name}/datasets/${boxes.set.id}/v/1/label`)
    await shown(page)
    await page.keyboard.press('1')
    await draw(page, [0.3, 0.3], [0.45, 0.5])
    await expect(objects(page).first()).toBeVisible()
    await look(page, 'boxes')
    await page.keyboard.press('Control+Shift+H')
    await expect(page.getByRole('list', { name: 'History' }).getByRole('button').first()).toBeVisible()
    await look(page, 'history')
    await open(page, `/p/${project.name}/datasets/${classes.set.id}/v/1/label`)
    await expect(page.locator('.film-cell[aria-current] img')).toBeVisible()
    await page.keyboard.press('Shift+G')
    await expect(page.locator('.sheet-cells').getByRole('option')).toHaveCount(3)
    await look(page, 'grid')
    await open(judge, `/p/${project.name}/label-tasks/${task}/review`)
    await shown(judge)
    await look(judge, 'review')
  }
  expect(wrong).toEqual([])
  await judge.context().close()
})
