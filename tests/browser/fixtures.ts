import { expect, request, test as base, type APIRequestContext, type Page } from '@playwright/test'
import { adminPassword } from './server'
import { slowDown, throttle } from './slow'

export { expect } from '@playwright/test'

type Json = Record<string, unknown>

export interface Made {
  id: number
  name: string
  revision: number
}

/** The API as one user sees it, for setting the stage. */
export class Api {
  constructor(readonly context: APIRequestContext) {}

  static async signIn(name: string, password: string, url = process.env['INGOT_URL'] as string): Promise<Api> {
    const context = await request.newContext({ baseURL: url, extraHTTPHeaders: { Origin: url }, timeout: 60_000 })
    const answer = await context.post('/api/v1/sessions', { data: { name, password } })
    expect(answer.status(), await answer.text()).toBe(201)
    return new Api(context)
  }

  async create(plural: string, data: Json): Promise<Made> {
    const answer = await this.context.post(`/api/v1/${plural}`, { data })
    expect(answer.status(), await answer.text()).toBe(201)
    return (await answer.json()) as Made
  }

  async get(path: string): Promise<Json> {
    const answer = await this.context.get(`/api/v1/${path}`)
    expect(answer.status(), await answer.text()).toBe(200)
    return (await answer.json()) as Json
  }

  async patch(path: string, data: Json): Promise<Json> {
    const now = await this.get(path)
    const answer = await this.context.patch(`/api/v1/${path}`, { data, headers: { 'If-Match': `"${String(now['revision'])}"` } })
    expect(answer.status(), await answer.text()).toBe(200)
    return (await answer.json()) as Json
  }
}

let counter = 0
/** A name that no other test has. */
export function unique(prefix: string): string {
  counter += 1
  return `${prefix}-${process.pid.toString(36)}${counter}`
}

export interface Stage {
  /** The administrator's API. */
  api: Api
  /** A project of this test alone. */
  project: Made
}

export const test = base.extend<Stage, { admin: Api }>({
  admin: [async ({}, use) => {
    const admin = await Api.signIn('admin', adminPassword)
    await use(admin)
    await admin.context.dispose()
  }, { scope: 'worker' }],
  baseURL: async ({}, use) => use(process.env['INGOT_URL']),
  context: async ({ context }, use, info) => {
    await slowDown(context, info.title)
    await use(context)
    // What is still delayed is not waited for.
    await context.unrouteAll({ behavior: 'ignoreErrors' })
  },
  page: async ({ page }, use) => {
    await throttle(page)
    await use(page)
  },
  api: async ({ admin }, use) => use(admin),
  project: async ({ admin }, use) => use(await admin.create('projects', { name: unique('proj') })),
})

export async function signInAs(page: Page, name: string, password: string, url = process.env['INGOT_URL'] as string): Promise<void> {
  const answer = await page.request.post(`${url}/api/v1/sessions`, { data: { name, password }, headers: { Origin: url } })
  expect(answer.status(), await answer.text()).toBe(201)
}

export async function signInAsAdmin(page: Page): Promise<void> {
  await signInAs(page, 'admin', adminPassword)
}

/** A user with a role in a project. */
export async function member(api: Api, project: Made, role: string): Promise<{ user: Made; password: string }> {
  const password = 'a-good-password'
  const user = await api.create('users', { name: unique('user'), password })
  const roles = (await api.get(`roles?filter=${encodeURIComponent(`name = "${role}"`)}`)) as { items: Made[] }
  const found = roles.items[0]
  if (!found) throw new Error(`no role ${role}`)
  await api.create(`projects/${project.id}/members`, { user: user.id, role: found.id })
  return { user, password }
}

/** A line of the open list of a select. */
export function option(page: Page, text: string) {
  return page.locator('.ant-select-dropdown:visible .ant-select-item-option').filter({ has: page.getByText(text, { exact: true }) })
}

export function dialog(page: Page) {
  return page.getByRole('dialog')
}
