import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { countingAlgorithm, pickSpec, putFile, reaches } from './compute'
import { dialog, expect, option, signInAsAdmin, test, unique } from './fixtures'
import { adminPassword } from './server'

// As a new user would: a project, an image pushed with podman, JupyterLab, ssh, the environment saved as an image, a training
// on two nodes in that image, its curves, TensorBoard, resuming, and the model with its lineage.
const folder = resolve(__dirname, '../../test-results/screens')

/** Writes what TensorBoard reads: records of a length, data, and their CRC-32C. */
const events = `import struct, time
def crc(data):
    c = 0xffffffff
    for b in data:
        c ^= b
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    c ^= 0xffffffff
    return struct.pack('<I', ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff)
def record(event):
    length = struct.pack('<Q', len(event))
    return length + crc(length) + event + crc(event)
def field(number, kind, data):
    return bytes([number << 3 | kind]) + (bytes([len(data)]) if kind == 2 else b'') + data
def write(path, values):
    with open(path, 'wb') as f:
        f.write(record(field(1, 1, struct.pack('<d', time.time())) + field(3, 2, b'brain.Event:2')))
        for step, value in values:
            scalar = field(1, 2, field(1, 2, b'loss') + field(2, 5, struct.pack('<f', value)))
            f.write(record(field(1, 1, struct.pack('<d', time.time())) + field(2, 0, bytes([step])) + field(5, 2, scalar)))
`

function run(program: string, args: string[], env: Record<string, string> = {}): string {
  return execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 })
}

test('from an empty platform to a model with its lineage', async ({ page, api }) => {
  test.setTimeout(600_000)
  const temp = mkdtempSync(join(tmpdir(), 'ij-'))
  try {
    await page.goto('/sign-in')
    await signInAsAdmin(page)
    const name = unique('journey')
    await test.step('create a project', async () => {
      await page.goto('/admin/projects?new=1')
      await dialog(page).getByLabel('Name', { exact: false }).first().fill(name)
      await dialog(page).getByRole('button', { name: 'Create' }).click()
      await expect(page).toHaveURL(`/p/${name}`)
      await expect(page.getByRole('heading', { name: 'From data to a service' })).toBeVisible()
      await page.screenshot({ path: `${folder}/journey-1-project.png` })
    })
    const found = (await api.get(`projects?filter=${encodeURIComponent(`name = "${name}"`)}`)) as { items: { id: number; name: string; revision: number }[] }
    const project = found.items[0]
    if (!project) throw new Error(`no project ${name}`)
    const spec = await api.create('specs', { name: unique('lab'), cpus: 0.3, memory: 1 << 30 })
    const { set, version } = await countingAlgorithm(api, project)
    await putFile(api, `algorithm-sets/${set.id}/versions/${version.id}`, 'events.py', events)
    await api.create('model-sets', { project: project.id, name: 'counted' })

    await test.step('push an image with podman', async () => {
      const host = new URL(process.env['INGOT_URL'] as string).host
      const store = ['--root', `${temp}/s`, '--runroot', `${temp}/r`, '--storage-driver', 'vfs']
      const auth = { REGISTRY_AUTH_FILE: `${temp}/auth.json` }
      writeFileSync(`${temp}/hello.txt`, 'hello')
      run('tar', ['-C', temp, '-cf', `${temp}/hello.tar`, 'hello.txt'])
      run('podman', [...store, 'import', `${temp}/hello.tar`, `${host}/${name}/hello:v1`], auth)
      run('podman', [...store, 'login', '--tls-verify=false', '-u', 'admin', '-p', adminPassword, host], auth)
      run('podman', [...store, 'push', '--tls-verify=false', `${host}/${name}/hello:v1`], auth)
      await page.goto(`/p/${name}/images`)
      await expect(page.getByRole('link', { name: 'hello', exact: true })).toBeVisible()
    })

    await test.step('start an environment', async () => {
      await page.goto(`/p/${name}/environments?new=1`)
      await dialog(page).getByLabel('Name', { exact: false }).first().fill('lab')
      await pickSpec(page, spec)
      await dialog(page).getByRole('button', { name: 'Create' }).click()
      await page.getByRole('button', { name: 'Start' }).click()
      await dialog(page).getByRole('button', { name: 'Start' }).click()
      await expect(page.getByRole('link', { name: 'Open JupyterLab in a new tab' })).toBeVisible({ timeout: 240_000 })
      await page.screenshot({ path: `${folder}/journey-2-environment.png` })
    })

    await test.step('run a cell in JupyterLab', async () => {
      const opened = page.context().waitForEvent('page')
      await page.getByRole('link', { name: 'Open JupyterLab in a new tab' }).click()
      const lab = await opened
      // What does not come through is told.
      lab.on('requestfailed', (request) => console.log('failed:', request.url(), request.failure()?.errorText))
      lab.on('response', (response) => response.status() >= 400 && console.log(response.status(), response.url()))
      const launcher = lab.locator('.jp-LauncherCard[data-category="Notebook"]').first()
      await expect(launcher).toBeVisible({ timeout: 180_000 })
      expect(await lab.locator('.jp-Dialog').count()).toBe(0)
      await launcher.click()
      const cell = lab.locator('.jp-Notebook .jp-Cell .cm-content').first()
      // A cell that is run before the kernel is there is not run at all.
      await expect(lab.getByText(/\| Idle$/)).toBeVisible({ timeout: 180_000 })
      await cell.click()
      await lab.keyboard.type('print("answer", 6 * 7)')
      await lab.keyboard.press('Shift+Enter')
      await expect(lab.locator('.jp-OutputArea-output', { hasText: 'answer 42' })).toBeVisible({ timeout: 180_000 })
      await lab.screenshot({ path: `${folder}/journey-3-jupyter.png` })

      // A file through the page's own upload, and a terminal that sees it.
      const chooser = lab.waitForEvent('filechooser')
      await lab.getByRole('button', { name: 'Upload Files' }).click()
      await (await chooser).setFiles({ name: 'brought.txt', mimeType: 'text/plain', buffer: Buffer.from('brought in') })
      await expect(lab.locator('.jp-DirListing-item', { hasText: 'brought.txt' })).toBeVisible({ timeout: 60_000 })
      await lab.getByRole('button', { name: 'New Launcher (Ctrl+Shift+L)' }).click()
      await lab.locator('.jp-LauncherCard[data-category="Other"]', { hasText: 'Terminal' }).click()
      await expect(lab.locator('.jp-Terminal .xterm-screen')).toBeVisible({ timeout: 60_000 })
      await lab.locator('.jp-Terminal textarea').pressSequentially('tr a-z A-Z <brought.txt >seen.txt\n')
      const seen = new URL('files/seen.txt', lab.url().replace(/lab.*$/, '')).href
      await expect.poll(async () => (await lab.request.get(seen)).text(), { timeout: 60_000 }).toBe('BROUGHT IN')
      await lab.screenshot({ path: `${folder}/journey-3-terminal.png` })
      lab.removeAllListeners()
      await lab.close()
    })

    await test.step('ssh in', async () => {
      await page.getByRole('button', { name: 'Show password' }).click()
      const password = await page.getByLabel('SSH password', { exact: true }).innerText()
      const line = (await page.getByLabel('SSH command', { exact: true }).innerText()).split(' ')
      writeFileSync(`${temp}/askpass`, `#!/bin/sh\necho '${password}'\n`)
      chmodSync(`${temp}/askpass`, 0o700)
      const options = ['-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${temp}/hosts`, '-o', 'PubkeyAuthentication=no', '-o', 'NumberOfPasswordPrompts=1']
      const said = run('ssh', [...options, ...line.slice(1), 'echo made here >/opt/made && cat /opt/made'], { SSH_ASKPASS: `${temp}/askpass`, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' })
      expect(said.trim()).toBe('made here')
    })

    await test.step('save the environment as an image', async () => {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: 'Save as image' }).click()
      await expect(dialog(page).getByLabel('Image', { exact: true })).toHaveValue('lab')
      await page.screenshot({ path: `${folder}/journey-4-save.png` })
      await dialog(page).getByRole('button', { name: 'Save' }).click()
      await expect(dialog(page)).toBeHidden()
      // A task makes the image, then its version.
      await expect.poll(async () => {
        const images = (await api.get(`images?project=${project.id}&filter=${encodeURIComponent('name = "lab"')}`)) as { items: { id: number }[] }
        const image = images.items[0]
        return image ? ((await api.get(`images/${image.id}/versions`)) as { items: unknown[] }).items.length : 0
      }, { timeout: 180_000 }).toBe(1)
      await page.getByRole('button', { name: 'Stop' }).click()
      await dialog(page).getByRole('button', { name: 'Stop' }).click()
      await expect(page.locator('.compute-head .state-stopped')).toBeVisible({ timeout: 120_000 })
    })

    await test.step('train on two nodes in that image', async () => {
      await page.goto(`/p/${name}/trainings?new=1`)
      await dialog(page).getByLabel('Name', { exact: false }).first().fill('count')
      await dialog(page).getByRole('combobox', { name: 'Algorithm' }).click()
      await option(page, 'counter').click()
      await expect(dialog(page).locator('.version-number')).toContainText('v1')
      await dialog(page).getByRole('combobox', { name: 'Image' }).fill('lab:v1')
      await pickSpec(page, spec)
      await dialog(page).getByRole('textbox', { name: /^Command/ }).fill(`cat /opt/made && python3 train.py && if [ "$NODE_RANK" = 0 ]; then python3 -c "
import events
events.write('/workspace/logs/events.out.tfevents.1.host', [(i, 1 / i) for i in range(1, 11)])"; fi`)
      await dialog(page).getByLabel('Nodes').fill('2')
      await dialog(page).getByRole('combobox', { name: 'Save the model to' }).click()
      await option(page, 'counted').click()
      await dialog(page).getByRole('button', { name: 'Create' }).click()
      await page.getByRole('button', { name: 'Start' }).click()
      await expect(page.getByRole('figure', { name: /loss/ })).toBeVisible({ timeout: 180_000 })
      await expect(page.getByRole('link', { name: 'counted v1' })).toBeVisible({ timeout: 180_000 })
      await page.screenshot({ path: `${folder}/journey-5-metrics.png` })
      await page.getByRole('link', { name: 'Log', exact: true }).click()
      await expect(page.getByText('made here')).toBeVisible()
      await page.getByRole('link', { name: 'Curves' }).click()
      await expect(page.getByRole('figure', { name: /Memory/ })).toBeVisible()
    })

    await test.step('open TensorBoard', async () => {
      await page.getByRole('button', { name: 'TensorBoard' }).click()
      const link = page.getByRole('link', { name: 'Open TensorBoard' })
      await expect(link).toBeVisible({ timeout: 240_000 })
      const opened = page.context().waitForEvent('page')
      await link.click()
      const board = await opened
      await expect(board.getByText('loss').first()).toBeVisible({ timeout: 180_000 })
      await board.screenshot({ path: `${folder}/journey-6-tensorboard.png` })
      await board.close()
    })

    await test.step('resume, and find the model with its lineage', async () => {
      await page.getByRole('button', { name: 'Resume' }).click()
      await expect(page.getByRole('link', { name: 'counted v2' })).toBeVisible({ timeout: 180_000 })
      await page.getByRole('link', { name: 'Log', exact: true }).click()
      await expect(page.getByText('resumed at 10')).toBeVisible()
      await page.getByRole('link', { name: 'counted v2' }).click()
      await page.getByRole('link', { name: 'Lineage' }).click()
      const lineage = page.getByRole('region', { name: 'Lineage' })
      for (const name of [/counter v1/, /lab v1/, /run-1/]) await expect(lineage.getByRole('link', { name })).toBeVisible()
      await page.screenshot({ path: `${folder}/journey-7-lineage.png` })
    })
    const jobs = (await api.get(`jobs?project=${project.id}`)) as { items: { id: number; state: string }[] }
    for (const job of jobs.items) {
      await api.context.post(`/api/v1/jobs/${job.id}/stop`, { data: {} })
      await reaches(api, `jobs/${job.id}`, ['completed', 'failed', 'stopped'])
    }
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
})
