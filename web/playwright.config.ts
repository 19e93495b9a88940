import { defineConfig } from '@playwright/test'

// Real Chromium against the real program, which tests/browser/server.ts starts on a free port.
export default defineConfig({
  testDir: '../tests/browser',
  outputDir: '../test-results/browser',
  globalSetup: '../tests/browser/server.ts',
  workers: 1,
  fullyParallel: false,
  // A test that needs its second chance is named at the end; see CONTRIBUTING.md.
  retries: process.env['CI'] ? 1 : 0,
  maxFailures: process.env['CI'] ? 10 : 0,
  timeout: process.env['INGOT_SLOW'] ? 720_000 : 240_000,
  expect: { timeout: 60_000 },
  reporter: [['list'], ['../tests/browser/flaky.ts']],
  use: {
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    screenshot: 'only-on-failure',
    trace: 'off',
    launchOptions: {
      executablePath: process.env['INGOT_CHROMIUM'] ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
      ],
    },
  },
})
