import { expect, signInAsAdmin, test } from './fixtures'
import { png, zip } from './pictures'

// What a long gallery costs, in counts: elements, requests, changes of the page. Never in time.
const many = 1500

test('a long gallery draws and asks for what is in sight only', async ({ page, api, project }) => {
  const set = await api.create('datasets', { project: project.id, name: 'many', annotation_type: 'detection' })
  await api.create(`datasets/${set.id}/versions`, {})
  const picture = png(16, 12, 1)
  const files = Object.fromEntries(Array.from({ length: many }, (_, i) => [`${String(i).padStart(4, '0')}.png`, picture]))
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'many.zip', mimeType: 'application/zip', buffer: zip(files) }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible({ timeout: 120_000 })

  // A change that is told of meanwhile makes the same one be asked for again: that is not more of the gallery.
  const lists = new Set<string>()
  const pictures = new Set<string>()
  page.on('request', (request) => {
    if (/\/samples\?/.test(request.url())) lists.add(request.url())
    if (request.url().includes('/thumbnail')) pictures.add(request.url())
  })
  // Wide enough for six pictures in a row beside what is known about the version.
  await page.setViewportSize({ width: 1576, height: 800 })
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1`)
  const cells = page.getByRole('option')
  const loaded = () => page.locator('.cell img').evaluateAll((all) => all.length > 0 && all.every((img) => (img as HTMLImageElement).complete))
  await expect(page.locator('#sample-0 img')).toBeVisible()
  await expect.poll(loaded).toBe(true)
  const screen = await cells.count()
  expect(screen).toBeLessThan(100)
  expect(lists.size).toBe(1)

  // Scrolling within a row changes nothing in the page: first to the top of the third row, then a part of its height.
  const scroll = (rows: number, watched: boolean) => page.evaluate(async ({ rows, watched }) => {
    const main = document.getElementById('main') as HTMLElement
    const gallery = document.querySelector('.gallery') as HTMLElement
    const height = (document.querySelector('.cell') as HTMLElement).offsetHeight + 8
    const top = gallery.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop
    let seen = 0
    const watch = new MutationObserver((records) => (seen += records.length))
    if (watched) watch.observe(gallery, { subtree: true, childList: true, attributes: true })
    main.scrollTop = Math.ceil(top + rows * height)
    for (let i = 0; i < 5; i += 1) await new Promise(requestAnimationFrame)
    watch.disconnect()
    return seen
  }, { rows, watched })
  await scroll(3.1, false)
  await expect(page.locator('#sample-50 img')).toBeVisible()
  await expect.poll(loaded).toBe(true)
  let changes = 0
  for (const rows of [3.2, 3.4, 3.6, 3.8]) changes += await scroll(rows, true)
  expect(changes).toBe(0)

  // A jump asks for the end, and for nothing on the way; elements are used again.
  await page.locator('.gallery').focus()
  await page.keyboard.press('End')
  const last = page.locator(`#sample-${many - 1}`)
  await expect(last).toBeInViewport()
  await expect(last).toHaveAttribute('aria-label', /^1499\.png/)
  await expect(last.locator('img')).toBeVisible()
  await expect.poll(loaded).toBe(true)
  expect(await cells.count()).toBeLessThanOrEqual(screen + 12)
  expect(lists.size).toBeLessThanOrEqual(4)
  expect(pictures.size).toBeLessThanOrEqual(3 * screen)

  // All the way back, page by page: nothing is asked for twice, and there are never more elements.
  const most = await page.evaluate(async () => {
    const main = document.getElementById('main') as HTMLElement
    let result = 0
    while (main.scrollTop > 0) {
      main.scrollTop -= main.clientHeight
      await new Promise(requestAnimationFrame)
      result = Math.max(result, document.querySelectorAll('.cell').length)
    }
    return result
  })
  await expect(page.locator('#sample-0')).toHaveAttribute('aria-label', /^0000\.png/)
  await expect(page.locator('#sample-0 img')).toBeVisible()
  expect(most).toBeLessThanOrEqual(screen + 12)
  expect(lists.size).toBeLessThanOrEqual(Math.ceil(many / 100) + 4)

  // What was never drawn is selected too: the pages in between are asked for.
  await page.reload()
  await expect(cells.first()).toBeVisible()
  await page.locator('.gallery').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Shift+End')
  await expect(page.getByText('1,500 selected')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByText('1,500 selected')).toBeHidden()

  // A count that is not known yet says that there are more; that of one state is counted on the server.
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?q=0`)
  await expect(page.getByRole('status').filter({ hasText: /^\d+\+ samples$/ })).toBeVisible()
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1?state=unannotated`)
  await expect(page.getByRole('status').filter({ hasText: '1,500 samples' })).toBeVisible()
})
