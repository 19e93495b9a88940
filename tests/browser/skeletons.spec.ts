import type { Page } from '@playwright/test'
import { pictures } from './bench'
import { expect, signInAsAdmin, test } from './fixtures'

/** Requests that are answered when one says so. */
async function hold(page: Page, pattern: RegExp): Promise<() => void> {
  let release = () => undefined as void
  const held = new Promise<void>((done) => {
    release = done
  })
  await page.route(pattern, async (route) => {
    await held
    await route.fallback()
  })
  return release
}

interface Shift extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
}

/** How much of what is shown has moved by itself since this page was opened, as browsers reckon it. */
function moved(page: Page): Promise<number> {
  return page.evaluate(() => new Promise<number>((done) => {
    new PerformanceObserver((list) => done((list.getEntries() as Shift[]).reduce((sum, one) => sum + (one.hadRecentInput ? 0 : one.value), 0))).observe({ type: 'layout-shift', buffered: true })
    // There is nothing to tell when nothing moved.
    requestAnimationFrame(() => requestAnimationFrame(() => done(0)))
  }))
}

/** Whether a skeleton is seen so many milliseconds after it came. */
function seenAfter(page: Page, ms: number): Promise<boolean> {
  return page.evaluate((at) => {
    const fresh = document.createElement('div')
    fresh.className = 'skeleton'
    document.body.append(fresh)
    const moment = fresh.getAnimations().find((one) => (one as CSSAnimation).animationName === 'moment')
    moment?.pause()
    if (moment) moment.currentTime = at
    const seen = getComputedStyle(fresh).opacity !== '0'
    fresh.remove()
    return seen
  }, ms)
}

test('what is on its way has its place, is announced only after a moment, and moves nothing when it comes', async ({ page, api, project }) => {
  const labels = await api.create('label-sets', { project: project.id, name: 'things', labels: [{ name: 'a', color: '#112233' }] })
  await signInAsAdmin(page)
  const { set } = await pictures(page, api, project, 6)
  expect([await seenAfter(page, 149), await seenAfter(page, 151)]).toEqual([false, true])
  const inside = `/p/${project.name}`
  const main = page.getByRole('main')
  for (const { what, path, wait, shape, there } of [
    { what: 'list', path: `${inside}/label-sets`, wait: /\/api\/v1\/label-sets\?/, shape: 'main .skeleton-rows', there: main.getByRole('link', { name: 'things' }) },
    { what: 'detail page', path: `${inside}/label-sets/${labels.id}`, wait: /\/api\/v1\/label-sets\/\d+/, shape: 'main .skeleton-page', there: main.getByRole('heading', { name: 'things' }) },
    // How many there are is known: their cells are there at once.
    { what: 'gallery', path: `${inside}/datasets/${set.id}/v/1`, wait: /\/samples\?/, shape: '.cell:nth-child(6)', there: main.locator('.cell img').first() },
    { what: 'form', path: `${inside}/label-sets?new=1`, wait: /\/assets\/ObjectForm/, shape: '.form-coming .skeleton-fields', there: page.getByRole('dialog') },
    { what: 'home', path: inside, wait: /\/api\/v1\/projects\/\d+\/home/, shape: 'main .skeleton-lines', there: main.getByText('Quota').first() },
    { what: 'first paint', path: `${inside}/label-sets`, wait: /\/api\/v1\/kinds/, shape: '.first-paint .skeleton-page', there: main.getByRole('link', { name: 'things' }) },
  ]) {
    await test.step(what, async () => {
      const release = await hold(page, wait)
      await page.goto(path, { waitUntil: 'commit' })
      await expect(page.locator(shape)).toBeAttached()
      if (process.env['INGOT_PICTURES']) await page.screenshot({ path: `${process.env['INGOT_PICTURES']}/skeleton-${what.replaceAll(' ', '-')}.png` })
      release()
      await expect(there).toBeVisible()
      await expect(page.locator('.skeleton')).toHaveCount(0)
      expect(await moved(page), what).toBeLessThan(0.1)
      await page.unroute(wait)
    })
  }
})
