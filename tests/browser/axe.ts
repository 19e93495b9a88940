import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  help: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** What axe finds wrong on the page, as text. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const run = (window as unknown as { axe: { run: (o: unknown) => Promise<{ violations: Violation[] }> } }).axe.run
    return (await run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })).violations
  })
  return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`))
}
