import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const named = process.env.MANDATEKIT_CHROMIUM
const executablePath = (named === undefined ? PATHS : [named]).find((path) => existsSync(path))

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Whether tests in a browser are to be skipped: none is installed, nor where MANDATEKIT_CHROMIUM points. Says how to install one; with MANDATEKIT_NO_SKIP=1
 * nothing is skipped, and the tests fail instead.
 */
export const withoutBrowser = (): boolean => {
  if (executablePath !== undefined || process.env.MANDATEKIT_NO_SKIP === '1') return false
  process.stderr.write('Skipped: tests in a browser. Install one with: apt-get install -y chromium\n')
  return true
}

/** Starts Chromium. */
export const launch = async (): Promise<Browser> => {
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install -y chromium')
  return chromium.launch({ executablePath, args: ARGUMENTS })
}
