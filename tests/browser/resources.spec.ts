import { reaches, smallSpec } from './compute'
import { dialog, expect, member, option, signInAs, signInAsAdmin, test } from './fixtures'

test('the home of a project: what runs, as it begins, and quota against use', async ({ page, api, project }) => {
  await api.patch(`projects/${project.id}`, { quota: { cpu: 2, memory: 4 * 1024 ** 3 } })
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}`)
  await expect(page.getByRole('heading', { name: 'From data to a service' })).toBeVisible()
  const spec = await smallSpec(api)
  const job = await api.create('jobs', { project: project.id, name: 'runs', spec: spec.id, command: 'exec sleep 1000' })
  await reaches(api, `jobs/${job.id}`, ['running'])
  await expect(page.locator('[data-part="running"]').getByRole('link', { name: 'runs' })).toBeVisible()
  await expect(page.locator('[data-resource="cpus"]')).toContainText('0.2 cores reserved of 2 cores')
  await expect(page.locator('[data-resource="memory"]')).toContainText('256 MiB reserved of 4 GiB')
  await expect(page.getByRole('figure', { name: /CPUs/ })).toContainText('quota 2 cores')
  await page.getByRole('link', { name: '1 Job' }).click()
  await expect(page.getByRole('heading', { name: 'Jobs', level: 1 })).toBeVisible()
  await expect(page.getByRole('main').getByRole('row', { name: /runs/ })).toBeVisible()

  await page.goto('/admin/resources')
  await expect(page.getByRole('row', { name: new RegExp(`${project.name}.*used · 0.2 cores reserved of 2 cores`) })).toBeVisible()
  await expect(page.locator('.summary [data-resource="disk"]').first()).toHaveText(/[1-9].* used .*of [1-9]/)
  await page.locator('.refresh').click()
  await option(page, 'Every 1 min').click()
  await page.reload()
  await expect(page.locator('.refresh')).toContainText('Every 1 min')
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
    await expect(page.locator('[data-part="facts"] .state-drained')).toBeVisible()
    await page.getByRole('button', { name: 'Put into service' }).click()
    await dialog(page).getByRole('button', { name: 'Put into service' }).click()
    await expect(page.locator('[data-part="facts"] .state-ready')).toBeVisible()
  } finally {
    // Whatever happens here, the jobs of the tests after this one need the node.
    await api.context.post(`/api/v1/nodes/${node.id}/undrain`, { data: {} })
  }
})

test('the page of a node: load, what runs, what ended and how, how its state changed', async ({ page, api, project }) => {
  const { items } = (await api.get('nodes')) as { items: { id: number; name: string }[] }
  const node = items[0]
  if (!node) throw new Error('this machine runs no containers')
  const spec = await smallSpec(api)
  const failed = await api.create('jobs', { project: project.id, name: 'gives-up', spec: spec.id, command: 'echo out of luck >&2; exit 1' })
  await reaches(api, `jobs/${failed.id}`, ['failed'])
  const job = await api.create('jobs', { project: project.id, name: 'works', spec: spec.id, command: 'exec sleep 1000' })
  await reaches(api, `jobs/${job.id}`, ['running'])
  await signInAsAdmin(page)
  await page.goto(`/admin/nodes/${node.id}`)
  const part = (name: string) => page.locator(`[data-part="${name}"]`)
  await expect(part('load').locator('[data-resource="disk"]')).toContainText('used')
  await expect(part('load')).toContainText(/Disk: .* in total, .* used, .* free for jobs/)
  await expect(part('running').getByRole('link', { name: 'works' })).toBeVisible()
  await expect(part('ended').getByRole('listitem').filter({ hasText: 'gives-up' })).toContainText('out of luck')
  await expect(part('states').getByRole('listitem').last()).toContainText('Found')
  await api.context.post(`/api/v1/jobs/${job.id}/stop`, { data: {} })
  await reaches(api, `jobs/${job.id}`, ['stopped'])
})

test('the audit folds what repeats, says when exactly, and is narrowed to one object', async ({ page, api, project }) => {
  let set = (await api.create('label-sets', { project: project.id, name: 'signs', labels: [] })) as { id: number; revision: number }
  for (const name of ['stop', 'give-way']) set = (await api.patch(`label-sets/${set.id}`, { name: `${project.name}-${name}` })) as typeof set
  await signInAsAdmin(page)
  await page.goto(`/admin/audit?project=${project.id}:x`)
  const row = page.getByRole('row', { name: new RegExp(`${project.name}-give-way`) })
  await expect(row).toContainText('and 2 more')
  await expect(row.getByRole('time')).toHaveText(/\d{4}.*\d\d:\d\d:\d\d/)
  await row.getByRole('button', { name: 'and 2 more' }).click()
  await expect(page.getByRole('row', { name: /created.*signs/ })).toBeVisible()
  // What the platform does by itself is left out by the server, and shown when one wants it.
  const asked = page.waitForRequest((request) => /\/api\/v1\/audit\?/.test(request.url()) && !request.url().includes('null'))
  await page.getByRole('switch', { name: 'Leave out the platform and repeats' }).click()
  await asked
  await expect(page.getByRole('row', { name: /created.*signs/ })).toBeVisible()
  await expect(page.getByRole('button', { name: 'and 2 more' })).toHaveCount(0)
  await page.goto('/admin/audit?kind=label_set')
  await page.getByRole('combobox', { name: /Object/ }).click()
  await page.keyboard.type(`${project.name}-give`)
  await page.getByTitle(`${project.name}-give-way`).click()
  await expect(page.getByRole('status').filter({ hasText: '3 items' })).toBeVisible()
})

test('members are shown with what each may do', async ({ page, api, project }) => {
  const annotator = await member(api, project, 'annotator')
  const viewer = await member(api, project, 'viewer')
  await signInAsAdmin(page)
  await page.goto(`/p/${project.name}?tab=members`)
  await expect(page.getByRole('row', { name: new RegExp(annotator.user.name) })).toContainText('label what is assigned')
  await expect(page.getByRole('row', { name: new RegExp(viewer.user.name) })).toContainText('look at everything')
  await expect(page.getByRole('row', { name: /^admin/ })).toContainText('add and remove members')
})

test('resources are for administrators', async ({ page, api, project }) => {
  const { user, password } = await member(api, project, 'member')
  await signInAs(page, user.name, password)
  await page.goto('/admin/resources')
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Resources' })).toHaveCount(0)
})
