import { resolve } from 'node:path'
import { reaches } from './compute'
import { dialog, expect, signInAsAdmin, test } from './fixtures'
import { allFiles, modelFiles, modelSet, put } from './models'
import { png } from './pictures'

// As a new user would: a model, its structure, one click to a service, asking it, a canary, its share, the switch.
const root = resolve(__dirname, '../..')
const screens = resolve(root, 'test-results/screens')

test('from a model to a service with a canary', async ({ page, api, project }) => {
  test.setTimeout(300_000)
  const { set } = await modelSet(api, project, 'fruit', 'image_class', 2)
  await signInAsAdmin(page)

  await page.goto(`/p/${project.name}/model-sets/${set.id}/v/1?tab=model`)
  await expect(page.getByRole('heading', { name: 'Inputs' })).toBeVisible()
  await page.screenshot({ path: `${screens}/services-1-model.png` })
  const opened = page.waitForEvent('popup')
  await page.getByText('Open the structure in Netron').click()
  const netron = await opened
  await expect(netron.locator('svg').first()).toBeVisible({ timeout: 60_000 })
  await netron.close()

  await page.getByRole('button', { name: 'Deploy' }).click()
  await dialog(page).getByRole('button', { name: 'Deploy' }).click()
  const secret = (await dialog(page).locator('code').first().textContent()) ?? ''
  expect(secret).toMatch(/^ik_/)
  await dialog(page).getByRole('button', { name: 'I have copied it' }).click()
  await expect(page).toHaveURL(/\/services\/\d+$/)
  const id = Number(/\d+$/.exec(page.url())?.[0])
  const service = await reaches(api, `services/${id}`, ['serving'])
  await expect(page.getByText('Serving').first()).toBeVisible()
  await expect(page.getByRole('complementary', { name: 'Details' })).toContainText('Largest request')

  const ask = () => fetch(`${String(service['address'])}/predict`, { method: 'POST', body: png(64, 48, 1), headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'image/png' } })
  const answer = await ask()
  expect(answer.status, await answer.text()).toBe(200)
  expect(answer.headers.get('x-request-id')).toBeTruthy()

  // What it says of its address is what it takes.
  await expect(page.locator('.service-address')).toContainText('--data-binary @picture.jpg')
  await page.locator('.service-snippet-head').getByText('tritonclient').click()
  await expect(page.locator('.service-address')).toContainText('InferInput("x", [1,3,32,32], "FP32")')

  await page.getByRole('button', { name: 'Try it' }).click()
  await expect(page.getByText('Drop or paste a picture here.')).toBeVisible()
  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png(64, 48, 2) })
  await expect(page.locator('.try-labels li').first()).toBeVisible()
  await expect(page.locator('.try-json')).toContainText('times_ms')
  await page.screenshot({ path: `${screens}/services-2-try.png` })

  await page.goto(`/p/${project.name}/model-sets/${set.id}/v/2`)
  await page.getByRole('button', { name: 'Deploy' }).click()
  await expect(dialog(page).getByText('As canary: a share of the requests goes to it')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Deploy' }).click()
  await expect(page).toHaveURL(/\/services\/\d+$/)
  await expect(page.getByText('Canary', { exact: true }).first()).toBeVisible()
  await expect.poll(async () => (await api.get(`services/${id}`))['canary'], { timeout: 120_000 }).toBe('1/1')

  const share = page.getByRole('spinbutton', { name: "Canary's share" })
  await share.fill('50')
  await share.press('Enter')
  await expect.poll(async () => (await api.get(`services/${id}`))['share']).toBe(500)
  for (let i = 0; i < 20; i += 1) expect((await ask()).status).toBe(200)
  const traffic = async () => ((await api.get(`services/${id}/traffic`)) as { versions: { points: { requests: number }[] }[] }).versions.map((v) => v.points.reduce((sum, p) => sum + p.requests, 0))
  await expect.poll(async () => (await traffic()).filter((n) => n > 0).length, { timeout: 60_000 }).toBe(2)
  await page.screenshot({ path: `${screens}/services-3-canary.png` })

  await page.getByRole('button', { name: 'Switch canary and production' }).click()
  await dialog(page).getByRole('button').last().click()
  const versions = async () => ((await api.get(`services/${id}/versions`)) as { items: { name: string; role: string }[] }).items.find((v) => v.role === 'production')?.name
  await expect.poll(versions).toBe('v2')
  expect((await ask()).status).toBe(200)
  await page.goto(`/p/${project.name}/services/${id}?tab=events`)
  await expect(page.getByText('production', { exact: false }).first()).toBeVisible()
  await page.screenshot({ path: `${screens}/services-4-events.png` })
})

test('a model is described by fields and tried before that is saved', async ({ page, api, project }) => {
  const { onnx } = modelFiles('image_class')
  const set = await api.create('model-sets', { project: project.id, name: 'shapes' })
  const version = await api.create(`model-sets/${set.id}/versions`, {})
  const path = `model-sets/${set.id}/versions/${version.id}`
  await put(api, path, 'model.onnx', onnx)
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/model-sets/${set.id}/v/1?tab=try`)
  await page.getByRole('link', { name: 'Describe it first' }).click()

  // The proposal fits; a wrong field is told beside it, and mended.
  const status = page.locator('.manifest-foot [role=status]')
  await expect(status).toHaveText('This fits the model.')
  const size = page.getByLabel('Width, height')
  const right = await size.inputValue()
  await size.fill('5')
  await expect(page.locator('.field', { has: size }).getByRole('alert')).toContainText('size')
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled()
  await size.fill(right)
  await expect(status).toHaveText('This fits the model.')
  const labels = page.getByLabel('Labels')
  const count = (await labels.inputValue()).split('\n').length
  await labels.fill(Array.from({ length: count }, (_, i) => `form ${i}`).join('\n'))

  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png(64, 48, 3) })
  await expect(page.locator('.try-labels li').first()).toContainText('form', { timeout: 120_000 })
  await page.screenshot({ path: `${screens}/services-5-manifest.png`, fullPage: true })
  await page.getByRole('button', { name: 'Save' }).click()
  // The form says what kind of model it is, too: it goes when that is saved.
  await expect(page.locator('.manifest-form')).toHaveCount(0)
  await expect(page.locator('.model-card')).toContainText('Image: one class')
  const saved = (await api.get(`${path}/manifest`)) as { manifest: { labels: string[] } }
  expect(saved.manifest.labels[0]).toBe('form 0')

  await page.getByRole('link', { name: 'Try it' }).click()
  await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png(64, 48, 4) })
  await expect(page.locator('.try-labels li').first()).toContainText('form', { timeout: 120_000 })
  await page.screenshot({ path: `${screens}/services-6-try-version.png` })
  await api.context.delete(`/api/v1/${path}`, { headers: { 'If-Match': '*' } })
})

test('the files of a version are proposed together as parts of one model', async ({ page, api, project }) => {
  const set = await api.create('model-sets', { project: project.id, name: 'reader' })
  const version = await api.create(`model-sets/${set.id}/versions`, {})
  const path = `model-sets/${set.id}/versions/${version.id}`
  for (const [name, data] of Object.entries(allFiles('ocr'))) if (name !== 'ingot-model.json') await put(api, path, name, data)
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/model-sets/${set.id}/v/1?tab=model`)
  const status = page.locator('.manifest-foot [role=status]')
  await expect(status).toHaveText('This fits the model.')
  const parts = page.locator('.manifest-part')
  await expect(parts).toHaveCount(3)
  await expect(page.getByLabel('Name', { exact: true }).nth(2)).toHaveValue('recogniser')

  // A part that was taken out and added again knows its name and size by its graph.
  await parts.nth(2).getByRole('button', { name: 'Remove' }).click()
  await expect(parts).toHaveCount(2)
  await expect(status).toContainText('ocr is read from')
  await page.getByRole('button', { name: 'Add a file' }).click()
  await expect(page.getByLabel('Width, height').nth(2)).toHaveValue('0, 16')
  await page.getByRole('button', { name: 'Add an output' }).click()
  await page.locator('.field', { has: page.getByLabel('File of characters') }).getByRole('combobox').fill('keys.txt')
  await page.keyboard.press('Enter')
  await expect(status).toHaveText('This fits the model.')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.locator('.manifest-form')).toHaveCount(0)
  await expect.poll(async () => ((await api.get(`${path}/manifest`)) as { manifest: { parts: { file: string }[] } | null }).manifest?.parts.map((p) => p.file)).toEqual(['detector.onnx', 'classifier.onnx', 'recogniser.onnx'])
})
