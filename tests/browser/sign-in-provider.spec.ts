import { chromium, test as base, type BrowserContext, type Page } from '@playwright/test'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from './fixtures'
import { ready, serve } from './server'
import { slowDown } from './slow'

// Signing in through a real OpenID Connect provider (tests/oidc), which lives at another site than we do.
const site = 'http://ingot.test'
const folder = resolve(__dirname, '../oidc')
const secret = 'a secret & more: 100%'
const accounts = {
  ann: { preferred_username: 'ann', email: 'ann@example.org', email_verified: true },
  out: { preferred_username: 'out', email: 'out@elsewhere.example', email_verified: true },
}

interface Stage {
  /** The addresses of our server and of the provider. */
  sites: { ingot: string; provider: string }
}

const test = base.extend<{ visitor: BrowserContext }, Stage>({
  sites: [async ({}, use) => {
    execFileSync(join(folder, 'install.sh'), { stdio: 'inherit' })
    const client = {
      client_id: 'ingot', client_secret: secret, redirect_uris: [`${site}/api/v1/sign-in/corp/callback`], grant_types: ['authorization_code'], response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    }
    const provider = spawn(resolve(folder, '../../scripts/node.sh'), ['node', 'provider.js', JSON.stringify({ clients: [client], accounts })], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
    const config = mkdtempSync(join(tmpdir(), 'ingot-config-'))
    try {
      const issuer = await ready(provider)
      const corp = { id: 'corp', title: 'Corp', type: 'oidc', issuer, client_id: 'ingot', client_secret: 'env:CORP_SECRET', allowed_domains: ['example.org'] }
      writeFileSync(join(config, 'config.json'), JSON.stringify({ sign_in: { providers: [corp] } }))
      const server = await serve(['--config', join(config, 'config.json'), '--public-url', site], { CORP_SECRET: secret })
      await use({ ingot: server.url, provider: issuer })
      await server.stop()
    } finally {
      provider.kill('SIGKILL')
      rmSync(config, { recursive: true, force: true })
    }
  }, { scope: 'worker' }],

  /** A browser that finds our server at the address the provider knows. */
  visitor: async ({ sites }, use, info) => {
    const options = info.project.use.launchOptions
    const rule = `MAP ${new URL(site).host}:80 ${new URL(sites.ingot).host}`
    const browser = await chromium.launch({ ...options, args: [...(options?.args ?? []), '--no-proxy-server', `--host-resolver-rules=${rule}`] })
    const context = await browser.newContext({ baseURL: site, locale: 'en-GB', reducedMotion: 'reduce' })
    context.setDefaultTimeout(60_000)
    // The provider's pages ask for a font from elsewhere.
    await context.route((url) => url.origin !== site && url.origin !== sites.provider, (route) => route.abort())
    await slowDown(context, info.title)
    await use(context)
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await browser.close()
  },
})

async function atProvider(page: Page, account: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with Corp' }).click()
  await page.locator('input[name="login"]').fill(account)
  await page.locator('input[name="password"]').fill('x')
  await page.locator('button[type="submit"]').click()
  await page.locator('input[name="prompt"][value="consent"]').waitFor({ state: 'attached' })
  await page.locator('button[type="submit"]').click()
}

test('to the provider and back, signed in; out again; a lost session goes on where it was', async ({ visitor }) => {
  const page = await visitor.newPage()
  await page.goto('/profile/tokens')
  await atProvider(page, 'ann')
  await expect(page).toHaveURL(`${site}/profile/tokens`)
  await expect(page.getByRole('heading', { name: 'ann', exact: true })).toBeVisible()
  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await expect(page.getByLabel('E-mail')).toHaveValue('ann@example.org')

  await visitor.clearCookies({ domain: 'ingot.test' })
  await page.getByRole('link', { name: 'Sessions', exact: true }).dispatchEvent('click')
  const again = page.locator('.sign-in-again')
  await expect(again).toBeVisible()
  // The provider still knows who it is and asks nothing.
  const link = again.getByRole('link', { name: 'Continue with Corp' })
  await expect(link).toHaveAttribute('href', '/api/v1/sign-in/corp?next=%2Fprofile%2Fsessions')
  await link.click()
  await expect(again).toHaveCount(0)
  await expect(page).toHaveURL(`${site}/profile/sessions`)
  await expect(page.getByRole('heading', { name: 'ann', exact: true })).toBeVisible()

  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
  await page.goto('/profile')
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
})

test('whom the provider may not send is told so on the sign-in page', async ({ visitor }) => {
  const page = await visitor.newPage()
  await page.goto('/sign-in')
  await atProvider(page, 'out')
  await expect(page.getByRole('alert')).toContainText('Signing in with this provider did not work:')
  await expect(page.getByRole('alert')).toContainText('addresses of that domain may not sign in')
  await page.goto('/profile')
  await expect(page.getByRole('heading', { name: 'Sign in to Ingot' })).toBeVisible()
})
