// The same hand in the workbench and in Label Studio, in headless Chromium: on each of COUNT pictures BOXES boxes, a third of them of
// another label, PACE milliseconds after each, then on to the next picture. Prints one line of JSON: the main thread's time and the bytes that were sent while it worked.
//   node bench/peer_label.mjs ingot|studio URL USER PASSWORD PAGE COUNT BOXES [PACE]
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const need = createRequire(fileURLToPath(new URL('../web/package.json', import.meta.url)))
const { chromium } = need('@playwright/test')
const [what, url, user, password, path, pictures, boxes, pace = '0'] = process.argv.slice(2)
const wait = (ms) => new Promise((done) => setTimeout(done, ms))

const sites = {
  ingot: {
    signIn: async (page) => {
      const answer = await page.request.post(`${url}/api/v1/sessions`, { data: { name: user, password }, headers: { Origin: url } })
      if (!answer.ok()) throw new Error(await answer.text())
    },
    ready: async (page) => {
      await page.locator('.bench-canvas [data-src] canvas').first().waitFor({ state: 'attached' })
      await page.locator('.bench-foot').getByText('Saved', { exact: true }).waitFor()
    },
    picture: (page) => page.locator('.bench-canvas [data-src]'),
    /** The shapes that the page lists. */
    drawn: (page) => page.getByRole('region', { name: 'Objects' }).locator('h2 .num').innerText().then((text) => Number(text.replace(/\D/g, ''))),
    before: async (page) => page.keyboard.press('b'),
    label: (page, second) => page.keyboard.press(second ? '2' : '1'),
    next: async (page) => {
      await page.locator('.bench-foot').getByText('Saved', { exact: true }).waitFor()
      const name = await page.locator('h1').first().innerText()
      await page.keyboard.press('d')
      await page.waitForFunction((old) => document.querySelector('h1')?.textContent !== old, name)
    },
    end: async (page) => page.locator('.bench-foot').getByText('Saved', { exact: true }).waitFor(),
  },
  studio: {
    signIn: async (page) => {
      await page.goto(`${url}/user/login/`)
      await page.locator('input[name=email]').fill(user)
      await page.locator('input[name=password]').fill(password)
      await page.locator('button[type=submit]').first().click()
      await page.waitForURL((to) => !to.pathname.includes('login'))
    },
    ready: async (page) => {
      await page.locator('.lsf-image canvas, [class*=image] canvas').first().waitFor({ timeout: 120_000 })
      await wait(1500)
    },
    picture: (page) => page.locator('img[alt=LS], [class*=image-element] img, .konvajs-content').first(),
    drawn: (page) => page.evaluate(() => window.Htx?.annotationStore?.selected?.regions?.length ?? 0),
    before: async () => undefined,
    label: (page, second) => page.keyboard.press(second ? '2' : '1'),
    next: async (page) => {
      const task = () => page.evaluate(() => window.Htx?.task?.id)
      const old = await task()
      await page.keyboard.press('Control+Enter')
      await page.waitForFunction((id) => window.Htx?.task?.id !== id && window.Htx?.annotationStore?.selected, old, { timeout: 60_000 })
      await wait(500)
    },
    end: async (page) => page.keyboard.press('Control+Enter').then(() => wait(3000)),
  },
}

/** Bytes of requests (line, headers, body) and of messages of sockets. */
async function watchBytes(cdp) {
  let sent = 0
  await cdp.send('Network.enable')
  cdp.on('Network.requestWillBeSentExtraInfo', ({ headers }) => {
    for (const [name, value] of Object.entries(headers)) sent += name.length + value.length + 4
  })
  cdp.on('Network.requestWillBeSent', ({ request }) => {
    sent += request.url.length + 16
    for (const part of request.postDataEntries ?? []) sent += Buffer.from(part.bytes ?? '', 'base64').length
  })
  cdp.on('Network.webSocketFrameSent', ({ response }) => {
    sent += Buffer.byteLength(response.payloadData) + 8
  })
  return () => sent
}

const site = sites[what]
const browser = await chromium.launch({ executablePath: process.env.INGOT_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
page.setDefaultTimeout(120_000)
// Nothing of a peer's telephones home: only its own server is measured.
await page.route((to) => !to.href.startsWith(url) && to.protocol.startsWith('http'), (route) => route.abort())
const cdp = await page.context().newCDPSession(page)
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
await site.signIn(page)
await page.goto(`${url}${path}`)
await site.ready(page)
const cpu = async () => (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value
const bytes = await watchBytes(cdp)
const begun = await cpu()
const counts = []
for (let i = 0; i < Number(pictures); i += 1) {
  await site.before(page)
  const box = await site.picture(page).boundingBox()
  if (!box) throw new Error('no picture')
  for (let k = 0; k < Number(boxes); k += 1) {
    // Ten to a row, none over another: each is drawn, none is moved.
    const [x, y] = [box.x + box.width * (0.03 + 0.096 * (k % 10)), box.y + box.height * (0.05 + 0.18 * Math.floor(k / 10))]
    await site.label(page, k % 3 === 2)
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + box.width * 0.03, y + box.height * 0.05)
    await page.mouse.move(x + box.width * 0.07, y + box.height * 0.12)
    await page.mouse.up()
    if (Number(pace) > 0) await wait(Number(pace))
  }
  counts.push(await site.drawn(page))
  if (process.env.INGOT_SCREENS) await page.screenshot({ path: `${process.env.INGOT_SCREENS}/${what}-${i}.png` })
  await (i + 1 < Number(pictures) ? site.next(page) : site.end(page))
}
console.log(JSON.stringify({ counts, seconds: (await cpu()) - begun, sent: bytes() }))
await browser.close()
process.exit(0)
