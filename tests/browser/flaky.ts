import type { Reporter, Suite } from '@playwright/test/reporter'
import { appendFileSync } from 'node:fs'

/** Names the tests that passed only the second time, for the summary of scripts/test.sh. */
export default class Flaky implements Reporter {
  private suite: Suite | undefined

  onBegin(_: unknown, suite: Suite): void {
    this.suite = suite
  }

  onEnd(): void {
    const flaky = this.suite?.allTests().filter((test) => test.outcome() === 'flaky') ?? []
    const file = process.env['INGOT_FLAKY']
    for (const test of flaky) {
      const name = test.titlePath().filter(Boolean).join(' > ')
      console.log(`flaky: ${name}`)
      if (file) appendFileSync(file, `${name}\n`)
    }
  }
}
