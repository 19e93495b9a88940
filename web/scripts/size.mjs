// Fails when the script that the first page loads is over its budget (300 KB, gzip).
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const budget = 300 * 1024
const html = readFileSync('dist/index.html', 'utf8')
const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((m) => `dist${m[1]}`)
let total = 0
for (const file of files) {
  const size = gzipSync(readFileSync(file)).length
  total += size
  console.log(`${(size / 1024).toFixed(1).padStart(8)} KB  ${file}`)
}
console.log(`${(total / 1024).toFixed(1).padStart(8)} KB  first load (budget ${budget / 1024})`)
if (files.length === 0 || total > budget) process.exit(1)
