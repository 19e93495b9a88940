import type { Locator } from '@playwright/test'
import { pickSpec, smallSpec } from './compute'
import { dialog, expect, option, signInAsAdmin, test } from './fixtures'

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
  await expect(page.getByRole('heading', { name: 'free' })).toBeVisible()
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
  await expect(page.getByRole('heading', { name: 'once' })).toBeVisible()
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

/** Pastes a text into a field. */
function paste(into: Locator, text: string): Promise<void> {
  return into.evaluate((node, value) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', value)
    node.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)
}

test('a form in parts: what few need is folded, variables are pasted, paths inserted, the forecast stands beside', async ({ page, api, project }) => {
  const spec = await smallSpec(api)
  const set = await api.create('datasets', { project: project.id, name: 'streets', annotation_type: 'detection' })
  await api.create(`datasets/${set.id}/versions`, {})
  await signInAsAdmin(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`/p/${project.name}/jobs?new=1`)
  const form = dialog(page)
  await expect(form.getByRole('group', { name: 'What', exact: true }).getByRole('textbox', { name: /^Name/ })).toBeVisible()
  await expect(form.getByRole('group', { name: 'Where it runs' }).getByRole('combobox', { name: 'Compute spec' })).toBeVisible()
  await expect(form.getByRole('textbox', { name: 'Priority' })).toBeHidden()
  await form.getByText('More', { exact: true }).click()
  await form.getByRole('textbox', { name: 'Priority' }).fill('1000')
  await expect(form.getByText('At most 100.')).toBeVisible()
  await form.getByRole('textbox', { name: 'Priority' }).fill('7')
  await form.getByText('More', { exact: true }).click()
  await expect(form.getByRole('textbox', { name: 'Priority' })).toBeHidden()

  await form.getByRole('textbox', { name: /^Name/ }).fill('in parts')
  const command = form.getByRole('textbox', { name: /^Command/ })
  await command.fill('set -e\nls ')
  await form.getByRole('combobox', { name: 'Dataset' }).click()
  await option(page, 'streets').click()
  await command.press('End')
  await form.getByRole('button', { name: 'Insert /workspace/dataset' }).click()
  await expect(command).toHaveValue('set -e\nls /workspace/dataset')
  await form.getByRole('button', { name: 'Add variable' }).click()
  await paste(form.getByRole('textbox', { name: 'Name of variable 1' }), '# usual\nexport EPOCHS=3\nNAME="two words"')
  await expect(form.getByRole('textbox', { name: 'Value of NAME' })).toHaveValue('two words')
  await form.getByRole('textbox', { name: 'Value of EPOCHS' }).fill('4')
  await pickSpec(page, spec)

  const aside = form.getByRole('complementary', { name: 'What this takes' })
  await expect(aside.locator('.forecast')).toContainText('0.2')
  const beside = async () => {
    const [one, other] = [await aside.boundingBox(), await command.boundingBox()]
    return one !== null && other !== null && one.x > other.x + other.width
  }
  expect(await beside()).toBe(true)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(beside).toBe(false)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('heading', { name: 'in parts' })).toBeVisible()
  const { items } = (await api.get(`jobs?project=${project.id}`)) as { items: { id: number; priority: number; env: object; command: string }[] }
  expect(items[0]).toMatchObject({ priority: 7, env: { EPOCHS: '4', NAME: 'two words' }, command: 'set -e\nls /workspace/dataset' })
  await api.context.post(`/api/v1/jobs/${items[0]?.id ?? 0}/stop`, { data: {} })
})

test('the rules of a canary are fields, and what is emptied is gone', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/services?new=1`)
  const form = dialog(page)
  await form.getByRole('textbox', { name: /^Name/ }).fill('ruled')
  const failures = form.getByRole('textbox', { name: 'More failures by at most' })
  await failures.fill('2')
  await expect(form.getByText('More failures by at most: At most 1.')).toBeVisible()
  await failures.fill('0.02')
  await expect(form.getByText('More failures by at most: At most 1.')).toBeHidden()
  await form.getByRole('textbox', { name: 'Not before so many requests' }).fill('50')
  await form.getByRole('combobox', { name: 'When it breaks one' }).click()
  await option(page, 'Retire it').click()
  await form.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByRole('heading', { name: 'ruled' })).toBeVisible()
  const { items } = (await api.get(`services?project=${project.id}`)) as { items: { id: number; rules: object }[] }
  expect(items[0]?.rules).toEqual({ error_rate: 0.02, min_requests: 50, action: 'rollback' })

  await page.goto(`/p/${project.name}/services/${items[0]?.id ?? 0}?tab=overview`)
  await expect(page.getByRole('main')).toContainText('Retire it')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit', exact: true }).click()
  await failures.fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await expect(form).toBeHidden()
  expect((await api.get(`services/${items[0]?.id ?? 0}`))['rules']).toEqual({ min_requests: 50, action: 'rollback' })
})
