import { reaches, smallSpec } from './compute'
import { dialog, expect, member, signInAs, signInAsAdmin, test } from './fixtures'

test('the home of a project: what runs, as it begins, and quota against use', async ({ page, api, project }) => {
  await api.patch(`projects/${project.id}`, { quota: { cpu: 2, memory: 4 * 1024 ** 3 } })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await expect(page.getByRole('heading', { name: 'From data to a service' })).toBeVisible()
  const spec = await smallSpec(api)
  const job = await api.create('jobs', { project: project.id, name: 'runs', spec: spec.id, command: 'exec sleep 1000' })
  await reaches(api, `jobs/${job.id}`, ['running'])
  await expect(page.locator('[data-part="running"]').getByRole('link', { name: 'runs' })).toBeVisible()
  await expect(page.locator('[data-resource="cpu"]')).toContainText('0.2 cores of 2 cores')
  await expect(page.locator('[data-resource="memory"]')).toContainText('256 MiB of 4 GiB')
  await expect(page.getByRole('figure', { name: /CPUs/ })).toContainText('quota 2 cores')
  await page.getByRole('link', { name: '1 Job' }).click()
  await expect(page.getByRole('heading', { name: 'Jobs', level: 1 })).toBeVisible()
  await expect(page.getByRole('main').getByRole('row', { name: /runs/ })).toBeVisible()

  await page.goto('/admin/resources')
  await expect(page.getByRole('row', { name: new RegExp(project.name) })).toBeVisible()
  await expect(page.getByRole('row', { name: /admin/ })).toBeVisible()
  await api.context.post(`/api/v1/jobs/${job.id}/stop`, { data: {} })
  await reaches(api, `jobs/${job.id}`, ['stopped'])
})

test('a node is drained and taken back', async ({ page, api }) => {
  const { items } = (await api.get('nodes')) as { items: { id: number; name: string }[] }
  const node = items[0]
  if (!node) throw new Error('this machine runs no containers')
  await signInAsAdmin(page)
  try {
    await page.goto(`/admin/nodes/${node.id}`)
    await page.getByRole('button', { name: 'Drain' }).click()
    await dialog(page).getByRole('button', { name: 'Drain' }).click()
    await expect(page.locator('.state-drained')).toBeVisible()
    await page.getByRole('button', { name: 'Put into service' }).click()
    await dialog(page).getByRole('button', { name: 'Put into service' }).click()
    await expect(page.locator('.state-ready')).toBeVisible()
  } finally {
    // Whatever happens here, the jobs of the tests after this one need the node.
    await api.context.post(`/api/v1/nodes/${node.id}/undrain`, { data: {} })
  }
})

test('resources are for administrators', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await signInAs(page, user.name, password)
  await page.goto('/admin/resources')
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Resources' })).toHaveCount(0)
})
