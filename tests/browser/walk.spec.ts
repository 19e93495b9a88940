import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { another, draw, openTask, pictures, samples, saved, shown } from './bench'
import { Api, expect, member, signInAsAdmin, test } from './fixtures'

/** What pycocotools reads in an export: the boxes of each picture. */
function read(archive: Buffer): Record<string, [string, number[]][]> {
  const folder = mkdtempSync(join(tmpdir(), 'ingot-coco-'))
  const code = `
import contextlib, io, json, os, sys, zipfile
from pycocotools.coco import COCO
zipfile.ZipFile(os.path.join(sys.argv[1], "export.zip")).extractall(sys.argv[1])
name = next(os.path.join(at, f) for at, _, names in os.walk(sys.argv[1]) for f in names if f.endswith(".json"))
with contextlib.redirect_stdout(io.StringIO()):
    coco = COCO(name)
print(json.dumps({i["file_name"].rsplit("/", 1)[-1]: [[coco.cats[a["category_id"]]["name"], a["bbox"]] for a in coco.imgToAnns[i["id"]]] for i in coco.imgs.values()}))
`
  try {
    writeFileSync(join(folder, 'export.zip'), archive)
    return JSON.parse(execFileSync(resolve(__dirname, '../../.cache/venv/bin/python'), ['-c', code, folder], { timeout: 120_000 }).toString()) as Record<string, [string, number[]][]>
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function post(api: Api, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await api.context.post(`/api/v1/${path}`, { data })
  expect(answer.ok(), `${path}: ${await answer.text()}`).toBe(true)
  return (await answer.json()) as Record<string, unknown>
}

test('detection from an owner\'s task to a COCO file: two annotators, one off line, rejected, mended, accepted, published', async ({ page, api, project, browser }) => {
  await signInAsAdmin(page)
  const data = await pictures(page, api, project, 2)
  const [anna, ben, eye] = [await member(api, project, 'annotator'), await member(api, project, 'annotator'), await member(api, project, 'reviewer')]
  const task = await openTask(api, project, data, { labellers: [anna.user, ben.user], reviewers: [eye.user] }, { batch_size: 1, instructions: '# Cats\n\nDraw **every** cat.' })
  const url = `/p/${project.name}/label-tasks/${task}`

  const one = await another(browser, anna, `${url}/label`)
  await expect(one.getByRole('heading', { name: '0.png' })).toBeVisible()
  const two = await another(browser, ben, `${url}/label`)
  await expect(two.getByRole('heading', { name: '1.png' })).toBeVisible()
  await shown(one)
  await one.keyboard.press('Shift+I')
  await expect(one.getByText('every', { exact: true })).toBeVisible()
  await one.keyboard.press('Shift+I')
  await one.keyboard.press('1')
  await draw(one, [0.35, 0.35], [0.5, 0.5])
  await expect(saved(one)).toBeVisible()
  await one.keyboard.press('s')
  await expect(one.getByRole('heading', { name: 'All done' })).toBeVisible()

  // The other one loses the network, goes on, and hands in when it is back.
  await shown(two)
  await two.context().setOffline(true)
  await two.evaluate(() => window.dispatchEvent(new Event('offline')))
  await two.keyboard.press('2')
  await draw(two, [0.3, 0.3], [0.4, 0.4])
  await draw(two, [0.6, 0.6], [0.7, 0.7])
  await expect(two.getByText('Offline: 2 changes kept')).toBeVisible()
  await two.context().setOffline(false)
  await expect(saved(two)).toBeVisible()
  await two.keyboard.press('s')
  await expect(two.getByRole('heading', { name: 'All done' })).toBeVisible()

  const judge = await another(browser, eye, `${url}/review`)
  await expect(judge.getByRole('heading', { name: '0.png' })).toBeVisible()
  await shown(judge)
  await judge.keyboard.press('u')
  await judge.getByRole('textbox', { name: 'Reason' }).fill('too small')
  await judge.getByRole('button', { name: 'Send' }).click()
  await expect(judge.getByRole('heading', { name: '1.png' })).toBeVisible()
  await expect(judge.getByRole('dialog')).toBeHidden()
  await judge.keyboard.press('y')
  await expect(judge.getByRole('heading', { name: 'All done' })).toBeVisible()

  await one.getByRole('button', { name: 'Look again' }).click()
  await expect(one.getByRole('note')).toContainText('too small')
  await shown(one)
  await one.keyboard.press('1')
  await draw(one, [0.55, 0.55], [0.7, 0.7])
  await expect(saved(one)).toBeVisible()
  await one.keyboard.press('s')
  await expect(one.getByRole('heading', { name: 'All done' })).toBeVisible()
  await judge.getByRole('button', { name: 'Look again' }).click()
  await shown(judge)
  await judge.keyboard.press('y')
  await expect(judge.getByRole('heading', { name: 'All done' })).toBeVisible()
  const all = await samples(api, data.set, data.version)
  expect(all.map((s) => s.state)).toEqual(['accepted', 'accepted'])
  for (const own of [one, two, judge]) await own.context().close()

  // Published after the reviewer agreed, and exported.
  const path = `datasets/${data.set.id}/versions/${data.version.id}`
  await post(api, `label-tasks/${task}/close`, {})
  await post(api, `${path}/request-review`, { reviewers: [eye.user.id] })
  const reviewer = await Api.signIn(eye.user.name, eye.password)
  await post(reviewer, `${path}/decide-publish`, { accept: true })
  await reviewer.context.dispose()
  await expect.poll(async () => (await api.get(path))['state']).toBe('published')
  const made = await post(api, `${path}/export`, { format: 'coco' })
  await expect.poll(async () => (await api.get(`tasks/${String(made['id'])}`))['state']).toBe('done')
  const found = read(await (await api.context.get(`/api/v1/tasks/${String(made['id'])}/download`)).body())
  expect(Object.keys(found).sort()).toEqual(['0.png', '1.png'])
  for (const [i, name, label] of [[0, '0.png', 'cat'], [1, '1.png', 'dog']] as const) {
    const drawn = (all[i]?.annotation.shapes ?? []).map((s) => [label, [s.x, s.y, s.w, s.h].map((v) => Math.round(v))])
    expect(drawn).toHaveLength(2)
    expect(found[name]?.map(([kind, box]) => [kind, box.map((v) => Math.round(v))])).toEqual(drawn)
  }
})
