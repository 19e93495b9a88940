import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test, type Page } from '@playwright/test'
import { Api, signInAs } from './fixtures'
import { adminPassword, mortal } from './server'

const folder = resolve(__dirname, '../../test-results/screens')

const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' })

/** Whether the page is still the one that was loaded first. */
const mark = (page: Page) => page.evaluate(() => Object.assign(window, { untouched: true }))
const untouched = (page: Page) => page.evaluate(() => 'untouched' in window)

test('a server that is killed and comes back: every kind of page stays, and goes on by itself', async ({ page }) => {
  test.setTimeout(300_000)
  mkdirSync(folder, { recursive: true })
  const server = await mortal()
  try {
    const api = await Api.signIn('admin', adminPassword, server.url)
    const project = await api.create('projects', { name: 'away' })
    const set = await api.create('datasets', { project: project.id, name: 'pictures', annotation_type: 'detection' })
    await api.create(`datasets/${set.id}/versions`, {})
    const labels = await api.create('label-sets', { project: project.id, name: 'things', labels: [] })
    await api.context.dispose()
    await signInAs(page, 'admin', adminPassword, server.url)

    const pages = ['/p/away', '/p/away/datasets', `/p/away/datasets/${set.id}`, `/p/away/datasets/${set.id}/v/1`, `/p/away/label-sets/${labels.id}`,
      `/p/away/datasets/${set.id}/v/1/label`, '/p/away/services', '/p/away/trainings', '/admin/users', '/admin/resources', '/profile']
    for (const path of pages) {
      await page.goto(server.url + path)
      const shown = page.locator('main').getByRole('heading').or(page.locator('.bench')).first()
      await expect(shown, path).toBeVisible()
      await mark(page)
      await server.kill()
      await expect(banner(page), path).toBeVisible()
      await expect(shown, path).toBeVisible()
      if (path === '/p/away/datasets') await page.screenshot({ path: `${folder}/en-light-away.png` })
      await server.again()
      await expect(banner(page), path).toBeHidden({ timeout: 30_000 })
      await expect(shown, path).toBeVisible()
      expect(await untouched(page), path).toBe(true)
    }

    // What is typed stays, says that it was not saved, and is saved when the server is back.
    await page.goto(`${server.url}/p/away/label-sets`)
    await page.getByRole('button', { name: 'New label set' }).first().click()
    const form = page.getByRole('dialog', { name: 'New label set' })
    await form.getByRole('textbox', { name: /^Name/ }).fill('typed before')
    await server.kill()
    await expect(banner(page)).toBeVisible()
    await page.keyboard.press('Control+Enter')
    await expect(form.getByRole('alert')).toContainText('The server cannot be reached')
    await server.again()
    await expect(banner(page)).toBeHidden({ timeout: 30_000 })
    await form.getByRole('button', { name: 'Create' }).click()
    await expect(page.getByRole('link', { name: 'typed before' }).or(page.getByRole('heading', { name: 'typed before' })).first()).toBeVisible()

    // A page whose code was not fetched yet comes when the server is back.
    await page.goto(`${server.url}/p/away/label-sets`)
    await expect(page.getByRole('link', { name: 'things' })).toBeVisible()
    await mark(page)
    await server.kill()
    await expect(banner(page)).toBeVisible()
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await server.again()
    await expect(page).toHaveURL(/\/p\/away$/, { timeout: 30_000 })
    await expect(page.getByRole('heading', { name: 'away' })).toBeVisible()
    expect(await untouched(page)).toBe(true)
  } finally {
    await server.stop().catch(() => undefined)
  }
})
