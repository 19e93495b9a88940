// The canvas alone on an empty page: what mouse, fingers and tiles do, which units cannot show.
import { expect, test, type Page } from '@playwright/test'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import type * as CanvasPackage from '../../web/src/canvas'

type Package = typeof CanvasPackage
interface Held {
  canvasPackage: Package
  canvas: ReturnType<Package['createCanvas']>
  opened: ReturnType<Package['createDocument']>
  told: unknown[]
}

const web = resolve(__dirname, '../../web')
let script = ''

test.beforeAll(async () => {
  const need = createRequire(`${web}/package.json`)
  const { build } = createRequire(need.resolve('vite'))('esbuild') as typeof import('esbuild')
  const made = await build({ entryPoints: [`${web}/src/canvas/index.ts`], bundle: true, format: 'iife', globalName: 'canvasPackage', write: false, target: 'es2022' })
  script = made.outputFiles[0]?.text ?? ''
})

/** A picture of 1000 x 600 in a window of 1032 x 632: one pixel is one pixel, the corner at 16, 16. */
async function open(page: Page, type: CanvasPackage.AnnotationType, shapes: unknown[], tiles?: { width: number; height: number }): Promise<void> {
  await page.setViewportSize({ width: 1032, height: 632 })
  await page.route('**/canvas-test/**', (route) =>
    route.request().url().endsWith('.svg')
      ? route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#789"/></svg>' })
      : route.fulfill({ contentType: 'text/html', body: '<!doctype html><body style="margin:0"><div id="host" style="position:absolute;inset:0"></div>' }))
  await page.goto('http://127.0.0.1/canvas-test/page')
  await page.addScriptTag({ content: script })
  await page.evaluate(([kind, list, tiled]) => {
    const w = window as unknown as Held
    const size = tiled ?? { width: 1000, height: 600 }
    w.told = []
    w.canvas = w.canvasPackage.createCanvas(document.getElementById('host') as HTMLElement, { onEvent: (e) => w.told.push(e) })
    w.opened = w.canvasPackage.createDocument({ annotation: { shapes: list as CanvasPackage.Shape[] }, type: kind, ...size })
    w.canvas.open({
      picture: tiled ? { ...size, tiles: (level, x, y) => `/canvas-test/${level}-${x}-${y}.svg` } : { ...size, url: '/canvas-test/one.svg' },
      document: w.opened,
      labels: [{ name: 'cat', color: '#ff0000' }],
    })
    w.canvas.label('cat')
  }, [type, shapes, tiles] as const)
}

const shapes = (page: Page): Promise<CanvasPackage.BoxShape[]> => page.evaluate(() => (window as unknown as Held).opened.shapes as CanvasPackage.BoxShape[])
/** How much of what lies below is covered at a place of the window, 0 to 255, by the layer that covers it most. */
const ink = (page: Page, x: number, y: number): Promise<number> => page.evaluate(([px, py]) =>
  Math.max(...[...document.querySelectorAll('canvas')].map((c) => {
    const r = c.getBoundingClientRect()
    if (c.style.display === 'none' || r.width === 0) return 0
    const k = c.width / r.width
    return c.getContext('2d')?.getImageData(Math.round((px - r.left) * k), Math.round((py - r.top) * k), 1, 1).data[3] ?? 0
  })), [x, y] as const)
const inked = async (page: Page, x: number, y: number): Promise<boolean> => (await ink(page, x, y)) > 0

test('a box is drawn, moved and taken back by the mouse, and is seen', async ({ page }) => {
  await open(page, 'detection', [{ id: 'a', type: 'box', label: 'cat', x: 500, y: 300, w: 100, h: 100 }])
  await expect.poll(() => inked(page, 516 + 50, 316 + 50)).toBe(true)
  expect(await inked(page, 716, 516)).toBe(false)
  // How much is filled: all alike, a label otherwise, one shape otherwise than its label.
  for (const [fills, covered] of [[[], 51], [[['label:cat', 1]], 255], [[['label:cat', 1], ['a', 0]], 0]] as const) {
    await page.evaluate((list) => (window as unknown as Held).canvas.view.set({ fills: new Map(list as [string, number][]) }), fills)
    await expect.poll(() => ink(page, 566, 366)).toBe(covered)
  }
  await page.evaluate(() => (window as unknown as Held).canvas.tool('box'))
  await page.mouse.move(116, 116)
  await page.mouse.down()
  await page.mouse.move(216, 166, { steps: 5 })
  await page.mouse.up()
  expect((await shapes(page))[1]).toMatchObject({ type: 'box', label: 'cat', x: 100, y: 100, w: 100, h: 50 })
  await page.evaluate(() => (window as unknown as Held).canvas.tool('select'))
  await page.mouse.move(166, 141)
  await page.mouse.down()
  await page.mouse.move(196, 241, { steps: 5 })
  await page.mouse.up()
  expect((await shapes(page))[1]).toMatchObject({ x: 130, y: 200, w: 100, h: 50 })
  await page.evaluate(() => { (window as unknown as Held).canvas.selection = [] })
  await expect.poll(() => inked(page, 196, 241)).toBe(true)
  await page.evaluate(() => (window as unknown as Held).canvas.command('undo') && (window as unknown as Held).canvas.command('undo'))
  expect(await shapes(page)).toHaveLength(1)
  await expect.poll(() => inked(page, 196, 241)).toBe(false)
  await page.evaluate(() => (window as unknown as Held).canvas.close())
  await expect(page.locator('#host > *')).toHaveCount(0)
})

test('the wheel and two fingers scale about where they are, the middle button moves', async ({ page }) => {
  await open(page, 'detection', [])
  const view = (): Promise<CanvasPackage.Viewport> => page.evaluate(() => (window as unknown as Held).canvas.view.viewport)
  await page.mouse.move(216, 116)
  await page.mouse.wheel(0, -300)
  await expect.poll(async () => (await view()).scale).toBeGreaterThan(1.5)
  const near = await view()
  expect((216 - near.x) / near.scale).toBeCloseTo(200)
  expect((116 - near.y) / near.scale).toBeCloseTo(100)
  await page.mouse.down({ button: 'middle' })
  await page.mouse.move(246, 126)
  await page.mouse.up({ button: 'middle' })
  expect((await view()).x).toBeCloseTo(near.x + 30)

  const before = await view()
  const cdp = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: number[][]): Promise<unknown> =>
    cdp.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x: x as number, y: y as number, id })) })
  await touch('touchStart', [[400, 300], [600, 300]])
  await touch('touchMove', [[350, 300], [650, 300]])
  await touch('touchEnd', [])
  await expect.poll(async () => (await view()).scale / before.scale).toBeCloseTo(1.5)
  expect(await shapes(page)).toHaveLength(0)
})

test('of a picture of 400 megapixels only the tiles in sight are fetched', async ({ page }) => {
  const asked: string[] = []
  page.on('request', (r) => void (r.url().endsWith('.svg') && asked.push(r.url().replace(/.*\//, ''))))
  await open(page, 'detection', [], { width: 20_000, height: 20_000 })
  await expect.poll(() => asked.length).toBeGreaterThan(4)
  await expect(page.locator('img[src$="7-0-0.svg"]')).toHaveCount(1)
  expect(asked.every((a) => Number(a.split('-')[0]) >= 4)).toBe(true)
  const before = asked.length
  await page.evaluate(() => (window as unknown as Held).canvas.view.zoomTo(1))
  await expect.poll(() => asked.filter((a) => a.startsWith('0-')).length).toBeGreaterThan(10)
  expect(asked.length - before).toBeLessThan(50)
  // Nothing of the coarse level is kept but the one tile with the whole picture.
  await expect.poll(() => page.locator('img').count()).toBeLessThan(40)
})
