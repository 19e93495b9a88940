// The release build with a project that has something in each list, and a browser that is signed in: for what looks at all pages.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const { chromium } = createRequire(join(root, 'web/package.json'))('@playwright/test')
const password = 'bench-pages-admin'
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

async function startServer(data) {
  const server = spawn(join(root, 'build/release/ingot'), ['serve', '--data', data, '--listen', '127.0.0.1:0'], { env: { ...process.env, INGOT_ADMIN_PASSWORD: password } })
  const ended = new Promise((done) => server.on('exit', done))
  let said = ''
  server.stdout.on('data', (bytes) => { said += bytes })
  server.stderr.on('data', (bytes) => { said += bytes })
  while (!/ready at (http\S+)/.test(said)) {
    if (server.exitCode !== null) throw new Error(said)
    await rest(50)
  }
  return { url: /ready at (http\S+)/.exec(said)[1], stop: async () => { server.kill('SIGTERM'); await ended } }
}

async function upload(context, project, bytes) {
  const tus = { 'Tus-Resumable': '1.0.0' }
  const made = await context.request.post(`/api/v1/uploads?project=${project}`, { headers: { ...tus, 'Upload-Length': String(bytes.length) } })
  const where = made.headers()['location']
  const sent = await context.request.fetch(where, { method: 'PATCH', data: bytes, headers: { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' } })
  if (sent.status() !== 204) throw new Error(await sent.text())
  return where.split('/').pop()
}

/** What is run with it gets: url, context of the browser, paths of pages. args: more of Chromium's. Everything is gone afterwards. */
export async function withPages(args, run) {
  const data = mkdtempSync(join(tmpdir(), 'ingot-bench-'))
  let server = null
  let context = null
  try {
    server = await startServer(join(data, 'data'))
    const { url } = server
    // The only context of its browser: pages that others open in it are signed in, too.
    context = await chromium.launchPersistentContext(join(data, 'browser'), { executablePath: '/usr/bin/chromium', args: ['--no-sandbox', ...args], baseURL: url, viewport: { width: 1440, height: 900 }, extraHTTPHeaders: { Origin: url } })
    const call = async (method, path, body) => {
      const answer = await context.request.fetch(`/api/v1/${path}`, { method, data: body, timeout: 120_000 })
      if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
      return answer.json()
    }
    await call('POST', 'sessions', { name: 'admin', password })
    const details = await fill(call, (project, bytes) => upload(context, project, bytes))
    const listed = (await call('GET', 'kinds')).items.filter((kind) => kind.verbs.includes('list'))
    const pages = [
      '/home', '/p/pages', '/catalogue', '/admin/resources', '/admin/controllers', '/admin/log', '/docs', ...details,
      ...listed.filter((kind) => kind.scope === 'project').map((kind) => `/p/pages/${kind.plural}`),
      ...listed.filter((kind) => kind.scope === 'platform').map((kind) => `/admin/${kind.plural}`),
    ]
    await run({ url, context, pages })
  } finally {
    await context?.close()
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  }
}
