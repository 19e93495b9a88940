// Fails when what the first page loads is over its budget (gzip): the script of every page, and the larger language, of which
// one is loaded.
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const budgets = { script: 250, language: 30 }
const sizes = (files) => files.map((file) => ({ file, size: gzipSync(readFileSync(file)).length / 1024 }))
const html = readFileSync('dist/index.html', 'utf8')
const script = sizes([...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((m) => `dist${m[1]}`))
const languages = sizes(readdirSync('dist/assets').filter((name) => /^pack\.\w+-.*\.js$/.test(name)).map((name) => `dist/assets/${name}`))
const total = { script: script.reduce((sum, one) => sum + one.size, 0), language: Math.max(...languages.map((one) => one.size)) }
for (const { file, size } of [...script, ...languages]) console.log(`${size.toFixed(1).padStart(8)} KB  ${file}`)
for (const [part, budget] of Object.entries(budgets)) console.log(`${total[part].toFixed(1).padStart(8)} KB  ${part} of the first load (budget ${budget})`)
if (script.length === 0 || languages.length !== 2 || Object.entries(budgets).some(([part, budget]) => !(total[part] <= budget))) process.exit(1)
