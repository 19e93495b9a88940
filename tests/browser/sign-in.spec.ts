import type { Page } from '@playwright/test'
import { Api, dialog, expect, member, signInAs, test, unique, type Made } from './fixtures'

test('signing in leads to where one wanted to go; signing out ends it', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await page.goto(`/p/${project.name}/label-sets?q=x`)
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Enter your user name.')).toBeVisible()
  await page.getByLabel('User name').fill(user.name)
  await page.getByLabel('Password', { exact: true }).fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toHaveText('The user name or the password is wrong.')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Label sets' })).toBeVisible()
  await expect(page).toHaveURL(/label-sets\?q=x/)

  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
  await page.goto('/profile')
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
})

test('language and theme can be chosen before signing in', async ({ page }) => {
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitem', { name: '中文' }).click()
  await expect(page.getByRole('heading', { name: '登录 Ingot' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
  await page.getByRole('button', { name: '主题' }).click()
  await page.getByRole('menuitem', { name: '深色' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.reload()
  await expect(page.getByRole('heading', { name: '登录 Ingot' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

/** An open form with something typed into it, in a page whose session is over. */
async function typedAndLost(page: Page, project: Made, user: Made, password: string): Promise<string> {
  const name = unique('late')
  await signInAs(page, user.name, password)
  await page.goto(`/p/${project.name}/label-sets?new=1`)
  await dialog(page).getByLabel('Name', { exact: false }).first().fill(name)
  await page.context().clearCookies()
  // By itself the page finds out sooner or later, and then its button can no longer be clicked; an event gets through either way.
  await page.locator('.form-dialog .ant-modal-footer .ant-btn-primary').dispatchEvent('click')
  await expect(again(page).getByText('Your session has ended. Sign in to go on where you were.')).toBeVisible()
  await expect(page.locator('.form-dialog input').first()).toHaveValue(name)
  return name
}

function again(page: Page) {
  return page.locator('.sign-in-again')
}

test('a session that ends under way: one signs in above the page and goes on, with what was typed', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'owner')
  const name = await typedAndLost(page, project, user, password)
  await expect(page).toHaveURL(new RegExp(`/p/${project.name}/label-sets\\?new=1`))
  await expect(again(page).getByLabel('User name')).toHaveValue(user.name)
  await expect(again(page).getByLabel('Password', { exact: true })).toBeFocused()

  // Nothing else can be reached: not by keys, not by Tab, not by Escape.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  for (let i = 0; i < 8; i += 1) {
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('.sign-in-again, .keys-none') != null)).toBe(true)
  }
  await expect(page.locator('.palette')).toHaveCount(0)

  await again(page).getByLabel('Password', { exact: true }).fill('not mine')
  await again(page).getByRole('button', { name: 'Sign in' }).click()
  await expect(again(page).getByRole('alert')).toHaveText('The user name or the password is wrong.')
  await again(page).getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  // What was being saved is saved, as if nothing had happened.
  await expect(again(page)).toHaveCount(0)
  await expect(page.getByRole('heading', { name, exact: true })).toBeVisible()
  await expect(page.locator('[inert]')).toHaveCount(0)
})

test('a page notices by itself that its session was ended elsewhere, and that one signed in elsewhere', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'owner')
  await signInAs(page, user.name, password)
  await page.goto(`/p/${project.name}/label-sets?new=1`)
  await dialog(page).getByLabel('Name', { exact: false }).first().fill('not yet')
  const other = await Api.signIn(user.name, password)
  const sessions = (await other.get('sessions')) as { items: (Made & { current: boolean })[] }
  for (const session of sessions.items) {
    if (!session.current) expect((await other.context.delete(`/api/v1/sessions/${session.id}`)).status()).toBe(204)
  }
  await expect(again(page).getByText('Your session has ended.')).toBeVisible()
  await signInAs(page, user.name, password)
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await expect(again(page)).toHaveCount(0)
  await expect(dialog(page).getByLabel('Name', { exact: false }).first()).toHaveValue('not yet')
  await expect(dialog(page).getByLabel('Name', { exact: false }).first()).toBeFocused()
  await other.context.dispose()
})

test('another user who signs in above a page sees nothing of it', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'owner')
  const next = await member(api, await api.create('projects', { name: unique('other') }), 'member')
  const name = await typedAndLost(page, project, user, password)
  await again(page).getByLabel('User name').fill(next.user.name)
  await again(page).getByLabel('Password', { exact: true }).fill(next.password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: `Account: ${next.user.name}` })).toBeVisible()
  await expect(page).not.toHaveURL(/label-sets/)
  await expect(dialog(page)).toHaveCount(0)
  const made = await api.get(`label-sets?project=${project.id}&q=${name}`)
  expect(made['items']).toEqual([])
})

test('providers are offered above a page too, and come back to it', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'owner')
  await page.route('**/api/v1/sign-in', (route) => route.fulfill({ json: { password: true, providers: [{ id: 'corp', title: 'Corp' }] } }))
  await typedAndLost(page, project, user, password)
  const address = encodeURIComponent(`/p/${project.name}/label-sets?new=1`)
  await expect(again(page).getByRole('link', { name: 'Continue with Corp' })).toHaveAttribute('href', `/api/v1/sign-in/corp?next=${address}`)
})

test('an address outside is no place to go after signing in', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await page.goto('/sign-in?next=//example.org/')
  await page.getByLabel('User name').fill(user.name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: project.name })).toBeVisible()
})

test('providers are offered, and what they answer is shown', async ({ page }) => {
  await page.route('**/api/v1/sign-in', (route) => route.fulfill({ json: { password: true, providers: [{ id: 'corp', title: 'Corp' }] } }))
  await page.goto('/sign-in?next=/p/x&error=the+state+is+unknown')
  await expect(page.getByRole('link', { name: 'Continue with Corp' })).toHaveAttribute('href', '/api/v1/sign-in/corp?next=%2Fp%2Fx')
  await expect(page.getByRole('alert')).toContainText('the state is unknown')
})
