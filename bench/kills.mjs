// A person labels in Chromium while server and browser are killed at random (SIGKILL), and begins again each time. In the end
// everything that was in the journal or sent has to be on the server, once. Prints one line of JSON.
//   node bench/kills.mjs PROGRAM DATA PORT PASSWORD PAGE KILLS SECONDS
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const need = createRequire(fileURLToPath(new URL('../web/package.json', import.meta.url)))
const { chromium } = need('@playwright/test')
const [program, data, port, password, path, most, seconds] = process.argv.slice(2)
const url = `http://127.0.0.1:${port}`
const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
const profile = mkdtempSync(join(tmpdir(), 'ingot-kills-'))
const wait = (ms) => new Promise((done) => setTimeout(done, ms))

let seed = 7
const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 1) / 2 ** 31
const between = (low, high) => low + random() * (high - low)

/** Shapes that the journal had, or that were sent: the journal comes first. */
const safe = new Set()
let server
let context
let page

/** Another program may hold the port for a moment after a kill: it is tried again, and what the server says is shown if that does not help. */
async function serve(tries = 20) {
  server = spawn(program, ['serve', '--data', data, '--listen', `127.0.0.1:${port}`], { stdio: ['ignore', 'ignore', tries > 1 ? 'ignore' : 'inherit'], env: { ...process.env, INGOT_ADMIN_PASSWORD: password } })
  server.ended = new Promise((done) => server.on('exit', done))
  for (;;) {
    if (await fetch(`${url}/api/v1/health`).then((r) => r.ok, () => false)) return
    if (server.exitCode !== null && tries > 1) {
      await wait(500)
      return serve(tries - 1)
    }
    if (server.exitCode !== null) throw new Error('the server ended')
    await wait(50)
  }
}

function sent(text) {
  const message = JSON.parse(text)
  for (const one of message.operations ?? []) if (one.op === 'put') safe.add(one.shape.id)
}

async function browse() {
  rmSync(join(profile, 'SingletonLock'), { force: true })
  context = await chromium.launchPersistentContext(profile, { executablePath: process.env.INGOT_CHROMIUM ?? '/usr/bin/chromium', args: flags, viewport: { width: 1280, height: 800 } })
  page = context.pages()[0] ?? (await context.newPage())
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent(String(payload))))
  page.on('request', (r) => r.method() === 'POST' && r.url().endsWith('/operations') && sent(r.postData() ?? '{}'))
  const signedIn = await page.request.post(`${url}/api/v1/sessions`, { data: { name: 'admin', password }, headers: { Origin: url } })
  if (!signedIn.ok()) throw new Error(await signedIn.text())
  await page.goto(`${url}${path}`)
  await page.locator('.bench-canvas [data-src] canvas').first().waitFor({ state: 'attached', timeout: 60_000 })
  // Chromium's first process; the others end with it.
  context.pid = Number(execFileSync('pgrep', ['-o', '-f', '--', `--user-data-dir=${profile}`]).toString())
}

async function draw() {
  const box = await page.locator('.bench-canvas').boundingBox()
  const [x, y] = [box.x + box.width * between(0.2, 0.6), box.y + box.height * between(0.2, 0.6)]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 30, y + 20)
  await page.mouse.move(x + between(40, 120), y + between(40, 120))
  await page.mouse.up()
}

/** Draws until it is killed; what the journal holds is looked at now and then. */
async function work(until) {
  await page.keyboard.press('b')
  for (let n = 0; Date.now() < until; n += 1) {
    await draw()
    if (n % 3 === 2) for (const id of await page.evaluate(journalled)) safe.add(id)
  }
}

/** Runs in the page: the shapes in its journal. */
async function journalled() {
  const names = (await indexedDB.databases()).map((one) => one.name)
  const all = await Promise.all(names.map((name) => new Promise((done) => {
    const asked = indexedDB.open(name)
    asked.onerror = () => done([])
    asked.onsuccess = () => {
      const stores = [...asked.result.objectStoreNames]
      if (stores.length === 0) return done([])
      const all = stores.map((store) => new Promise((got) => {
        const list = asked.result.transaction(store).objectStore(store).getAll()
        list.onsuccess = () => got(list.result)
        list.onerror = () => got([])
      }))
      void Promise.all(all).then((lists) => {
        asked.result.close()
        done(lists.flat())
      })
    }
  })))
  return all.flat().flatMap((entry) => (entry?.operation?.op === 'put' ? [entry.operation.shape.id] : []))
}

/** Ends at once, without a chance to write anything. */
async function killBrowser() {
  const gone = new Promise((done) => context.on('close', done))
  process.kill(context.pid, 'SIGKILL')
  await gone
}

const end = Date.now() + Number(seconds) * 1000
const killed = { server: 0, browser: 0 }
await serve()
await browse()
while (killed.server + killed.browser < Number(most) && Date.now() < end) {
  const what = random()
  const busy = work(Date.now() + between(300, 3000)).catch(() => undefined)
  await Promise.race([busy, wait(between(200, 3000))])
  if (what < 0.65) {
    server.kill('SIGKILL')
    killed.server += 1
    await server.ended
  }
  if (what > 0.35) {
    await killBrowser()
    killed.browser += 1
  }
  await busy
  if (server.signalCode !== null) await serve()
  if (what > 0.35) await browse()
}
// Once more in peace: what the journal still has is sent.
await page.goto(`${url}${path}`)
await page.locator('.bench-foot').getByText('Saved', { exact: true }).waitFor({ timeout: 120_000 })
const left = await page.evaluate(journalled)
await context.close()
console.log(JSON.stringify({ ...killed, safe: [...safe], left: left.length }))
server.kill('SIGTERM')
await server.ended
rmSync(profile, { recursive: true, force: true })
process.exit(0)
