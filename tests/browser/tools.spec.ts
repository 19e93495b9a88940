import { expect, test, type Page } from '@playwright/test'
import { putFile } from './compute'
import { Api, dialog, signInAs } from './fixtures'
import { adminPassword, serve } from './server'

// A server without any tools. Netron, the smallest, is installed for real, by the machine's pip.
test('a tool that is missing is offered where it is wanted, installed, and told to who may not', async ({ page, browser }) => {
  test.setTimeout(300_000)
  const server = await serve()
  try {
    const api = await Api.signIn('admin', adminPassword, server.url)
    const project = await api.create('projects', { name: 'tools' })
    const model = await api.create('model-sets', { project: project.id, name: 'net' })
    const version = await api.create(`model-sets/${model.id}/versions`, {})
    await putFile(api, `model-sets/${model.id}/versions/${version.id}`, 'weights.bin', 'not a graph')
    const user = await api.create('users', { name: 'looker', password: 'pass-word-1' })
    const { items } = (await api.get('roles?filter=name%20%3D%20%22member%22')) as { items: { id: number }[] }
    await api.create(`projects/${project.id}/members`, { user: user.id, role: items[0]?.id })
    await api.context.dispose()
    const netron = (on: Page) => on.getByRole('group', { name: 'Netron', exact: true })
    const model1 = `${server.url}/p/tools/model-sets/${model.id}/v/1?tab=model`

    await signInAs(page, 'admin', adminPassword, server.url)
    await page.goto(`${server.url}/p/tools/environments?new=1`)
    const jupyter = dialog(page).getByRole('group', { name: 'JupyterLab', exact: true })
    await expect(jupyter).toContainText(/JupyterLab is not installed. 45\.\d MiB to fetch|47\.\d MB to fetch/)
    await expect(jupyter.getByRole('button', { name: 'Install JupyterLab' })).toBeVisible()

    // Who may not is told whom to ask.
    const other = await browser.newPage()
    await signInAs(other, 'looker', 'pass-word-1', server.url)
    await other.goto(model1)
    await other.getByRole('button', { name: /Netron/ }).click()
    await expect(netron(other)).toContainText('Ask an administrator to install it.')
    await expect(netron(other).getByRole('button')).toHaveCount(0)

    await page.goto(model1)
    await page.getByRole('button', { name: /Netron/ }).click()
    await netron(page).getByRole('button', { name: 'Install Netron' }).click()
    await expect(netron(page).getByRole('progressbar')).toBeVisible()
    await expect(netron(page)).toBeHidden({ timeout: 180_000 })
    await expect(page.getByRole('link', { name: /Netron/ }).or(page.getByRole('button', { name: /Netron/ }))).toBeVisible()
    await other.reload()
    await other.getByRole('button', { name: /Netron/ }).or(other.getByRole('link', { name: /Netron/ })).first().waitFor()
    await expect(netron(other)).toBeHidden()
    await other.close()

    await page.goto(`${server.url}/admin/tools`)
    await page.getByRole('link', { name: 'netron' }).click()
    await expect(page.getByLabel('Installation log')).toContainText('netron')
  } finally {
    await server.stop()
  }
})
