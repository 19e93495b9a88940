// How quickly pages come: first paint and bytes of a first load, and how long a change of page takes once everything was opened
// before, over all pages of a project with something in each list and of the administration. In headless Chromium without a GPU.
// CPU time of the main thread stands beside the wall clock, as a busy machine delays the one more than the other. Needs the release
// build and web/node_modules.
//   scripts/bench.sh pages [ROUNDS]
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadavg, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const { chromium } = createRequire(join(root, 'web/package.json'))('@playwright/test')
const [rounds, password, patience] = [Number(process.argv[2] ?? 5), 'bench-pages-admin', 30_000]
const rest = (ms) => new Promise((done) => setTimeout(done, ms))

/** A picture in one colour: a PNG of 320 x 240. */
function picture(seed) {
  const crc = (bytes) => {
    let c = -1
    for (const byte of bytes) {
      c ^= byte
      for (let k = 0; k < 8; k += 1) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1
    }
    return (c ^ -1) >>> 0
  }
  const part = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data])
    const around = Buffer.alloc(8)
    around.writeUInt32BE(data.length, 0)
    around.writeUInt32BE(crc(body), 4)
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
  }
  const head = Buffer.from([0, 0, 1, 64, 0, 0, 0, 240, 8, 2, 0, 0, 0])
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(960, 40 + ((seed * 37) % 200))])
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), part('IHDR', head), part('IDAT', deflateSync(Buffer.concat(Array(240).fill(row)))), part('IEND', Buffer.alloc(0))])
}

/** Waits until something has ended well. */
async function over(call, path, wanted) {
  for (;;) {
    const { state } = await call('GET', path)
    if (state === wanted) return
    if (['failed', 'cancelled', 'stopped'].includes(state)) throw new Error(`${path} is ${state}`)
    await rest(200)
  }
}

/** Something in each list, and the pages of one of each. */
async function fill(call, send) {
  const project = (await call('POST', 'projects', { name: 'pages' })).id
  const spec = (await call('POST', 'specs', { name: 'bench-pages', cpus: 0.2, memory: 2 ** 28 })).id
  const set = (await call('POST', 'label-sets', { project, name: 'roads', labels: [{ name: 'car', color: '#e5484d' }, { name: 'person', color: '#0090ff' }] })).id
  for (let i = 0; i < 20; i += 1) await call('POST', 'label-sets', { project, name: `set ${i}`, labels: [{ name: 'a', color: '#112233' }] })
  const dataset = (await call('POST', 'datasets', { project, name: 'streets', label_set: set })).id
  const version = (await call('POST', `datasets/${dataset}/versions`, {})).id
  const uploads = []
  for (let i = 0; i < 40; i += 1) uploads.push({ upload: await send(project, picture(i)), name: `${i}.png` })
  await over(call, `tasks/${(await call('POST', `datasets/${dataset}/versions/${version}/import`, { uploads })).id}`, 'done')
  const training = (await call('POST', 'trainings', { project, name: 'count', spec, command: 'for i in $(seq 200); do echo "step=$i loss=0.$i"; done' })).id
  const run = (await call('POST', `trainings/${training}/start`, {})).id
  const job = (await call('POST', 'jobs', { project, name: 'echo', spec, command: 'echo done' })).id
  const algorithm = (await call('POST', 'algorithm-sets', { project, name: 'code' })).id
  await call('POST', `algorithm-sets/${algorithm}/versions`, {})
  const model = (await call('POST', 'model-sets', { project, name: 'weights' })).id
  await call('POST', `model-sets/${model}/versions`, {})
  await over(call, `trainings/${training}/instances/${run}`, 'completed')
  return [`label-sets/${set}`, `datasets/${dataset}`, `datasets/${dataset}?tab=statistics`, `datasets/${dataset}?tab=import`, `trainings/${training}`, `trainings/${training}/instances/${run}`, `jobs/${job}`, `algorithm-sets/${algorithm}`, `model-sets/${model}`, 'runs', 'my-tasks']
    .map((path) => `/p/pages/${path}`)
}

/** Runs in the page: goes to a page as a link does, until it shows all of itself and that was drawn. */
function change([url, patience]) {
  return new Promise((done, fail) => {
    const before = document.title
    const begun = performance.now()
    const there = () => document.title !== before && !document.querySelector('[aria-busy="true"]') && document.querySelector('main h1, main h2')
    let drawn = false
    const watch = new MutationObserver(look)
    const late = setTimeout(() => { watch.disconnect(); fail(new Error(`${url} did not come`)) }, patience)
    function look() {
      if (drawn || !there()) return
      drawn = true
      requestAnimationFrame(() => setTimeout(() => {
        drawn = false
        if (!there()) return
        watch.disconnect()
        clearTimeout(late)
        done(performance.now() - begun)
      }))
    }
    watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
    history.pushState(null, '', url)
    dispatchEvent(new PopStateEvent('popstate', { state: null }))
    look()
  })
}

const kb = (bytes) => (bytes / 1024).toFixed(0)
const at = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0

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
  const send = async (project, bytes) => {
    const tus = { 'Tus-Resumable': '1.0.0' }
    const made = await context.request.post(`/api/v1/uploads?project=${project}`, { headers: { ...tus, 'Upload-Length': String(bytes.length) } })
    const where = made.headers()['location']
    const sent = await context.request.fetch(where, { method: 'PATCH', data: bytes, headers: { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' } })
    if (sent.status() !== 204) throw new Error(await sent.text())
    return where.split('/').pop()
  }
  const details = await fill(call, send)
  const kinds = (await call('GET', 'kinds')).items
  const listed = kinds.filter((kind) => kind.verbs.includes('list'))
  const pages = [
    '/home', '/p/pages', '/catalogue', '/admin/resources', '/admin/controllers', '/admin/log', '/docs', ...details,
    ...listed.filter((kind) => kind.scope === 'project').map((kind) => `/p/pages/${kind.plural}`),
    ...listed.filter((kind) => kind.scope === 'platform').map((kind) => `/admin/${kind.plural}`),
  ]

  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  await devtools.send('Network.enable')
  const busy = async () => (await devtools.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value * 1000
  const bytes = { files: 0, answers: 0, font: 0 }
  const types = new Map()
  devtools.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type))
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => { bytes[{ Font: 'font', Fetch: 'answers', EventSource: 'answers' }[types.get(requestId)] ?? 'files'] += encodedDataLength })
  await page.goto('/p/pages')
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('[aria-busy="true"]'), null, { timeout: patience })
  const first = { ...bytes }
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)

  const found = new Map(pages.map((path) => [path, { wall: [], thread: [] }]))
  for (let round = -1; round < rounds; round += 1) {
    for (const [path, row] of found) {
      await page.evaluate(change, ['/profile', patience])
      const spent = await busy()
      const wall = await page.evaluate(change, [path, patience])
      if (round >= 0) {
        row.wall.push(wall)
        row.thread.push((await busy()) - spent)
      }
    }
  }
  const rows = [...found].map(([path, { wall, thread }]) => ({ path, wall: at(wall, 0.5), thread: at(thread, 0.5) })).sort((a, b) => b.wall - a.wall)
  for (const row of rows.slice(0, 8)) console.log(`  ${row.path}: ${row.wall.toFixed(0)} ms, ${row.thread.toFixed(0)} ms on the main thread`)
  const all = (name) => [...found.values()].flatMap((row) => row[name])
  console.log(`first paint ${paint.toFixed(0)} ms; first load ${kb(first.files)} KB of files, ${kb(first.answers)} KB of answers and ${kb(first.font)} KB of font`)
  console.log(`page change over ${pages.length} pages x ${rounds}: p50 ${at(all('wall'), 0.5).toFixed(0)} ms, p95 ${at(all('wall'), 0.95).toFixed(0)} ms; on the main thread p50 ${at(all('thread'), 0.5).toFixed(0)} ms, p95 ${at(all('thread'), 0.95).toFixed(0)} ms`)
  console.log(`load average ${loadavg()[0].toFixed(1)}`)
} finally {
  await browser?.close()
  server.kill('SIGTERM')
  await ended
  rmSync(data, { recursive: true, force: true })
}
