import { resolve } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, member, signInAsAdmin, test, unique, type Api, type Made } from './fixtures'

// Pictures of every page for people to look at, in test-results/screens.
const folder = resolve(__dirname, '../../test-results/screens')

async function fill(api: Api, project: Made): Promise<Made> {
  const colors = ['#e5484d', '#f76b15', '#ffb224', '#46a758', '#12a594', '#0090ff', '#6e56cf']
  const names = ['Street scenes', 'Street scenes, night', 'Retail shelves', 'Helmets and vests', '交通标志', '零件缺陷', 'Documents', 'Faces (blurred)', 'Crops', 'Ships']
  let first: Made | undefined
  for (const [i, name] of names.entries()) {
    const made = await api.create('label-sets', {
      project: project.id, name, description: i % 3 === 0 ? 'Agreed with the labelling team' : '', public: i % 4 === 0,
      labels: ['car', 'person', 'bicycle', 'sign'].map((label, j) => ({ name: label, color: colors[(i + j) % 7], key: label[0], children: j === 0 ? [{ name: 'van', color: colors[(i + 5) % 7] }, { name: 'truck', color: colors[(i + 6) % 7], key: 't' }] : undefined })),
    })
    first ??= made
  }
  await api.patch(`projects/${project.id}`, { description: 'Cameras at crossings: detection and tracking', quota: { cpu: 64, memory: 256 * 1024 ** 3, storage: 2 * 1024 ** 4, accelerators: { 'nvidia-a100': 8 } } })
  await member(api, project, 'member')
  await member(api, project, 'viewer')
  await api.create('specs', { name: unique('a100-x1'), cpus: 16, memory: 128 * 1024 ** 3, accelerator: 'nvidia-a100', accelerators: 1, ib: true })
  await api.create('specs', { name: unique('cpu-small'), cpus: 2, memory: 4 * 1024 ** 3 })
  return first as Made
}

async function settled(page: Page): Promise<void> {
  await expect(page.getByRole('main').locator('h1').first()).toBeVisible()
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
  await page.evaluate(() => document.fonts.ready)
}

test('pictures of every page', async ({ page, api }) => {
  test.setTimeout(600_000)
  const project = await api.create('projects', { name: unique('vision') })
  const set = await fill(api, project)
  const inside = `/p/${project.name}`
  const pages: [string, string][] = [
    ['overview', inside], ['home', '/home'], ['members', `${inside}?tab=members`], ['label-sets', `${inside}/label-sets`], ['label-set', `${inside}/label-sets/${set.id}`],
    ['label-set-new', `${inside}/label-sets?new=1`], ['empty', `${inside}/algorithm-sets`], ['users', '/admin/users'], ['user-new', '/admin/users?new=1'],
    ['roles', '/admin/roles'], ['role', '/admin/roles/3'], ['projects', '/admin/projects'], ['project-new', '/admin/projects?new=1'], ['specs', '/admin/specs'],
    ['audit', '/admin/audit'], ['audit-entry', '/admin/audit/5'], ['profile', '/profile'], ['password', '/profile/password'], ['tokens', '/profile/tokens'],
    ['token-new', '/profile/tokens?new=1'], ['sessions', '/profile/sessions'], ['not-found', '/nowhere'],
  ]
  await page.goto('/sign-in')
  const looks = [
    { name: 'en-light', language: 'en', theme: 'light', width: 1280, height: 800, all: true },
    { name: 'zh-dark', language: 'zh', theme: 'dark', width: 1280, height: 800, all: false },
    { name: 'zh-phone', language: 'zh', theme: 'light', width: 390, height: 844, all: true },
    { name: 'en-phone-dark', language: 'en', theme: 'dark', width: 390, height: 844, all: false },
  ]
  const some = ['overview', 'home', 'label-sets', 'label-set', 'role']
  for (const look of looks) {
    await page.evaluate(({ language, theme }) => {
      localStorage.setItem('ingot.language', language)
      localStorage.setItem('ingot.theme', theme)
    }, look)
    await page.setViewportSize(look)
    await page.context().clearCookies()
    await page.goto('/sign-in')
    await settled(page)
    await page.screenshot({ path: `${folder}/${look.name}-sign-in.png` })
    await signInAsAdmin(page)
    for (const [name, path] of pages.filter(([name]) => look.all || some.includes(name))) {
      await page.goto(path)
      await settled(page)
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${look.name} ${name}`).toBeLessThanOrEqual(look.width)
      await page.screenshot({ path: `${folder}/${look.name}-${name}.png` })
    }
  }
})
