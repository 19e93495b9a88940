import { dialog, expect, signInAsAdmin, test } from './fixtures'

test('the label editor: two levels, colours, keys, order, duplicates', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets?new=1`)
  const form = dialog(page).first()
  await form.getByRole('textbox', { name: 'Name *' }).fill('animals')
  await form.getByRole('button', { name: 'Add label' }).click()
  await expect(form.getByLabel('Name of label 1', { exact: true })).toBeFocused()
  await page.keyboard.type('cat')
  await form.getByLabel('Shortcut of cat').fill('c')
  // Enter in a name adds the next one.
  await form.getByLabel('Name of label 1', { exact: true }).press('Enter')
  await expect(form.getByLabel('Name of label 2', { exact: true })).toBeFocused()
  await page.keyboard.type('cat')
  await expect(form.getByText('There is another label of this name.').first()).toBeVisible()
  await form.getByLabel('Name of label 2', { exact: true }).fill('dog')
  await form.getByLabel('Shortcut of dog').fill('c')
  await expect(form.getByText('This key is used by “cat”.').first()).toBeVisible()
  await form.getByRole('button', { name: 'Create' }).click()
  await expect(form).toBeVisible()
  await form.getByLabel('Shortcut of dog').fill('d')
  await form.getByRole('button', { name: 'Add a sub-label to dog' }).click()
  await expect(form.getByLabel('Name of label 2.1')).toBeFocused()
  await page.keyboard.type('poodle')
  await form.getByRole('button', { name: /^Colour of poodle/ }).click()
  await page.getByRole('button', { name: 'Colour #3e63dd' }).click()
  await form.getByLabel('Name of label 2', { exact: true }).press('Alt+ArrowUp')
  await expect(form.getByLabel('Name of label 1', { exact: true })).toHaveValue('dog')
  await form.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByRole('link', { name: 'animals' })).toBeVisible()

  const list = (await api.get(`label-sets?project=${project.id}`)) as { items: { id: number; labels: unknown }[] }
  expect(list.items[0]?.labels).toMatchObject([
    { name: 'dog', key: 'd', children: [{ name: 'poodle', color: '#3e63dd' }] },
    { name: 'cat', key: 'c' },
  ])
  await page.getByRole('link', { name: 'animals' }).click()
  await expect(page.getByRole('heading', { name: 'animals' })).toBeVisible()
  await expect(page.getByText('poodle')).toBeVisible()
  await page.getByRole('link', { name: 'Activity' }).click()
  await expect(page.getByRole('cell', { name: 'created' })).toBeVisible()
})

test('labels are reordered by dragging', async ({ page, api, project }) => {
  const made = await api.create('label-sets', { project: project.id, name: 'order', labels: ['a', 'b', 'c'].map((name) => ({ name, color: '#46a758' })) })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets/${made.id}`)
  await expect(page.getByRole('heading', { name: 'order' })).toBeVisible()
  await page.keyboard.press('e')
  const form = dialog(page)
  await expect(form.getByLabel('Name of label 3')).toHaveValue('c')
  await form.locator('[data-path="2"] .drag').dragTo(form.locator('[data-path="0"]'))
  await expect(form.getByLabel('Name of label 1')).toHaveValue('c')
  await form.getByRole('button', { name: 'Remove b' }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(form).toBeHidden()
  const after = (await api.get(`label-sets/${made.id}`)) as { labels: { name: string }[] }
  expect(after.labels.map((l) => l.name)).toEqual(['c', 'a'])
})
