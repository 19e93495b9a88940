// The workbench in headless Chromium, against a server that bench/label.py has filled. Prints one line of JSON.
//   node bench/workbench.mjs next|memory URL PASSWORD PAGE COUNT
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const need = createRequire(fileURLToPath(new URL('../web/package.json', import.meta.url)))
const { chromium } = need('@playwright/test')
const program = process.env.INGOT_CHROMIUM ?? '/usr/bin/chromium'
const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
const size = { width: 1280, height: 800 }
const [what, url, password, path, times] = process.argv.slice(2)
const count = Number(times)

const signIn = async (page) => {
  const answer = await page.request.post(`${url}/api/v1/sessions`, { data: { name: 'admin', password }, headers: { Origin: url } })
  if (!answer.ok()) throw new Error(await answer.text())
}
const opened = async (page) => {
  await page.goto(`${url}${path}`)
  await page.locator('.bench-canvas [data-src] canvas').first().waitFor({ state: 'attached' })
  await page.locator('.film-cell[aria-current] img').waitFor()
}
const at = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))]

/** Runs in the page: the time from a key to the frame that has the next picture, which the browser has decoded. */
function watchNext() {
  window.shownAfter = []
  const now = () => document.querySelector('.bench-canvas [data-src]')?.dataset.src
  document.addEventListener('keydown', () => {
    const [begun, before] = [performance.now(), now()]
    const look = () => {
      const bitmap = document.querySelector('.bench-canvas [data-src] canvas')
      if (bitmap && now() !== before) window.shownAfter.push(performance.now() - begun)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  }, true)
}

async function withPage(work) {
  const browser = await chromium.launch({ executablePath: program, args: flags })
  const page = await browser.newPage({ viewport: size })
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  const cpu = async () => (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value
  try {
    await signIn(page)
    await opened(page)
    return await work(page, cpu, browser)
  } finally {
    await browser.close()
  }
}

const parts = {
  next: () => withPage(async (page, cpu) => {
    await page.evaluate(watchNext)
    const begun = await cpu()
    for (let i = 0; i < count; i += 1) {
      await page.keyboard.press('d')
      await page.waitForFunction((n) => window.shownAfter.length > n, i)
      await page.waitForTimeout(300) // a person looks at it; its neighbours come meanwhile
    }
    const times = await page.evaluate(() => window.shownAfter)
    return { p50: at(times, 0.5), p95: at(times, 0.95), worst: at(times, 1), cpu: ((await cpu()) - begun) * 1000 / count }
  }),
  memory: () => withPage(async (page, cpu, browser) => {
    await page.evaluate(watchNext)
    const own = async () => {
      const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo')
      const sizes = processInfo.filter((p) => p.type === 'renderer').map(({ id }) => {
        const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8')
        return [...text.matchAll(/^Private_\w+:\s+(\d+) kB/gm)].reduce((sum, m) => sum + Number(m[1]), 0) / 1024
      })
      return Math.max(...sizes)
    }
    const first = await own()
    for (let i = 0; i < count; i += 1) {
      await page.keyboard.press('d')
      await page.waitForFunction((n) => window.shownAfter.length > n, i)
    }
    return { first, after: await own() }
  }),
}

console.log(JSON.stringify(await parts[what]()))
process.exit(0)
