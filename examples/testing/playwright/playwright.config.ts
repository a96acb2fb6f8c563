import { existsSync } from 'node:fs'
import { defineConfig } from '@playwright/test'

// A Chromium of the system; without one, that of `npx playwright install chromium`.
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = places.find((path) => existsSync(path))

export default defineConfig({
  testDir: '.',
  // Every test starts a shop and a mock of its own, so tests may run at the same time, also those of one file.
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
