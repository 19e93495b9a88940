// The annotation canvas in headless Chromium: main-thread script per frame while panning, zooming and dragging one of
// 1,000 and 10,000 polygons of 20 points, and the time to open a sample.
//   node bench/canvas.mjs [--screens FOLDER]      needs web/node_modules and Chromium ($INGOT_CHROMIUM)
import { createRequire } from 'node:module'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const web = fileURLToPath(new URL('../web/', import.meta.url))
const need = createRequire(`${web}package.json`)
const { chromium } = need('@playwright/test')
const { build } = createRequire(need.resolve('vite'))('esbuild')
const screens = process.argv.includes('--screens') ? process.argv[process.argv.indexOf('--screens') + 1] : null

const bundle = await build({ entryPoints: [`${web}src/canvas/index.ts`], bundle: true, format: 'iife', globalName: 'canvasPackage', write: false, target: 'es2022', minify: true })
const browser = await chromium.launch({ executablePath: process.env.INGOT_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
page.on('pageerror', (e) => { console.error(e); process.exitCode = 1 })
await page.setContent('<!doctype html><body style="margin:0;background:#e8eaea"><div id="host" style="position:absolute;inset:0"></div>')
await page.addScriptTag({ content: bundle.outputFiles[0].text })
await page.evaluate(setUp)
const cdp = await page.context().newCDPSession(page)
// CPU of the main thread: on a busy machine wall time says who got a core.
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
const metric = async () => Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map((m) => [m.name, m.value]))

console.log('| polygons | what | frames | script p50 ms | script p95 ms | worst ms | CPU of the main thread per frame ms |')
console.log('|---|---|---|---|---|---|---|')
for (const count of [1_000, 10_000]) {
  const opened = []
  const start = await metric()
  for (let i = 0; i < 5; i += 1) opened.push(await page.evaluate((n) => openWith(n), count))
  const cpu = (((await metric()).TaskDuration - start.TaskDuration) * 1000) / 5
  for (const what of ['pan', 'zoom', 'drag']) {
    await page.evaluate((n) => openWith(n), count)
    const place = what === 'drag' ? await page.evaluate(() => dragPlace()) : { x: 640, y: 400 }
    await page.evaluate(() => window.startFrames())
    const before = await metric()
    await page.mouse.move(place.x, place.y)
    if (what === 'pan') await page.mouse.down({ button: 'middle' })
    if (what === 'drag') await page.mouse.down()
    for (let i = 0; i < 120; i += 1) {
      if (what === 'zoom') await page.mouse.wheel(0, i % 60 < 30 ? -60 : 60)
      else await page.mouse.move(place.x + Math.sin(i / 9) * 220, place.y + Math.cos(i / 7) * 150)
    }
    await page.mouse.up(what === 'pan' ? { button: 'middle' } : {})
    const after = await metric()
    const times = (await page.evaluate(() => window.stopFrames())).sort((a, b) => a - b)
    const at = (q) => (times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0).toFixed(1)
    const whole = ((after.TaskDuration - before.TaskDuration) * 1000) / Math.max(1, times.length)
    console.log(`| ${count} | ${what} | ${times.length} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${whole.toFixed(1)} |`)
  }
  opened.sort((a, b) => a - b)
  console.log(`| ${count} | open until all is painted | 5 | ${opened[2].toFixed(0)} | ${opened[4].toFixed(0)} | ${opened[4].toFixed(0)} | ${cpu.toFixed(0)} in all |`)
}
if (screens) {
  mkdirSync(screens, { recursive: true })
  for (const theme of ['light', 'dark']) {
    await page.evaluate((t) => showAll(t), theme)
    await page.screenshot({ path: `${screens}/canvas-${theme}.png` })
  }
  await page.evaluate(() => openWith(10_000))
  await page.screenshot({ path: `${screens}/canvas-10000.png` })
}
await browser.close()

/** Runs in the page. Script per frame is the time in our frame callbacks and in our listeners before them. */
function setUp() {
  let spent = 0
  let frames = []
  let on = false
  const timed = (fn) => function (...args) {
    const t = performance.now()
    try { return fn.apply(this, args) } finally { spent += performance.now() - t }
  }
  const raf = window.requestAnimationFrame.bind(window)
  let [asked, lastFrame] = [0, 0]
  window.requestAnimationFrame = (fn) => {
    asked += 1
    return raf((t) => {
      timed(fn)(t)
      lastFrame = performance.now()
      if (on) frames.push(spent)
      spent = 0
    })
  }
  const listen = EventTarget.prototype.addEventListener
  EventTarget.prototype.addEventListener = function (type, fn, how) { return listen.call(this, type, typeof fn === 'function' ? timed(fn) : fn, how) }
  window.startFrames = () => { frames = []; spent = 0; on = true }
  window.stopFrames = () => { on = false; return frames }

  const { createCanvas, createDocument } = window.canvasPackage
  const [width, height] = [4000, 3000]
  const colors = ['#e11d48', '#2563eb', '#16a34a', '#d97706', '#7c3aed', '#0891b2', '#be185d', '#4d7c0f']
  const people = ['nose', 'left_eye', 'right_eye', 'left_shoulder', 'right_shoulder', 'left_elbow', 'right_elbow', 'left_wrist', 'right_wrist', 'left_hip', 'right_hip', 'left_knee', 'right_knee', 'left_ankle', 'right_ankle']
  const labels = colors.map((color, i) => ({ name: `label ${i}`, color, skeleton: { keypoints: people, edges: [[0, 1], [0, 2], [3, 4], [3, 5], [5, 7], [4, 6], [6, 8], [3, 9], [4, 10], [9, 10], [9, 11], [11, 13], [10, 12], [12, 14]] } }))
  const sheet = document.createElement('canvas')
  sheet.width = width / 4
  sheet.height = height / 4
  const ink = sheet.getContext('2d')
  for (let i = 0; i < 400; i += 1) {
    ink.fillStyle = `hsl(${(i * 47) % 360} 25% ${40 + (i % 40)}%)`
    ink.fillRect((i * 131) % sheet.width, (i * 71) % sheet.height, 160, 120)
  }
  const url = sheet.toDataURL('image/jpeg')
  const shapes = (n) => Array.from({ length: n }, (_, i) => {
    const side = Math.sqrt((width * height) / n)
    const cols = Math.floor(width / side)
    const [cx, cy] = [((i % cols) + 0.5) * side, (Math.floor(i / cols) % Math.floor(height / side) + 0.5) * side]
    const ring = []
    for (let k = 0; k < 20; k += 1) {
      const r = side * (0.4 + 0.15 * Math.sin(k * 2.3 + i))
      ring.push(Math.round((cx + r * Math.cos((k * Math.PI) / 10)) * 100) / 100, Math.round((cy + r * Math.sin((k * Math.PI) / 10)) * 100) / 100)
    }
    return { id: `s${i}`, type: 'polygon', label: `label ${i % 8}`, rings: [ring] }
  })
  let canvas = createCanvas(document.getElementById('host'), { onEvent: () => undefined })
  let opened = null
  // Painted when the canvas has asked for no frame for a while.
  const settled = (since) => new Promise((done) => {
    let [idle, seen] = [0, asked]
    const look = () => {
      idle = seen === asked ? idle + 1 : 0
      seen = asked
      if (idle > 3) done(lastFrame - since)
      else raf(look)
    }
    raf(look)
  })
  window.openWith = async (n) => {
    const annotation = { shapes: shapes(n) }
    canvas.tool('select')
    canvas.view.set({ theme: 'light', grid: 0, minimap: true })
    const since = performance.now()
    opened = createDocument({ annotation, type: 'segmentation', width, height })
    canvas.open({ picture: { url, width, height }, document: opened, labels })
    return settled(since)
  }
  window.dragPlace = () => {
    const shape = opened.shapes[Math.floor(opened.shapes.length / 2) + 30]
    const [xs, ys] = [0, 1].map((o) => shape.rings[0].filter((_, i) => i % 2 === o))
    return canvas.view.toScreen((Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2)
  }
  window.showAll = async (theme) => {
    document.body.style.background = theme === 'dark' ? '#0c0f10' : '#e8eaea'
    const ring = (x, y, r, n = 24) => Array.from({ length: n }, (_, k) => [x + r * Math.cos((k * 2 * Math.PI) / n), y + r * (1 + 0.2 * Math.sin(k)) * Math.sin((k * 2 * Math.PI) / n)]).flat()
    const all = [
      { id: 'a', type: 'polygon', label: 'label 0', rings: [ring(900, 900, 500)], holes: [ring(900, 900, 200)] },
      { id: 'b', type: 'polygon', label: 'label 1', rings: [ring(2100, 800, 420)] },
      { id: 'c', type: 'box', label: 'label 2', x: 2700, y: 500, w: 700, h: 500, score: 0.87 },
      { id: 'd', type: 'box', label: 'label 3', x: 400, y: 1800, w: 900, h: 500, angle: 20, text: 'Straße 12' },
      { id: 'e', type: 'keypoints', label: 'label 4', points: people.map((_, i) => [2000 + ((i * 7) % 5) * 120, 1600 + i * 70, i % 4 === 0 ? 1 : 2]) },
      { id: 'f', type: 'polygon', label: 'label 5', rings: [[3000, 1800, 3600, 1800, 3600, 2500, 3000, 2500], [3650, 1900, 3900, 1900, 3900, 2300]] },
      { id: 'broken', type: 'polygon', label: 'label 6', rings: [[NaN, 1, 2, 3, 4, Infinity]] },
      { id: 'flat', type: 'box', label: 'label 6', x: 5, y: 5, w: 0, h: 0 },
    ]
    opened = createDocument({ annotation: { shapes: all }, type: 'ocr', width, height })
    canvas.open({ picture: { url, width, height }, document: opened, labels })
    canvas.view.set({ theme, grid: 250, minimap: true, names: true, texts: true })
    canvas.selection = ['d']
    canvas.others([{ client: 'x', name: 'Wang Li', color: '#be185d', x: 2300, y: 1200, selection: ['b'] }])
    canvas.marks([{ id: 'n1', shape: 'c', kind: 'rejected' }, { id: 'n2', x: 1500, y: 2600, kind: 'note' }])
    await settled(performance.now())
  }
}
