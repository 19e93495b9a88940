// How quickly pages come: first paint and bytes of a first load, and how long a change of page takes once everything was opened
// before, over all pages of a project with something in each list and of the administration. In headless Chromium without a GPU.
// CPU time of the main thread stands beside the wall clock, as a busy machine delays the one more than the other. Needs the release
// build and web/node_modules.
//   scripts/bench.sh pages [ROUNDS]
import { loadavg } from 'node:os'
import { withPages } from './stage.mjs'

const [rounds, patience] = [Number(process.argv[2] ?? 5), 30_000]

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

await withPages([], async ({ context, pages }) => {
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
})
