import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { en } from './en'

// Keys that are put together at run time begin with one of these.
const dynamic = [
  /^runs\.(left|group|tab)\./,
  /^evaluation\.(as|size|by|verdict|kind)\./,
  /^evaluation\.(truths|precision|recall)$/,
  /^bench\.(tool|shape|media|group|refused|did)\./,
  /^(state|unit|lineage\.as|taskType|controllers|training\.split|try\.(drop|time|state)|interface\.op|service\.golden|manifest\.(field|help|choice|preparation|threshold))\./,
  /^meter\.(cpu|memory)$/,
  /^home\.(step|hint|do|column|grown|nodes)\./,
  /^section\./,
  /^demo\.(step|mark|role)\./,
  /^docs\.(manual|about|group|in|limit)\./,
  /^terminal\.(connecting|open|lost|closed)$/,
  /^(sampleState|shape|change|split|step|tab|task\.result|labelPart|labelCount|labelStage|trainLevel|runtime|attributes\.(type|rule))\./,
  /^selection\.order_/,
  /^task\.(waiting|running|done|failed|cancelled)$/,
  /^preprocess\.(threshold|angle|x|y|w|h)$/,
  /^(error|menu|audit|theme|language)\./,
  /^permissions\.(read|create|update|delete)$/,
  /^rule\.(color|key)$/,
  /^merge\.(mine|theirs)$/,
  /^quota\.(cpu|memory|storage)$/,
  /^list\.(from|to)$/,
]

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'i18n' ? [] : sources(path)
    return /\.tsx?$/.test(entry.name) && entry.name !== 'schema.ts' ? [readFileSync(path, 'utf8')] : []
  })
}

test('every message is used', () => {
  const all = sources(join(__dirname, '..')).join('\n')
  const unused = Object.keys(en).filter((key) => !all.includes(`'${key}'`) && !dynamic.some((pattern) => pattern.test(key)))
  expect(unused).toEqual([])
})
