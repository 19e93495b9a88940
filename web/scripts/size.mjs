// Fails when what the first page loads is over its budget (gzip): what index.html names, the larger language's first words,
// and the home page with all it imports. The font has a budget of its own: nothing waits for it.
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const budget = 250
const fontBudget = 60
const folder = 'dist/assets'
const named = (pattern) => readdirSync(folder).filter((name) => pattern.test(name))
const text = (name) => readFileSync(`${folder}/${name}`, 'utf8')
const size = (name) => gzipSync(readFileSync(`${folder}/${name}`)).length / 1024

function withImports(name, seen = new Set()) {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const [, next] of text(name).matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) withImports(next, seen)
  return seen
}

const html = readFileSync('dist/index.html', 'utf8')
const page = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map((m) => m[1])
const home = named(/^Home-.*\.js$/).flatMap((name) => [...withImports(name)])
const packs = named(/^pack\.\w+-.*\.js$/).sort((a, b) => size(b) - size(a))
const first = [...new Set([...page, ...home, ...packs.slice(0, 1)])]
for (const name of first) console.log(`${size(name).toFixed(1).padStart(8)} KB  ${name}`)
const total = first.reduce((sum, name) => sum + size(name), 0)
console.log(`${total.toFixed(1).padStart(8)} KB  first load (budget ${budget})`)
const fonts = named(/\.woff2$/).map((name) => readFileSync(`${folder}/${name}`).length / 1024)
const font = fonts.reduce((sum, one) => sum + one, 0)
console.log(`${font.toFixed(1).padStart(8)} KB  font (budget ${fontBudget})`)
if (fonts.length !== 1 || !(font <= fontBudget) || page.length === 0 || home.length === 0 || packs.length !== 2 || !(total <= budget)) process.exit(1)
