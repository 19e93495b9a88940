import { dialog, expect, signInAsAdmin, test } from './fixtures'

test('rules as one types, the server beside the field, Ctrl+Enter', async ({ page, api, project }) => {
  await api.create('label-sets', { project: project.id, name: 'taken' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets`)
  await expect(page.getByRole('link', { name: 'taken' })).toBeVisible()
  await page.keyboard.press('c')
  await expect(dialog(page).getByRole('textbox', { name: /^Name/ })).toBeFocused()
  const name = dialog(page).getByRole('textbox', { name: /^Name/ })
  await name.fill('a/b')
  await expect(dialog(page).getByText('Names cannot contain /.')).toBeVisible()
  await expect(name).toHaveAttribute('aria-invalid', 'true')
  await name.fill('x'.repeat(51))
  await expect(dialog(page).getByText('At most 50 characters; this has 51.')).toBeVisible()
  await name.fill('taken')
  await page.keyboard.press('Control+Enter')
  await expect(dialog(page).getByText('This is already taken.')).toBeVisible()
  await name.fill('free')
  await page.keyboard.press('Control+Enter')
  await expect(dialog(page)).toBeHidden()
  await expect(page.getByRole('link', { name: 'free' })).toBeVisible()
})

test('a refusal is answered at once, however late timers are', async ({ page, api, project }) => {
  // On a busy machine they run after the keys that are pressed meanwhile.
  await page.addInitScript(() => {
    const real = window.setTimeout.bind(window)
    window.setTimeout = ((run: () => void, after = 0) => real(run, after + 1000)) as typeof window.setTimeout
  })
  await api.create('label-sets', { project: project.id, name: 'taken' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets?new=1`)
  const name = dialog(page).getByRole('textbox', { name: /^Name/ })
  for (const refused of ['taken', 'a/b']) {
    await name.fill(refused)
    await page.keyboard.press('Control+Enter')
    await expect(name).toHaveAttribute('aria-invalid', 'true')
  }
  await name.fill('free')
  await page.keyboard.press('Control+Enter')
  await expect(dialog(page)).toBeHidden()
  await expect(page.getByRole('link', { name: 'free' })).toBeVisible()
})

test('leaving with unsaved input asks', async ({ page, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await page.getByRole('link', { name: 'Label sets', exact: true }).click()
  await page.getByRole('button', { name: 'New label set' }).first().click()
  const form = page.getByRole('dialog', { name: 'New label set' })
  const asked = page.getByRole('dialog', { name: 'Leave without saving?' })
  await form.getByRole('textbox', { name: /^Name/ }).fill('half done')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await asked.getByRole('button', { name: 'Stay' }).click()
  await expect(asked).toBeHidden()
  await expect(form.getByRole('textbox', { name: /^Name/ })).toHaveValue('half done')
  await page.evaluate(() => window.history.back())
  await asked.getByRole('button', { name: 'Stay' }).click()
  await expect(asked).toBeHidden()
  await expect(page).toHaveURL(/label-sets/)
  await expect(form.getByRole('textbox', { name: /^Name/ })).toHaveValue('half done')
  await form.getByRole('button', { name: 'Cancel' }).click()
  await asked.getByRole('button', { name: 'Leave', exact: true }).click()
  await expect(form).toBeHidden()
})

test('two people edit one object: fields are combined, conflicts decided', async ({ page, api, project }) => {
  const made = await api.create('label-sets', { project: project.id, name: 'shared', description: 'old' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/label-sets/${made.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: 'Edit shared' })
  await form.getByRole('textbox', { name: 'Description' }).fill('mine')
  await api.patch(`label-sets/${made.id}`, { description: 'theirs', public: true })
  await form.getByRole('button', { name: 'Save' }).click()
  const merge = page.getByRole('dialog', { name: 'Changed by someone else meanwhile' })
  await expect(merge).toContainText('Taken from them: Public')
  await expect(merge.getByRole('group', { name: 'Description' })).toContainText('theirs')
  await merge.getByRole('button', { name: 'Save the combination' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  const after = await api.get(`label-sets/${made.id}`)
  expect(after).toMatchObject({ description: 'mine', public: true })

  await page.getByRole('button', { name: 'Edit' }).click()
  await form.getByRole('textbox', { name: 'Description' }).fill('mine again')
  await api.patch(`label-sets/${made.id}`, { description: 'theirs again' })
  await form.getByRole('button', { name: 'Save' }).click()
  await merge.getByRole('button', { name: 'Discard mine and reload' }).click()
  await expect(form.getByRole('textbox', { name: 'Description' })).toHaveValue('theirs again')
})

test('a form that is submitted twice at once is sent once', async ({ page, project }) => {
  await signInAsAdmin(page)
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/v1/label-sets')) sent += 1
  })
  await page.goto(`/p/${project.name}/label-sets?new=1`)
  await dialog(page).getByRole('textbox', { name: /^Name/ }).fill('once')
  await dialog(page).getByRole('button', { name: 'Create' }).evaluate((button: HTMLElement) => {
    button.click()
    button.click()
  })
  await expect(dialog(page)).toBeHidden()
  await expect(page.getByRole('link', { name: 'once' })).toBeVisible()
  expect(sent).toBe(1)
})

test('a refresh that fails takes neither the page away nor what was typed', async ({ page, api, project }) => {
  const made = await api.create('label-sets', { project: project.id, name: 'kept' })
  await signInAsAdmin(page)
  const streaming = page.waitForResponse((r) => r.url().includes('/api/v1/events') && r.status() === 200)
  await page.goto(`/p/${project.name}/label-sets/${made.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByRole('textbox', { name: 'Description' }).fill('half done')
  await streaming
  const address = `**/api/v1/label-sets/${made.id}`
  const failed = page.waitForResponse((r) => r.url().endsWith(`/label-sets/${made.id}`) && r.status() === 500)
  await page.route(address, (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"internal","status":500,"title":"x","detail":"no"}' }))
  await api.patch(`label-sets/${made.id}`, { public: true })
  await failed
  await page.unroute(address)
  await api.patch(`label-sets/${made.id}`, { public: false })
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay' }).click()
  await expect(dialog(page).getByRole('textbox', { name: 'Description' })).toHaveValue('half done')
})
