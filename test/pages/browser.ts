import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { sized } from '../support/sizes.ts'

// The headless shell is the same browser without windows, and twice as fast.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const PATHS = NAMES.map((name) => `/usr/bin/${name}`)
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
 * Returns whether tests in a browser are skipped because none is installed, or because MANDATEKIT_CHROMIUM names no
 * file. Prints how to install one. With MANDATEKIT_NO_SKIP=1 the tests fail instead.
 */
export const withoutBrowser = (): boolean => {
  if (executablePath !== undefined || process.env.MANDATEKIT_NO_SKIP === '1') return false
  process.stderr.write(
    'Skipped: tests in a browser. Install one with: apt-get install -y chromium-headless-shell\n',
  )
  return true
}

const launch = async (): Promise<Browser> => {
  if (executablePath === undefined)
    throw new Error('Chromium is missing: apt-get install -y chromium-headless-shell')
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS })
  return browser.on('disconnected', () => {
    running = undefined
  })
}

// A start costs as much as twenty page views, so the test files of a process share one browser. It ends with the process.
let running: Promise<Browser> | undefined

/** Opens a page with storage and permissions of its own, which end when it is closed. */
export const openPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
  running ??= launch()
  return (await running).newPage(options)
}

export const PHONE = { width: 360, height: 640 }
const DESKTOP = { width: 1280, height: 720 }

/** What a merchant may write in a field, to run a script or to break the layout. */
export const HOSTILE = `"'></pre></bdi><script>document.title='ran'</script><img src=x onerror="document.title='ran'"><b>${'W'.repeat(300)}`

/** Both kinds of browser, for `test.each`. */
export const SCRIPTING = [
  ['with JavaScript', { javaScriptEnabled: true }],
  ['without JavaScript', { javaScriptEnabled: false }],
] as const

/** The same, where a quick run need not try a page without JavaScript: its forms are like those of other tests. */
export const SAMPLE = sized<readonly (typeof SCRIPTING)[number][]>(SCRIPTING, [SCRIPTING[0]])

/** How a browser looks at a page. */
export interface View {
  readonly javaScriptEnabled?: boolean
  readonly viewport?: { readonly width: number; readonly height: number }
}

/**
 * The returned function runs a test in a page, and fails if the page reports an error. A block of tests has one page with
 * and one without JavaScript.
 */
export const useBrowser = () => {
  const pages = new Map<boolean, Page>()
  afterAll(() => Promise.all([...pages.values()].map((page) => page.close())))

  return async (
    { javaScriptEnabled = true, viewport = DESKTOP }: View,
    run: (page: Page) => Promise<void>,
  ): Promise<void> => {
    const page = pages.get(javaScriptEnabled) ?? (await openPage({ javaScriptEnabled }))
    pages.set(javaScriptEnabled, page)
    page.setDefaultTimeout(30_000)
    await page.setViewportSize(viewport)
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      // The browser reports each request that a stopped or refusing server does not fulfill.
      if (!/ERR_CONNECTION|responded with a status of 4/.test(message.text())) errors.push(message.text())
    })
    page.on('dialog', (dialog) => {
      errors.push(dialog.message())
      dialog.dismiss().catch(() => undefined)
    })
    try {
      await run(page)
    } finally {
      // The next test loads its own page. Leaving this one for `about:blank` would start two more processes.
      page.removeAllListeners()
    }
    expect(errors).toEqual([])
  }
}

/** Returns the focused element's text and its outline. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement ?? document.body
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return `${element.textContent.trim() || element.id} ${outlineStyle} ${outlineWidth}`
  })
