import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { another, openTask, pictures } from './bench'
import { expect, member, signInAsAdmin, test } from './fixtures'

const folder = resolve(__dirname, '../../test-results/screens')
const sizes = [['phone', 390, 844], ['tablet', 768, 1024]] as const

/** What stands in the head and reaches beyond the window, and is not a part of a row that can be pushed. */
const beyond = (page: Page) => page.locator('.bench-head').evaluate((head) => [...head.querySelectorAll('button, a, h1, .bench-place')]
  .filter((node) => !node.closest('.bench-tool-row') && (node.getBoundingClientRect().right > window.innerWidth || node.getBoundingClientRect().left < 0 || node.getBoundingClientRect().width === 0))
  .map((node) => node.getAttribute('aria-label') ?? node.textContent))

test('every tool is within reach on a phone and on a tablet', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2, { type: 'segmentation' })
  const [person, reviewer] = [await member(api, project, 'member'), await member(api, project, 'member')]
  const task = await openTask(api, project, data, { labellers: [person.user], reviewers: [reviewer.user] })
  const worker = await another(browser, person, `/p/${project.name}/label-tasks/${task}/label`)
  const places: [string, Page][] = [['version', page], ['task', worker]]
  await page.goto(`/p/${project.name}/datasets/${data.set.id}/v/1/label`)
  for (const [place, on] of places) {
    for (const [size, width, height] of sizes) {
      await on.setViewportSize({ width, height })
      for (const [language, theme] of [['en', 'light'], ['zh', 'dark']] as const) {
        await on.evaluate(([l, t]) => {
          localStorage.setItem('ingot.language', l)
          localStorage.setItem('ingot.theme', t)
        }, [language, theme])
        await on.reload()
        await expect(on.locator('.bench-canvas [data-src]')).toBeVisible()
        await on.screenshot({ path: `${folder}/${language}-${theme}-bench-${place}-${size}.png` })
        expect(await beyond(on), `${place} ${size} ${language}`).toEqual([])
      }
      await on.evaluate(() => localStorage.setItem('ingot.language', 'en'))
      await on.reload()
      await expect(on.locator('.bench-canvas [data-src]')).toBeVisible()
      const tools = on.getByRole('toolbar', { name: 'Tools' })
      // Pushed to the side, each is seen whole and does what it says.
      for (const name of ['Cut in two', 'Move the picture', 'Zoom in']) {
        await tools.getByRole('button', { name, exact: true }).click()
        await expect(tools.getByRole('button', { name, exact: true })).toBeInViewport({ ratio: 1 })
      }
      await expect(tools.getByRole('button', { name: 'Move the picture' })).toHaveAttribute('aria-pressed', 'true')
      await tools.getByRole('button', { name: 'History' }).click()
      await expect(on.getByRole('region', { name: 'History' })).toBeVisible()
      await tools.getByRole('button', { name: 'History' }).click()
      // The menu has them all, and the row shows the one that was chosen there.
      await tools.getByRole('button', { name: 'More' }).click()
      await on.getByRole('menuitem', { name: /^Select and move/ }).click()
      await expect(tools.getByRole('button', { name: 'Select and move' })).toHaveAttribute('aria-pressed', 'true')
      await expect(tools.getByRole('button', { name: 'Select and move' })).toBeInViewport({ ratio: 1 })
      await tools.getByRole('button', { name: 'More' }).click()
      await on.getByRole('menuitem', { name: 'Change keys' }).click()
      await expect(on.getByRole('dialog').getByLabel('Previous sample', { exact: true })).toBeInViewport({ ratio: 1 })
      await expect(on.getByRole('dialog').getByRole('button', { name: 'Save' })).toBeInViewport({ ratio: 1 })
      await on.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    }
  }
  await worker.context().close()
})
