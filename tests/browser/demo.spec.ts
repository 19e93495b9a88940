import { expect, test } from '@playwright/test'
import { violations } from './axe'
import { dialog, signInAs } from './fixtures'
import { adminPassword, serve } from './server'

// A new platform of its own; the demo is loaded for real, its packages come from the cache or the registry.
test('the demo project is offered on an empty platform, loaded, signed in to, and removed', async ({ page, browser }) => {
  test.setTimeout(300_000)
  const server = await serve()
  try {
    await signInAs(page, 'admin', adminPassword, server.url)
    await page.goto(`${server.url}/`)
    const offer = page.getByRole('complementary', { name: 'Demo project' })
    await expect(offer).toContainText(/\d+(\.\d)? Mi?B/)
    await offer.getByRole('button').click()
    const data = page.getByRole('region', { name: '1. Data, labelling, models, a service' })
    await data.getByRole('button', { name: 'Load the demo project' }).click()
    await expect(data.getByRole('progressbar')).toBeVisible()
    await expect(data.getByRole('link', { name: 'Open the project' })).toBeVisible({ timeout: 200_000 })
    await expect(data.getByRole('img', { name: 'done', exact: true })).toHaveCount(10)
    await expect(page.getByRole('region', { name: '2. A model of your own' })).toContainText('PyTorch runtime')
    expect(await violations(page)).toEqual([])

    // What is there can be looked at.
    await data.getByRole('link', { name: 'Service', exact: true }).click()
    await expect(page.getByRole('row', { name: /what-is-it/ })).toContainText('Serving')

    // One of its people signs in with the password that is shown, and sees their task.
    await page.goto(`${server.url}/demo`)
    const people = page.getByRole('region', { name: 'Its people' })
    await people.getByRole('button', { name: 'Set and show passwords' }).click()
    const anna = people.locator('.demo-person', { hasText: 'demo-anna' })
    const password = (await anna.getByLabel('Password of demo-anna', { exact: true }).innerText()).trim()
    const other = await browser.newPage()
    await signInAs(other, 'demo-anna', password, server.url)
    await other.goto(`${server.url}/`)
    await expect(other.getByText('new fruit pictures').first()).toBeVisible()
    await other.close()
    await page.reload()
    await expect(people.locator('.demo-person')).toHaveCount(0)

    // Its name is typed before it goes.
    await page.getByRole('button', { name: 'Remove the demo project' }).click()
    const sure = dialog(page)
    const remove = sure.getByRole('button', { name: 'Remove the demo project' })
    await expect(sure).toContainText('demo-anna')
    await sure.getByRole('textbox').fill('dem')
    await expect(remove).toBeDisabled()
    await sure.getByRole('textbox').fill('demo')
    await remove.click()
    await expect(data.getByRole('button', { name: 'Load the demo project' })).toBeVisible({ timeout: 120_000 })
    await page.goto(`${server.url}/projects`)
    await expect(page.getByRole('link', { name: 'demo', exact: true })).toHaveCount(0)
  } finally {
    await server.stop()
  }
})
