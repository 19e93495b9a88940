// Lighthouse's accessibility and best practices of every page in light and dark, in headless Chromium: a table of what is below 100,
// with what is wrong there. Needs the release build; Lighthouse itself is put into .cache/lighthouse by scripts/bench.sh.
//   scripts/bench.sh lighthouse [PART OF A PATH ...]
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, withPages } from './stage.mjs'

const { default: lighthouse } = await import(pathToFileURL(join(root, '.cache/lighthouse/node_modules/lighthouse/core/index.js')).href)
const categories = ['accessibility', 'best-practices']
const wanted = process.argv.slice(2)

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })
}

const port = await freePort()
await withPages([`--remote-debugging-port=${port}`], async ({ url, context, pages }) => {
  const all = ['/sign-in', ...pages, '/profile', '/docs/labelling', '/docs/reference', '/docs/reference/label_set', '/p/pages/label-sets?new=1', '/nowhere'].filter((path) => wanted.length === 0 || wanted.some((part) => path.includes(part)))
  const page = context.pages()[0] ?? (await context.newPage())
  const wrong = []
  let looked = 0
  for (const theme of ['light', 'dark']) {
    await page.goto('/profile')
    await page.evaluate((name) => localStorage.setItem('ingot.theme', name), theme)
    for (const path of all) {
      const look = async () => (await lighthouse(url + path, {
        port, onlyCategories: categories, output: 'json', logLevel: 'silent', formFactor: 'desktop', screenEmulation: { disabled: true }, throttlingMethod: 'provided', disableStorageReset: true, disableFullPageScreenshot: true,
        // Pages have a stream of events that never ends.
        maxWaitForLoad: 20_000,
      })).lhr
      // A page that did not paint in time on a busy machine says nothing of the page.
      let lhr = await look()
      for (let n = 1; lhr.runtimeError && n < 3; n += 1) lhr = await look()
      if (lhr.runtimeError) console.log(`    ${lhr.runtimeError.code}: ${lhr.runtimeError.message}`)
      looked += 1
      const scores = categories.map((name) => Math.round((lhr.categories[name].score ?? 0) * 100))
      const failed = categories.flatMap((name) => lhr.categories[name].auditRefs).map((ref) => lhr.audits[ref.id]).filter((audit) => audit.score !== null && audit.score < 1 && audit.scoreDisplayMode !== 'informative')
      if (scores.some((score) => score < 100)) wrong.push(path)
      console.log(`${theme} ${path}: ${scores.join(', ')}${failed.map((audit) => `\n    ${audit.id}: ${(audit.details?.items ?? []).slice(0, 3).map((item) => item.node?.selector ?? item.description ?? item.url ?? '').join(' | ')}`).join('')}`)
    }
  }
  console.log(`${looked} looks at ${all.length} pages; below 100 in one of ${categories.join(', ')}: ${wrong.length}`)
})
