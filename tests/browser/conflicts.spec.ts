import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { draw, objects, pictures, samples, saved, shown, type Shape } from './bench'
import { expect, signInAsAdmin, test } from './fixtures'

const folder = resolve(__dirname, '../../test-results/screens')

const away = async (page: Page) => {
  await page.context().setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
}

test('a stroke that cannot be applied stands beside what another made, and one of them is chosen', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 1)
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1/label`)
  await shown(page)
  const shapes = async () => (await samples(api, set, version))[0]?.annotation.shapes ?? []
  const sample = (await samples(api, set, version))[0]?.id
  let number = 0
  const elsewhere = async (operation: object) => {
    number += 1
    const answer = await api.context.post(`/api/v1/datasets/${set.id}/versions/${version.id}/operations`, { data: { operations: [{ sample, id: `elsewhere.${number}`, ...operation }] } })
    expect(((await answer.json()) as { results: { state: string }[] }).results[0]?.state).toBe('applied')
  }
  const choice = page.getByRole('dialog', { name: 'Choose what is to stand' })
  const side = (name: string) => choice.getByRole('figure', { name })
  const open = async () => {
    await page.getByRole('button', { name: '1 change was not applied' }).click()
    await expect(choice).toContainText('Somebody else changed the same thing meanwhile.')
  }
  const close = async () => {
    await expect(choice.getByText('Saved', { exact: true })).toBeVisible()
    await choice.getByRole('button', { name: 'Close' }).click()
    await expect(choice).toBeHidden()
    await expect(page.getByRole('button', { name: /not applied/ })).toHaveCount(0)
  }
  const back = () => page.context().setOffline(false)
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect.poll(async () => (await shapes()).length).toBe(1)
  const first = (await shapes())[0] as Shape

  // Both moved it: theirs is left.
  await away(page)
  await page.keyboard.press('v')
  await draw(page, [0.37, 0.4], [0.6, 0.6])
  await expect(page.getByText('Offline: 1 change kept')).toBeVisible()
  await elsewhere({ op: 'put', shape: { ...first, x: 5, y: 5 } })
  await back()
  await open()
  const xOf = async (name: string) => Number(await side(name).locator('svg rect').getAttribute('x'))
  await expect.poll(() => xOf('On the server')).toBe(5)
  expect(await xOf('Mine')).toBeGreaterThan(first.x)
  await expect(side('Mine').locator('img')).toBeVisible()
  await page.screenshot({ path: `${folder}/en-light-conflict.png` })
  await choice.getByRole('button', { name: 'Leave the other' }).click()
  await close()
  await expect(objects(page)).toHaveCount(1)
  expect((await shapes()).map((s) => s.x)).toEqual([5])

  // Moved here, removed there: it is nowhere until it is chosen, outlives a reload, and comes back by choice.
  await page.keyboard.press('Control+a')
  await away(page)
  await page.keyboard.press('Shift+ArrowRight')
  await expect(page.getByText('Offline: 1 change kept')).toBeVisible()
  await elsewhere({ op: 'remove', shape: first.id })
  await back()
  await expect(page.getByRole('button', { name: '1 change was not applied' })).toBeVisible()
  await expect(objects(page)).toHaveCount(0)
  await page.reload()
  await shown(page)
  await open()
  await expect(side('On the server')).toContainText('nothing')
  await expect(side('Mine').locator('svg rect')).toBeVisible()
  await choice.getByRole('button', { name: 'Use mine' }).click()
  await close()
  await expect(objects(page)).toHaveCount(1)
  await expect.poll(async () => (await shapes()).map((s) => s.x)).toEqual([15])

  // Removed here, called otherwise there: mine is to stand.
  await page.keyboard.press('v')
  await page.keyboard.press('Control+a')
  await away(page)
  await page.keyboard.press('Delete')
  await expect(objects(page)).toHaveCount(0)
  await expect(page.getByText('Offline: 1 change kept')).toBeVisible()
  await elsewhere({ op: 'put', shape: { ...first, x: 15, label: 'dog' } })
  await back()
  await open()
  await expect(side('Mine')).toContainText('removed')
  await expect(side('On the server')).toContainText('dog')
  await page.evaluate(() => {
    localStorage.setItem('ingot.language', 'zh')
    localStorage.setItem('ingot.theme', 'dark')
  })
  await page.reload()
  await page.getByRole('button', { name: '1 项更改未能应用' }).click()
  await expect(page.getByRole('dialog', { name: '选择要保留的版本' }).locator('svg rect')).toBeVisible()
  await page.screenshot({ path: `${folder}/zh-dark-conflict.png` })
  await page.getByRole('button', { name: '使用我的' }).click()
  await expect.poll(async () => (await shapes()).length).toBe(0)
  await expect(page.getByText('已保存').first()).toBeVisible()
})

test('several that were not applied are chosen at once', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 1)
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1/label`)
  await shown(page)
  const shapes = async () => (await samples(api, set, version))[0]?.annotation.shapes ?? []
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.4, 0.4])
  await draw(page, [0.5, 0.3], [0.6, 0.4])
  await expect.poll(async () => (await shapes()).length).toBe(2)
  await expect(saved(page)).toBeVisible()
  await page.keyboard.press('v')
  await page.keyboard.press('Control+a')
  await away(page)
  await page.keyboard.press('Shift+ArrowDown')
  await expect(page.getByText('Offline: 2 changes kept')).toBeVisible()
  const sample = (await samples(api, set, version))[0]?.id
  const before = await shapes()
  const operations = before.map((shape, i) => ({ sample, id: `elsewhere.${i + 1}`, op: 'put', shape: { ...shape, label: 'dog' } }))
  const answer = await api.context.post(`/api/v1/datasets/${set.id}/versions/${version.id}/operations`, { data: { operations } })
  expect(((await answer.json()) as { results: { state: string }[] }).results.map((r) => r.state)).toEqual(['applied', 'applied'])
  await page.context().setOffline(false)
  await page.getByRole('button', { name: '2 changes were not applied' }).click()
  await page.getByRole('button', { name: 'Use all 2 of mine' }).click()
  await expect.poll(async () => (await shapes()).map((s) => [s.label, Math.round(s.y)])).toEqual(before.map((s) => ['cat', Math.round(s.y + 10)]))
  await expect(objects(page)).toHaveCount(2)
})
