import type { BrowserContext, Page, Route } from '@playwright/test'

// INGOT_SLOW=SEED makes every page slow in a way that is the same for the same seed: answers of the API and parts of the
// program come up to 0.8 s late and overtake each other, and the page has a quarter of the processor (INGOT_SLOW_CPU says
// how little else). Streams are left alone. What passes at full speed only fails here.
const seed = process.env['INGOT_SLOW']
const longest = 800
export const slowed = seed !== undefined && seed !== ''

/** Numbers from 0 to 1 that depend on the text alone. */
function numbers(text: string): () => number {
  let state = 0
  for (const char of text) state = (Math.imul(state, 31) + char.charCodeAt(0)) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

/** Late on its way to the server, or, what is small, on its way back: then the server has done what was asked. */
async function delay(route: Route, next: () => number): Promise<void> {
  const request = route.request()
  const late = next() * longest
  const type = request.headers()['content-type'] ?? ''
  const back = next() < 0.5 && request.resourceType() === 'fetch' && (type === '' || type.includes('json'))
  try {
    if (!back) {
      await wait(late)
      await route.continue()
      return
    }
    const response = await route.fetch({ maxRedirects: 0, timeout: 0 })
    await wait(late)
    await route.fulfill({ response })
  } catch {
    // The page has gone meanwhile, or it has ended the request itself.
    await route.abort().catch(() => {})
  }
}

/** Delays what the pages of a context ask for. */
export async function slowDown(context: BrowserContext, name: string): Promise<void> {
  if (!slowed) return
  const next = numbers(`${String(seed)} ${name}`)
  const plain = (url: URL) => /^\/(api|assets)\//.test(url.pathname) && !/\/(events|follow)$/.test(url.pathname)
  await context.route(plain, (route) => (route.request().isNavigationRequest() ? route.fallback() : delay(route, next)))
}

export async function throttle(page: Page): Promise<void> {
  if (!slowed) return
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: Number(process.env['INGOT_SLOW_CPU'] ?? 4) })
}
