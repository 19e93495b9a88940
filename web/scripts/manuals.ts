// The manuals of docs/, as they are: the pages below /docs show them, and /docs/NAME.md is the text itself.
import type { Plugin } from 'vite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../docs')
const address = /^\/docs\/([a-z0-9-]+\.md)$/

export const manualsPlugin: Plugin = {
  name: 'ingot-manuals',
  generateBundle() {
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.md'))) this.emitFile({ type: 'asset', fileName: `docs/${name}`, source: readFileSync(join(folder, name)) })
  },
  configureServer({ middlewares }) {
    middlewares.use((asked, answer, next) => {
      const name = address.exec(asked.url ?? '')?.[1]
      if (!name || !readdirSync(folder).includes(name)) return next()
      answer.setHeader('Content-Type', 'text/markdown; charset=utf-8')
      answer.end(readFileSync(join(folder, name)))
    })
  },
}
