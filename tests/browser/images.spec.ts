import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { pickSpec, smallSpec } from './compute'
import { dialog, expect, option, signInAsAdmin, test, unique, type Api } from './fixtures'
import { adminPassword } from './server'

const folder = resolve(__dirname, '../../test-results/screens')
const manifestType = 'application/vnd.oci.image.manifest.v1+json'

function digest(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`
}

/** A tar of a few small files. */
function tar(files: Record<string, Buffer>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, data]) => {
    const head = Buffer.alloc(512)
    head.write(name, 0)
    head.write('0000644\0', 100)
    head.write('0000000\0', 108)
    head.write('0000000\0', 116)
    head.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124)
    head.write('00000000000\0', 136)
    head.write('        ', 148)
    head.write('0ustar\x0000', 156)
    const sum = head.reduce((all, byte) => all + byte, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return [head, data, Buffer.alloc((512 - (data.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

const layer = tar({ 'hello.txt': Buffer.from('hello') })
const config = Buffer.from(JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [digest(layer)] } }))

/** As docker would push it. */
async function push(api: Api, repository: string, tag: string): Promise<void> {
  const authorization = { Authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}` }
  for (const data of [layer, config]) {
    const sent = await api.context.post(`/v2/${repository}/blobs/uploads/?digest=${digest(data)}`, { data, headers: { ...authorization, 'Content-Type': 'application/octet-stream' } })
    expect(sent.status(), await sent.text()).toBe(201)
  }
  const part = (data: Buffer, mediaType: string) => ({ mediaType, digest: digest(data), size: data.length })
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config: part(config, 'application/vnd.oci.image.config.v1+json'), layers: [part(layer, 'application/vnd.oci.image.layer.v1.tar')] })
  const put = await api.context.put(`/v2/${repository}/manifests/${tag}`, { data: Buffer.from(manifest), headers: { ...authorization, 'Content-Type': manifestType } })
  expect(put.status(), await put.text()).toBe(201)
}

test('images: commands, versions, upload, copy, delete', async ({ page, api, project }) => {
  const image = await api.create('images', { project: project.id, name: 'tools/train', description: 'PyTorch with our libraries' })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/images/${image.id}`)
  await expect(page.getByText('No versions yet')).toBeVisible()
  const host = new URL(process.env['INGOT_URL'] as string).host
  await expect(page.getByLabel('Push', { exact: true })).toHaveText(`docker push ${host}/${project.name}/tools/train:v1`)
  await page.getByText('podman', { exact: true }).click()
  await expect(page.getByLabel('Sign in', { exact: true })).toHaveText(`podman login --tls-verify=false -u admin ${host}`)

  // A push shows without a reload.
  await push(api, `${project.name}/tools/train`, '1.0')
  await expect(page.getByRole('cell', { name: '1.0', exact: true })).toBeVisible()
  await expect(page.getByRole('cell', { name: 'amd64' })).toBeVisible()

  // A saved archive.
  const saved = tar({ 'manifest.json': Buffer.from(JSON.stringify([{ Config: 'config.json', RepoTags: ['x:y'], Layers: ['a/layer.tar'] }])), 'config.json': config, 'a/layer.tar': layer })
  await page.getByTestId('archive-file').setInputFiles([{ name: 'train-2.0.tar', mimeType: 'application/x-tar', buffer: saved }])
  await expect(page.getByLabel('Version', { exact: true })).toHaveValue('2.0')
  await page.getByRole('button', { name: 'Upload', exact: true }).click()
  await expect(page.getByRole('cell', { name: '2.0', exact: true })).toBeVisible()
  await page.evaluate(() => document.querySelector('main')?.scrollTo(0, 0))
  await page.screenshot({ path: `${folder}/en-light-image.png` })

  // A copy into a new image.
  const name = unique('copy')
  await page.getByRole('button', { name: 'Actions for 1.0' }).click()
  await page.getByRole('menuitem', { name: 'Copy to ...' }).click()
  await dialog(page).getByLabel('Image').fill(name)
  await dialog(page).getByRole('button', { name: 'Copy to ...' }).click()
  await expect(dialog(page)).toBeHidden()

  const copies = (await api.get(`images?project=${project.id}&filter=${encodeURIComponent(`name = "${name}"`)}`)) as { items: { id: number }[] }
  expect(await api.get(`images/${copies.items[0]?.id ?? 0}/versions`)).toMatchObject({ items: [{ name: '1.0' }] })

  await page.getByRole('button', { name: 'Actions for 2.0' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog(page).getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('cell', { name: '2.0', exact: true })).toHaveCount(0)

  // What is public is seen from other projects, and only looked at.
  await api.patch(`images/${image.id}`, { public: true })
  const other = await api.create('projects', { name: unique('other') })
  await page.goto(`/p/${other.name}/images`)
  await page.getByText('Public', { exact: true }).first().click()
  await page.getByRole('link', { name: 'tools/train' }).first().click()
  await expect(page.getByRole('heading', { name: 'tools/train' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Edit' })).toHaveCount(0)
  await expect(page.getByTestId('archive-file')).toHaveCount(0)

  await page.evaluate(() => localStorage.setItem('ingot.language', 'zh'))
  await page.goto(`/p/${project.name}/images/${image.id}`)
  await expect(page.getByRole('cell', { name: '1.0', exact: true })).toBeVisible()
  await page.screenshot({ path: `${folder}/zh-light-image.png` })
  await page.goto(`/p/${project.name}/images`)
  await expect(page.getByRole('link', { name })).toBeVisible()
  await page.screenshot({ path: `${folder}/zh-light-images.png` })
})

test('images: one made of another; its variables are rows, and what was typed survives a reload after an upgrade', async ({ page, api, project }) => {
  const image = await api.create('images', { project: project.id, name: 'tools/base' })
  await push(api, `${project.name}/tools/base`, '1.0')
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}/images/${image.id}`)
  await expect(page.getByRole('cell', { name: '1.0', exact: true })).toBeVisible()

  // A part of the program is gone: the page offers to be loaded anew.
  await page.route('**/assets/KeyHelp*', (route) => route.fulfill({ status: 404, body: '' }))
  await page.keyboard.press('?')
  const upgraded = page.getByRole('alert').filter({ hasText: 'A new version is available.' })
  await expect(upgraded).toBeVisible()

  const form = dialog(page)
  await page.getByRole('button', { name: 'Derive a version' }).click()
  await form.getByRole('textbox', { name: /^Version/ }).fill('1.1')
  await form.getByRole('button', { name: 'Add variable' }).click()
  await form.getByRole('textbox', { name: 'Name of variable 1' }).fill('WHO')
  await form.getByRole('textbox', { name: 'Value of WHO' }).fill('world')
  await form.getByRole('button', { name: 'Remove one of the image' }).click()
  await form.getByRole('textbox', { name: 'Name of variable 2' }).fill('PATH')
  await expect(form.getByText('Removed from the image')).toBeVisible()
  await page.unroute('**/assets/KeyHelp*')
  const anew = page.waitForEvent('load')
  await upgraded.getByRole('button', { name: 'Reload' }).click()
  await anew

  await page.getByRole('button', { name: 'Derive a version' }).click()
  await expect(form.getByRole('textbox', { name: /^Version/ })).toHaveValue('1.1')
  await expect(form.getByRole('textbox', { name: 'Value of WHO' })).toHaveValue('world')
  await expect(form.getByRole('textbox', { name: 'Name of variable 2' })).toHaveValue('PATH')
  await form.getByRole('combobox', { name: 'Image' }).click()
  await option(page, 'tools/base').click()
  const sent = page.waitForRequest((request) => request.url().endsWith('/derive'))
  await form.getByRole('button', { name: 'Derive a version' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ version: '1.1', env: { WHO: 'world', PATH: null } })
  await expect(page.getByRole('cell', { name: '1.1', exact: true })).toBeVisible()
  const told = await api.context.get(`/v2/${project.name}/tools/base/manifests/1.1`, { headers: { Authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`, Accept: manifestType } })
  const made = (await told.json()) as { config: { digest: string } }
  const derived = await api.context.get(`/v2/${project.name}/tools/base/blobs/${made.config.digest}`, { headers: { Authorization: `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}` } })
  expect(((await derived.json()) as { config: { Env: string[] } }).config.Env).toEqual(['WHO=world'])
})

test('images: a build with a script, one that fails, their logs', async ({ page, api, project }) => {
  const image = await api.create('images', { project: project.id, name: 'tools/built' })
  const spec = await smallSpec(api)
  await signInAsAdmin(page)
  const url = `/p/${project.name}/images/${image.id}`
  const begin = async (version: string, script: string) => {
    await page.goto(url)
    await page.getByRole('button', { name: 'Build with a script' }).click()
    await dialog(page).getByRole('textbox', { name: 'Version' }).fill(version)
    await dialog(page).getByRole('textbox', { name: 'Script' }).fill(script)
    await pickSpec(page, spec)
    await expect(dialog(page).locator('.forecast')).toContainText('Total: 0.2 CPUs')
  }

  // What is missing is said at its field; the page of the job shows the log, and leads back to the image.
  await page.goto(url)
  await page.getByRole('button', { name: 'Build with a script' }).click()
  await dialog(page).getByRole('button', { name: 'Build with a script' }).click()
  await expect(dialog(page).getByText('Required.')).toHaveCount(3)
  await begin('v1', 'mkdir -p /opt/tool\necho "hello $WHO" > /opt/tool/hello')
  await dialog(page).getByRole('button', { name: 'Add variable' }).click()
  await dialog(page).getByLabel('Name of variable 1').fill('WHO')
  await dialog(page).getByLabel('Value of WHO').fill('world')
  await dialog(page).getByRole('button', { name: 'Build with a script' }).click()
  await expect(page.getByRole('heading', { name: 'build v1' })).toBeVisible()
  await expect(page.locator('.compute-head')).toContainText('Completed', { timeout: 180_000 })
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await expect(page.getByText('the image is saved')).toBeVisible()
  await page.getByRole('link', { name: 'Go to Image' }).click()
  await expect(page.getByRole('cell', { name: /^v1/ })).toBeVisible()

  // From that version, with a line that fails: the note leads to the log, also later and by way of the image.
  await begin('v2', 'cat /opt/tool/hello\ncat /no/such/file')
  await dialog(page).getByRole('combobox', { name: 'Image' }).press('ArrowDown')
  await option(page, 'tools/built').click()
  await expect(dialog(page).locator('.version-number')).toContainText('v1')
  await dialog(page).getByRole('button', { name: 'Build with a script' }).click()
  await expect(page.locator('.note-error')).toContainText('ended with exit code 1', { timeout: 180_000 })
  await page.getByRole('link', { name: 'See the log' }).click()
  await expect(page.getByText('hello world')).toBeVisible()
  await page.reload()
  await expect(page.getByText('cat: /no/such/file: No such file or directory')).toBeVisible()
  await page.goto(url)
  const row = page.locator('.builds tbody tr').first()
  await expect(row).toContainText('ended with exit code 1')
  await row.getByRole('link', { name: 'build v2' }).click()
  await expect(page.getByText('cat: /no/such/file: No such file or directory')).toBeVisible()
})
