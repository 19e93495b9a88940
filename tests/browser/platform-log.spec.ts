import { openSelect } from './compute'
import { expect, member, option, signInAs, signInAsAdmin, test } from './fixtures'

test('the platform log: newest first, by level and by text', async ({ page }) => {
  await signInAsAdmin(page)
  await page.goto('/')
  await page.getByRole('button', { name: 'Administration', exact: true }).click()
  await page.getByRole('link', { name: 'Platform log' }).click()
  await expect(page.getByRole('heading', { name: 'Platform log' })).toBeVisible()
  await expect(page.getByRole('row', { name: /is ready at/ }).first()).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('nowhere in it')
  await expect(page.getByText('Not found')).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('READY')
  await expect(page.getByRole('row', { name: /is ready at/ }).first()).toBeVisible()
  await openSelect(page, 'Level')
  await option(page, 'error and worse').click()
  await expect(page.getByText('Not found')).toBeVisible()
})

test('the platform log is for administrators', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await signInAs(page, user.name, password)
  await page.goto('/admin/log')
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Platform log' })).toHaveCount(0)
})

test('controllers: what the platform does by itself', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto('/')
  await page.getByRole('button', { name: 'Administration', exact: true }).click()
  await page.getByRole('link', { name: 'Controllers' }).click()
  await expect(page.getByRole('heading', { name: 'Controllers' })).toBeVisible()
  await expect(page.getByRole('row', { name: /collect-blobs Removes blobs that nobody uses/ })).toBeVisible()
  const { user, password } = await member(api, project, 'member')
  await page.context().clearCookies()
  await signInAs(page, user.name, password)
  await page.goto('/admin/controllers')
  await expect(page.getByRole('alert')).toBeVisible()
})
