import { existsSync } from 'node:fs'
import { defineConfig } from '@playwright/test'

// If none of these files exists, install the Chromium of Playwright: `npx playwright install chromium`.
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const executablePath = places.find((path) => existsSync(path))

export default defineConfig({
  testDir: '.',
  // Every test has its own shop and mock, so all tests can run at the same time.
  fullyParallel: true,
  workers: 2,
  reporter: 'list',
  use: {
    launchOptions: {
      args: ['--no-sandbox'],
      ...(executablePath === undefined ? {} : { executablePath }),
    },
  },
})
