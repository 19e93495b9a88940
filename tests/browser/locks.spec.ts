import { draw, objects, pictures, samples, saved, shown } from './bench'
import { expect, signInAsAdmin, test } from './fixtures'

// What is locked stays as it is, whatever is tried: by pointer, key, list and label.
test('what is locked is neither moved, deleted nor called otherwise, until it is unlocked', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const { set, version } = await pictures(page, api, project, 1)
  await page.goto(`/p/${project.name}/datasets/${set.id}/v/1/label`)
  await shown(page)
  const there = async () => (await samples(api, set, version))[0]?.annotation.shapes ?? []
  const said = page.locator('.bench-foot').getByText('Locked: unlock it first')
  const line = (name: string) => objects(page).filter({ hasText: name })
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await page.keyboard.press('Escape')
  await page.keyboard.press('2')
  await draw(page, [0.6, 0.3], [0.7, 0.5])
  await expect(objects(page)).toHaveCount(2)
  await expect.poll(async () => (await there()).length).toBe(2)
  const before = await there()

  // The cat by itself.
  await page.keyboard.press('v')
  await line('cat').getByRole('button').first().click()
  await page.keyboard.press('l')
  await expect(line('cat').getByRole('button', { name: 'Unlock: cat' })).toHaveAttribute('aria-pressed', 'true')
  await expect(line('cat').getByRole('button', { name: 'Delete: cat' })).toBeDisabled()
  await expect(page.getByRole('checkbox', { name: 'Occluded' })).toBeDisabled()
  await page.keyboard.press('Delete')
  await expect(said).toBeVisible()
  await line('cat').getByRole('button').first().blur()
  for (const key of ['Delete', 'ArrowRight', '2', 'Shift+O', ']']) await page.keyboard.press(key)
  // A drag over it takes hold of nothing; the band that it draws leaves it out.
  await draw(page, [0.37, 0.4], [0.5, 0.6])
  await expect(objects(page).and(page.locator('.selected'))).toHaveCount(0)
  await page.keyboard.press('Control+a')
  await expect(objects(page).and(page.locator('.selected'))).toHaveText(/dog/)

  // The dogs by their label: the line says so, and has nothing to unlock one by.
  const label = page.getByRole('region', { name: 'Labels' })
  await label.getByRole('button', { name: 'Lock: dog' }).click({ force: true })
  await expect(line('dog').getByRole('button', { name: 'Unlock: dog' })).toBeDisabled()
  await expect(line('dog').getByRole('button', { name: 'Unlock: dog' })).toHaveAttribute('title', 'With its label')
  await draw(page, [0.65, 0.4], [0.8, 0.6])
  await page.keyboard.press('Delete')
  await expect(objects(page)).toHaveCount(2)
  // What is drawn is not hindered, and comes after all that was tried.
  await page.keyboard.press('b')
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.6], [0.4, 0.75])
  await expect.poll(async () => (await there()).length).toBe(3)
  expect((await there()).slice(0, 2)).toEqual(before)

  // Unlocked, it is like any other, and what was done to it is taken back.
  await label.getByRole('button', { name: 'Unlock: dog' }).click()
  await page.keyboard.press('v')
  await line('dog').getByRole('button').first().click()
  await page.keyboard.press('Delete')
  await expect(line('dog')).toHaveCount(0)
  await page.keyboard.press('Shift+U')
  await line('cat').last().getByRole('button').first().click()
  await page.keyboard.press('Delete')
  await expect(objects(page)).toHaveCount(1)
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await expect(objects(page)).toHaveCount(3)
  await expect(saved(page)).toBeVisible()
  await expect.poll(async () => (await there()).slice(0, 2)).toEqual(before)
})
