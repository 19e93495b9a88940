// The curves of two runs of 500,000 points each, over each other, in headless Chromium without a GPU: how long the server takes to
// thin them, the page to open and to look closely, and what the crosshair costs. Needs the release build and web/node_modules.
//   scripts/bench.sh learn points
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadavg, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const { chromium } = createRequire(join(root, 'web/package.json'))('@playwright/test')
const [points, moves, password] = [500_000, 200, 'bench-points-admin']
const command = `awk 'BEGIN { for (i = 1; i <= ${points}; i++) printf "step=%d loss=%.6f\\n", i, 2 / sqrt(i) + rand() / 10 }'`
const rest = (ms) => new Promise((done) => setTimeout(done, ms))

const data = mkdtempSync(join(tmpdir(), 'ingot-bench-'))
const server = spawn(join(root, 'build/release/ingot'), ['serve', '--data', data, '--listen', '127.0.0.1:0'], { env: { ...process.env, INGOT_ADMIN_PASSWORD: password } })
const ended = new Promise((done) => server.on('exit', done))
let said = ''
server.stdout.on('data', (bytes) => { said += bytes })
server.stderr.on('data', (bytes) => { said += bytes })
let browser = null
try {
  while (!/ready at (http\S+)/.test(said)) {
    if (server.exitCode !== null) throw new Error(said)
    await rest(50)
  }
  const url = /ready at (http\S+)/.exec(said)[1]
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 }, extraHTTPHeaders: { Origin: url } })
  const call = async (method, path, body) => {
    const answer = await context.request.fetch(`/api/v1/${path}`, { method, data: body, timeout: 120_000 })
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  await call('POST', 'sessions', { name: 'admin', password })
  const project = (await call('POST', 'projects', { name: 'many' })).id
  const spec = (await call('POST', 'specs', { name: 'bench', cpus: 1, memory: 2 ** 29 })).id
  const training = (await call('POST', 'trainings', { project, name: 'long', spec, command })).id
  const ids = []
  for (let i = 0; i < 2; i += 1) ids.push((await call('POST', `trainings/${training}/start`, {})).id)
  for (const id of ids) {
    for (;;) {
      const run = await call('GET', `trainings/${training}/instances/${id}`)
      if (run.state === 'failed') throw new Error(JSON.stringify(run.cause))
      if (run.summary?.metrics?.loss?.points === points) break
      await rest(300)
    }
  }

  const thinned = []
  for (const stretch of ['', '&from=1000&to=400000', '&from=1001&to=200000', '&from=5&to=9000']) {
    const begun = performance.now()
    await call('GET', `trainings/${training}/instances/${ids[0]}/metrics?points=1000${stretch}`)
    thinned.push(Math.round(performance.now() - begun))
  }
  const page = await context.newPage()
  let begun = performance.now()
  await page.goto(`/p/many/runs/compare?runs=${ids.join(',')}`)
  await page.locator('figure .chart-line').nth(1).waitFor({ timeout: 120_000 })
  const opened = Math.round(performance.now() - begun)

  const cdp = await context.newCDPSession(page)
  await cdp.send('Performance.enable')
  const used = async () => Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map((one) => [one.name, one.value]))
  const box = await page.locator('figure svg').first().boundingBox()
  const before = await used()
  for (let i = 0; i < moves; i += 1) await page.mouse.move(box.x + 70 + ((box.width - 90) * i) / moves, box.y + 60)
  const after = await used()
  const per = (name) => (((after[name] - before[name]) * 1000) / moves).toFixed(1)

  await page.mouse.move(box.x + box.width * 0.4, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 3 })
  const answered = page.waitForResponse(/metrics\?.*from=/)
  begun = performance.now()
  await page.mouse.up()
  await (await answered).finished()
  const zoomed = Math.round(performance.now() - begun)
  console.log(`one run thinned to 1,000, the whole and three stretches: ${thinned.join(', ')} ms`)
  console.log(`the page of both opened until their curves are there: ${opened} ms; a stretch looked at closely: ${zoomed} ms`)
  console.log(`crosshair, each move: ${per('TaskDuration')} ms of the main thread, ${per('ScriptDuration')} ms of script`)
  console.log(`load average: ${loadavg()[0].toFixed(1)}`)
} finally {
  await browser?.close()
  server.kill('SIGTERM')
  await ended
  rmSync(data, { recursive: true, force: true })
}
