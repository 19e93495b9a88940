import { clickPixels, drag, objects, pictures, samples, saved, shown, type Data, type Shape } from './bench'
import { expect, signInAsAdmin, test, type Api } from './fixtures'

// What is drawn by points: polygons with holes, and skeletons. The server has the points that were clicked.

const shapes = async (api: Api, { set, version }: Data): Promise<Shape[]> => (await samples(api, set, version))[0]?.annotation.shapes ?? []

/** The area of rings less that of holes. */
function area({ rings = [], holes = [] }: Shape): number {
  const one = (ring: number[]) => Math.abs(ring.reduce((sum, x, i) => (i % 2 === 1 ? sum : sum + x * (ring[(i + 3) % ring.length] as number) - (ring[(i + 2) % ring.length] as number) * (ring[i + 1] as number)), 0)) / 2
  return rings.reduce((sum, ring) => sum + one(ring), 0) - holes.reduce((sum, ring) => sum + one(ring), 0)
}

/** Whether each of the points is a corner, within a pixel and a half. */
function hasCorners(ring: number[] | undefined, points: [number, number][]): boolean {
  return points.every(([x, y]) => ring?.some((v, i) => i % 2 === 0 && Math.hypot(v - x, (ring[i + 1] as number) - y) < 1.5))
}

test('polygons: clicked, a point moved, a hole, cut in two and merged', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1, { type: 'segmentation' })
  await page.goto(`/p/${project.name}/datasets/${data.set.id}/v/1/label`)
  await shown(page)
  await page.keyboard.press('1')
  await clickPixels(page, [40, 40], [200, 40], [200, 160], [40, 160])
  await page.keyboard.press('Enter')
  await expect(objects(page)).toHaveCount(1)
  await page.keyboard.press('e')
  await drag(page, [200, 160], [240, 200])
  const first = async () => (await shapes(api, data))[0]
  await expect.poll(async () => hasCorners((await first())?.rings?.[0], [[40, 40], [200, 40], [240, 200], [40, 160]])).toBe(true)
  expect((await first())?.label).toBe('cat')
  const whole = area((await first()) as Shape)

  await page.keyboard.press('o')
  await clickPixels(page, [80, 80], [120, 80], [120, 120], [80, 120])
  await page.keyboard.press('Enter')
  await expect.poll(async () => hasCorners((await first())?.holes?.[0], [[80, 80], [120, 80], [120, 120], [80, 120]])).toBe(true)
  expect(Math.abs(whole - 1600 - area((await first()) as Shape))).toBeLessThan(150)

  await page.keyboard.press('c')
  await clickPixels(page, [150, 20], [150, 220])
  await page.keyboard.press('Enter')
  await expect(objects(page)).toHaveCount(2)
  await expect.poll(async () => (await shapes(api, data)).length).toBe(2)
  const parts = await shapes(api, data)
  expect(Math.abs(parts.reduce((sum, s) => sum + area(s), 0) - (whole - 1600))).toBeLessThan(150)
  expect(parts.map((s) => s.label)).toEqual(['cat', 'cat'])

  // Both parts are selected: together they are what was cut, and undo cuts them again.
  await page.keyboard.press('Shift+M')
  await expect(objects(page)).toHaveCount(1)
  await expect(saved(page)).toBeVisible()
  await expect.poll(async () => (await shapes(api, data)).map((s) => [s.rings?.length, s.holes?.length])).toEqual([[1, 1]])
  await page.keyboard.press('Control+z')
  await expect(objects(page)).toHaveCount(2)
  await expect(saved(page)).toBeVisible()
  await expect.poll(async () => (await shapes(api, data)).length).toBe(2)
})

test('keypoints: joint by joint, hidden and left out, then a whole skeleton', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const person = { name: 'person', color: '#e5484d', keypoints: ['head', 'left hand', 'right hand', 'foot'], edges: [[0, 1], [0, 2], [0, 3]] }
  const data = await pictures(page, api, project, 1, { type: 'keypoints', labels: [person] })
  await page.goto(`/p/${project.name}/datasets/${data.set.id}/v/1/label`)
  await shown(page)
  await page.keyboard.press('1')
  await clickPixels(page, [100, 40])
  await expect(page.locator('.bench-said')).toHaveText('Next: left hand')
  await page.keyboard.down('Alt')
  await clickPixels(page, [60, 100])
  await page.keyboard.up('Alt')
  await page.keyboard.press('Shift+D')
  await clickPixels(page, [100, 200])
  await expect(objects(page)).toHaveCount(1)
  const drawn = async () => (await shapes(api, data)).map((s) => s.points ?? [])
  await expect.poll(async () => (await drawn())[0]?.map((p) => p[2])).toEqual([2, 1, 0, 2])
  const [one] = await drawn()
  for (const [i, x, y] of [[0, 100, 40], [1, 60, 100], [3, 100, 200]] as const) expect(Math.hypot((one?.[i]?.[0] ?? 0) - x, (one?.[i]?.[1] ?? 0) - y)).toBeLessThan(1.5)

  // The next one in one stroke, in the pose of the last; a joint of it is pulled.
  await page.keyboard.press('Shift+K')
  await drag(page, [180, 40], [260, 200])
  await expect(objects(page)).toHaveCount(2)
  await expect.poll(async () => (await drawn()).length).toBe(2)
  const second = (await drawn())[1] ?? []
  expect(second).toHaveLength(4)
  const [hx, hy] = second[0] ?? [0, 0]
  await page.keyboard.press('v')
  await drag(page, [hx, hy], [hx + 20, hy + 10])
  await expect.poll(async () => Math.round((await drawn())[1]?.[0]?.[0] ?? 0)).toBe(Math.round(hx + 20))
  expect((await drawn())[1]?.[3]).toEqual(second[3])
  await page.reload()
  await expect(objects(page)).toHaveCount(2)
})

test('OCR: drawn and typed, on with Tab, put into reading order', async ({ page, api, project }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 1, { type: 'ocr', labels: [] })
  await page.goto(`/p/${project.name}/datasets/${data.set.id}/v/1/label`)
  await shown(page)
  const texts = async () => (await shapes(api, data)).map((s) => s.text ?? '')
  const field = page.getByLabel('Text', { exact: true })
  // What was drawn is typed at once: no click between. Emoji, a combining mark and Chinese are letters like others.
  const draw = [['b', [150, 150], [300, 190], 'world 🏁'], ['b', [20, 20], [120, 60], 'café'], ['b', [20, 150], [120, 190], '你好']] as const
  for (const [tool, from, to, text] of draw) {
    await page.keyboard.press(tool)
    await drag(page, [...from], [...to])
    await expect(field).toBeFocused()
    await page.keyboard.insertText(text)
    await page.keyboard.press('Escape')
    await expect(field).not.toBeFocused()
  }
  await expect.poll(texts).toEqual(draw.map((d) => d[3]))
  await expect(saved(page)).toBeVisible()

  // By lines, from left to right; Tab goes through them in that order.
  await page.keyboard.press('Shift+L')
  await expect.poll(texts).toEqual(['café', '你好', 'world 🏁'])
  await page.keyboard.press('v')
  await clickPixels(page, [70, 40])
  await field.focus()
  await page.keyboard.press('Tab')
  await expect(field).toHaveValue('你好')
  await expect(field).toBeFocused()
  await page.keyboard.press('End')
  await page.keyboard.insertText('！')
  await page.keyboard.press('Tab')
  await expect(field).toHaveValue('world 🏁')
  await page.keyboard.press('Shift+Tab')
  await expect(field).toHaveValue('你好！')
  await expect.poll(texts).toEqual(['café', '你好！', 'world 🏁'])

  // A polygon around a slanted line is read as well; a click on each in turn says the order.
  await page.keyboard.press('Escape')
  await page.keyboard.press('p')
  await clickPixels(page, [150, 20], [300, 30], [295, 80], [155, 70])
  await page.keyboard.press('Enter')
  await expect(field).toBeFocused()
  await page.keyboard.insertText('slanted')
  await page.keyboard.press('Escape')
  await expect.poll(texts).toEqual(['café', '你好！', 'world 🏁', 'slanted'])
  await page.keyboard.press('q')
  await clickPixels(page, [220, 50], [70, 40], [220, 170], [70, 170])
  await expect.poll(texts).toEqual(['slanted', 'café', 'world 🏁', '你好！'])
  expect((await shapes(api, data)).map((s) => s.type)).toEqual(['polygon', 'box', 'box', 'box'])
  await page.reload()
  await expect(objects(page)).toHaveCount(4)
})
