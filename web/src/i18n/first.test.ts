import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { en } from './en'
import { firstEn } from './first.en'

// What is shown before the rest of the words has come: what firstPart of app/part.ts loads.
const firstPages = ['main.tsx', 'app/Home.tsx', 'app/ProjectSelect.tsx', 'features/sign-in/SignIn.tsx', 'features/projects/Overview.tsx', 'features/objects/ListPage.tsx']

const source = join(__dirname, '..')

function fileOf(from: string, name: string): string | undefined {
  const path = join(dirname(from), name)
  return [`${path}.ts`, `${path}.tsx`, join(path, 'index.ts')].find((one) => existsSync(one))
}

/** A file and all it imports at once. */
function withImports(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const found of readFileSync(file, 'utf8').matchAll(/^(?:(?:import|export)(?! type)[^'\n]*|\} from )'(\.[^']+)'/gm)) {
    const next = fileOf(file, found[1] ?? '')
    if (next && !next.includes('/i18n/')) withImports(next, seen)
  }
  return seen
}

test('what is shown first uses only the first words', () => {
  const first = firstPages.flatMap((page) => [...withImports(join(source, page))])
  expect(first.length).toBeGreaterThan(100)
  const text = first.map((file) => readFileSync(file, 'utf8')).join('\n')
  const later = Object.keys(en).filter((key) => !(key in firstEn) && text.includes(`'${key}'`))
  expect(later).toEqual([])
})
