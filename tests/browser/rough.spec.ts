import { draw, objects, pictures, samples, saved, shown, type Data } from './bench'
import { Api, dialog, expect, member, signInAs, signInAsAdmin, test, type Made } from './fixtures'
import { png, zip } from './pictures'

// What nobody hopes for: files that would run, a browser without room, one person in two tabs, a text without end.

const address = (project: Made, { set }: Data) => `/p/${project.name}/datasets/${set.id}/v/1/label`

test('files that hold a program show what they are, and run nothing', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  let ran = false
  page.on('dialog', (dialog) => {
    ran = true
    void dialog.dismiss()
  })
  await page.exposeFunction('pwned', () => {
    ran = true
  })
  const script = '<!doctype html><svg xmlns="http://www.w3.org/2000/svg" onload="pwned()"/><img src=x onerror="pwned()"><script>pwned();alert(1)</script>'
  const labels = await api.create('label-sets', { project: project.id, name: 'moods', labels: [{ name: 'good', color: '#46a758' }] })
  const text = { set: await api.create('datasets', { project: project.id, name: 'texts', annotation_type: 'text-class', data_type: 'text', label_set: labels.id }), version: null as unknown as Made }
  text.version = await api.create(`datasets/${text.set.id}/versions`, {})
  const long = `${script}\n${'Line after line. 👩‍👩‍👧‍👦 न्ग\n'.repeat(130_000)}The cafe\u0301 at the end. 🏁`
  expect(Buffer.byteLength(long)).toBeGreaterThan(5_000_000)
  await page.goto(`/p/${project.name}/datasets/${text.set.id}/v/1?tab=import`)
  await page.getByTestId('import-files').setInputFiles([{ name: 'texts.zip', mimeType: 'application/zip', buffer: zip({ 'long.txt': Buffer.from(long) }) }])
  await page.getByRole('button', { name: 'Start import' }).click()
  await expect(page.locator('.running .task-done')).toBeVisible()
  await page.goto(address(project, text))
  await expect(page.locator('.reading-pane')).toContainText('onload="pwned()"')
  await page.getByLabel('Find in the text').fill('café')
  await expect(page.locator('mark.current')).toHaveText('cafe\u0301')
  await page.keyboard.press('Escape')
  await page.keyboard.press('1')
  await expect(page.locator('.chosen')).toContainText('good')
  await expect(saved(page)).toBeVisible()

  // A picture that is a page as well: by its address, too, it is no page of ours.
  const both = await pictures(page, api, project, 1, { files: { 'both.png': Buffer.concat([png(64, 48, 1), Buffer.from(script)]) } })
  await page.goto(address(project, both))
  await shown(page)
  const source = (await page.locator('.bench-canvas [data-src]').getAttribute('data-src')) ?? ''
  const answer = await page.goto(source)
  expect(answer?.headers()).toMatchObject({ 'content-type': 'image/png', 'x-content-type-options': 'nosniff', 'content-security-policy': expect.stringContaining('sandbox') as string })
  const [sample] = await samples(api, text.set, text.version)
  const plain = await page.request.get(`/api/v1/datasets/${text.set.id}/versions/${text.version.id}/samples/${sample?.id}/content`)
  expect(plain.headers()).toMatchObject({ 'content-type': expect.stringContaining('text/plain') as string, 'x-content-type-options': 'nosniff', 'content-security-policy': expect.stringContaining('sandbox') as string })
  expect(ran).toBe(false)
})

test('two tabs of one person, one of them in a browser without room', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  const url = address(project, data)
  await page.goto(url)
  await shown(page)
  const second = await page.context().newPage()
  await second.goto(url)
  await shown(second)
  await page.bringToFront()
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.4, 0.4])
  await second.bringToFront()
  await second.keyboard.press('2')
  await draw(second, [0.6, 0.6], [0.7, 0.7])
  await expect(objects(second)).toHaveCount(2)
  await page.bringToFront()
  await expect(objects(page)).toHaveCount(2)
  // Each undoes its own.
  await page.keyboard.press('Control+z')
  await expect(objects(second)).toHaveCount(1)
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.label)).toEqual(['dog'])
  await second.close()

  // Nothing can be kept: that is said, and the work goes on while there is a network.
  const context = await browser.newContext({ baseURL: process.env['INGOT_URL'] as string, locale: 'en-GB' })
  const full = await context.newPage()
  await full.addInitScript(() => {
    const refuse = () => {
      throw new DOMException('no room', 'QuotaExceededError')
    }
    IDBObjectStore.prototype.add = refuse
    IDBObjectStore.prototype.put = refuse
  })
  await signInAsAdmin(full)
  await full.goto(url)
  await shown(full)
  await full.keyboard.press('1')
  await draw(full, [0.3, 0.6], [0.4, 0.7])
  await expect(full.getByRole('alert').filter({ hasText: 'no room to keep changes' })).toBeVisible()
  await expect(saved(full)).toBeVisible()
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.label)).toEqual(['dog', 'cat'])
  await context.close()
})

test('a clock that jumps changes neither the order of changes nor what is kept', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  const url = address(project, data)
  const own = await page.context().newPage()
  await own.goto(url)
  await shown(own)
  await expect(saved(own)).toBeVisible()
  await own.context().setOffline(true)
  await own.evaluate(() => window.dispatchEvent(new Event('offline')))
  await own.keyboard.press('1')
  const day = 86_400_000
  for (const [i, jump] of [0, -day, 400 * day, -4000 * day].entries()) {
    await own.evaluate((by) => {
      const real = performance.timeOrigin
      Date.now = () => Math.round(real + performance.now()) + by
    }, jump)
    await draw(own, [0.3, 0.1 + i * 0.2], [0.4, 0.2 + i * 0.2])
  }
  await own.keyboard.press('Delete')
  await expect(own.getByText('Offline: 5 changes kept')).toBeVisible()
  await own.close()
  await page.context().setOffline(false)
  await page.goto(url)
  await shown(page)
  await expect(objects(page)).toHaveCount(3)
  await expect(saved(page)).toBeVisible()
  const ys = (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.y) ?? []
  expect(ys).toHaveLength(3)
  expect(ys).toEqual(ys.toSorted((a, b) => a - b))
})

test('a project without room: what was drawn is kept, it is said why, and it goes when there is room', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  await page.goto(address(project, data))
  await shown(page)
  await api.patch(`projects/${project.id}`, { quota: { storage: 1 } })
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  const undone = page.getByRole('button', { name: '1 change was not applied' })
  await undone.click()
  await expect(page.getByRole('dialog')).toContainText('the project may store 1 bytes')
  await page.reload()
  await shown(page)
  await expect(objects(page)).toHaveCount(0)
  await api.patch(`projects/${project.id}`, { quota: { storage: 1_000_000_000 } })
  await undone.click()
  await page.getByRole('button', { name: 'Send again' }).click()
  await expect(objects(page)).toHaveCount(1)
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.length).toBe(1)
})

test('a label that somebody renames is called so at once, and in what is drawn next', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  await page.goto(address(project, data))
  await shown(page)
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect(objects(page)).toHaveText(['cat'])
  await expect(saved(page)).toBeVisible()
  const { label_set: labels } = (await api.get(`datasets/${data.set.id}`)) as unknown as { label_set: { id: number } }
  const renamed = await api.context.post(`/api/v1/label-sets/${labels.id}/rename-label`, { data: { from: 'cat', to: 'tomcat' } })
  expect(renamed.status(), await renamed.text()).toBe(202)
  await expect(objects(page)).toHaveText(['tomcat'])
  await expect(page.locator('.bench-label[data-chosen="true"]')).toContainText('tomcat')
  await draw(page, [0.5, 0.3], [0.6, 0.5])
  await expect(objects(page)).toHaveText(['tomcat', 'tomcat'])
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.label)).toEqual(['tomcat', 'tomcat'])
})

test('work on a version that was published meanwhile goes to a new draft', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2)
  await page.goto(address(project, data))
  await shown(page)
  await expect(saved(page)).toBeVisible()
  await page.context().setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect(page.getByText('Offline: 1 change kept')).toBeVisible()
  const published = await api.context.post(`/api/v1/datasets/${data.set.id}/versions/${data.version.id}/publish`, { data: {} })
  expect(published.ok(), await published.text()).toBe(true)
  await page.context().setOffline(false)
  await page.getByRole('button', { name: '1 change was not applied' }).click()
  await expect(page.getByRole('dialog')).toContainText('The version was published meanwhile.')
  await page.getByRole('button', { name: 'Make a new draft and send them there' }).click()
  await expect.poll(async () => {
    const { items } = (await api.get(`datasets/${data.set.id}/versions`)) as { items: Made[] }
    const draft = items.find((v) => v.id !== data.version.id)
    return draft ? (await samples(api, data.set, draft)).map((s) => s.annotation.shapes?.length ?? 0) : []
  }).toEqual([1, 0])
  await expect(page.getByRole('button', { name: /not applied/ })).toHaveCount(0)
})

test('a session that ends under the hand: one signs in above the picture, and the stroke is saved', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  const { user, password } = await member(api, project, 'member')
  await page.context().clearCookies()
  await signInAs(page, user.name, password)
  await page.goto(address(project, data))
  await shown(page)
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect(saved(page)).toBeVisible()
  await page.context().setOffline(true)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  await draw(page, [0.6, 0.3], [0.7, 0.5])
  await expect(page.getByText('Offline: 1 change kept')).toBeVisible()
  const other = await Api.signIn(user.name, password)
  const { items } = (await other.get('sessions')) as { items: (Made & { current: boolean })[] }
  for (const session of items) if (!session.current) expect((await other.context.delete(`/api/v1/sessions/${session.id}`)).status()).toBe(204)
  await other.context.dispose()
  await page.context().setOffline(false)
  const again = page.locator('.sign-in-again')
  await again.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await expect(again).toHaveCount(0)
  await expect(saved(page)).toBeVisible()
  await expect(objects(page)).toHaveCount(2)
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.length).toBe(2)
})

test('whoever signs out is told what was not sent; it waits for them, and is nobody else\'s', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1)
  const [one, two] = [await member(api, project, 'member'), await member(api, project, 'member')]
  const undone = page.getByRole('button', { name: '1 change was not applied' })
  const begin = async ({ user, password }: typeof one) => {
    await page.context().clearCookies()
    await signInAs(page, user.name, password)
    await page.goto(address(project, data))
    await shown(page)
    await expect(saved(page)).toBeVisible()
  }
  await begin(one)
  await api.patch(`projects/${project.id}`, { quota: { storage: 1 } })
  await page.keyboard.press('1')
  await draw(page, [0.3, 0.3], [0.45, 0.5])
  await expect(undone).toBeVisible()
  const leave = async () => {
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  await leave()
  await expect(dialog(page)).toContainText('1 change')
  await dialog(page).getByRole('button', { name: 'Stay' }).click()
  await expect(undone).toBeVisible()
  await leave()
  await dialog(page).getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
  await api.patch(`projects/${project.id}`, { quota: { storage: 1_000_000_000 } })
  await begin(two)
  await expect(undone).toHaveCount(0)
  await page.keyboard.press('2')
  await draw(page, [0.6, 0.3], [0.7, 0.5])
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.label)).toEqual(['dog'])
  await begin(one)
  await undone.click()
  await page.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(async () => (await samples(api, data.set, data.version))[0]?.annotation.shapes?.map((s) => s.label)).toEqual(['dog', 'cat'])
})
