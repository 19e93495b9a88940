// The font of the pages: Inter's Latin letters in the weights that are used, a variable font of less than 30 KB, and its licence. What
// else people write (Chinese above all) is shown in a font of their system (src/app/theme.ts).
import type { Plugin } from 'vite'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const weights = { min: 400, max: 650 }
const ranges = [[0x20, 0x7e], [0xa0, 0xff]] as const
const signs = 'ıŒœŠšŽžˆ˚˜–—‘’‚“”„†‡•…‰‹›€™←↑→↓−×÷≈≠≤≥'

const folder = dirname(createRequire(import.meta.url).resolve('@fontsource-variable/inter/package.json'))
const out = join(import.meta.dirname, '../node_modules/.ingot')

/** Makes the font where base.css looks for it, unless it is there. */
async function makeFont(): Promise<void> {
  const recipe = JSON.stringify([weights, ranges, signs, readFileSync(join(folder, 'package.json'), 'utf8')])
  const [font, made] = [join(out, 'inter.woff2'), join(out, 'inter.recipe')]
  if (existsSync(font) && existsSync(made) && readFileSync(made, 'utf8') === recipe) return
  const { default: subset } = await import('subset-font')
  const text = ranges.map(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i)).join('')).join('') + signs
  const whole = readFileSync(join(folder, 'files/inter-latin-wght-normal.woff2'))
  const part = await subset(whole, text, { targetFormat: 'woff2', variationAxes: { wght: weights } })
  mkdirSync(out, { recursive: true })
  writeFileSync(`${font}.part`, part)
  renameSync(`${font}.part`, font)
  writeFileSync(made, recipe)
}

/** For Vite: the font is made before anything asks for it; its licence stands beside it. */
export const fontPlugin: Plugin = {
  name: 'ingot-font',
  configResolved: makeFont,
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'inter-license.txt', source: readFileSync(join(folder, 'LICENSE')) })
  },
}
