// Writes a picture of every page of the panel and of the payer's pages: at 1280, 1024 and 390 px, light and dark.
// Usage: node scripts/screenshots.ts <folder> [page of the site that shows them]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { chromium } from 'playwright-core'
import { createMock } from '../mocks/core.ts'
import { startMockServer } from '../mocks/server.ts'

const [folder = 'screenshots', sitePage] = process.argv.slice(2)
const WIDTHS = [1280, 1024, 390]
const SCHEMES = ['light', 'dark'] as const
const MARKER = '<!-- pictures -->'

/** Renders the pictures of one page: the widest, and links to the others. */
const picturesOf = (name: string, from: string): string => {
  const file = (width: number, scheme: string): string =>
    relative(dirname(from), join(folder, `${name}-${width}-${scheme}.png`))
  const links = WIDTHS.flatMap((width) =>
    SCHEMES.map((scheme) => `<a href="${file(width, scheme)}">${width} px, ${scheme}</a>`),
  )
  return `<h3>${name}</h3>
<picture><source media="(prefers-color-scheme: dark)" srcset="${file(1280, 'dark')}"><img src="${file(1280, 'light')}" alt="The page ${name} at 1280 pixels" loading="lazy" width="100%"></picture>
<p>${links.join(' · ')}</p>`
}

const executablePath = ['chromium-headless-shell', 'chromium', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))
if (executablePath === undefined && process.env.CI === undefined) {
  console.log('Without Chromium there are no pictures: apt-get install chromium-headless-shell')
  process.exit()
}

const mock = createMock({ clock: '2026-11-28T12:00:00Z' })
const { url, close } = await startMockServer({ mock })

const act = async (action: string, fields: Record<string, string> = {}): Promise<void> => {
  const response = await fetch(`${url}/_mock`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ action, ...fields }),
  })
  if (!response.ok) throw new Error(`${action}: ${await response.text()}`)
}

// A subscription with a failed payment and a reversal, an open one, and charges in several states.
mock.notifications.connect(() => new Response(null, { status: mock.clock.now() % 2 === 0 ? 200 : 500 }))
mock.notifications.connect('http://127.0.0.1:9/hook', { retries: { attempts: 2 } })
await act('subscribe', { requestID: 'order-1001', amount: '249.00' })
const [first] = mock.state.subscriptions()
await act('authorize', { invoiceId: first?.invoiceId ?? '', payments: 'succeed, fail' })
await act('advance', { days: '9' })
await act('reverse', { paymentId: String(mock.state.payments()[0]?.paymentId) })
await act('subscribe', { requestID: 'order-1002', cycle: 'DAILY' })
await act('charge', { amount: '2500' })
await act('confirm', { confirmationId: mock.state.charges()[0]?.confirmation_id ?? '' })
await act('renew', { id: mock.state.charges()[0]?.id ?? '' })
await act('charge', { msisdn: '+99900000002' })
await act('end-charge', {
  confirmationId: mock.state.charges()[2]?.confirmation_id ?? '',
  behavior: 'expires',
})
await fetch(`${url}/api/v1/mfs/charges`, {
  method: 'POST',
  body: '{}',
  headers: { authorization: 'Bearer wrong' },
})
await act('fault', { operation: 'gateway.charge', kind: 'lost-response' })
await act('charge').catch(() => undefined)
await fetch(`${url}/api/v1/mfs/charge`, { method: 'POST', body: '{}' })
await act('fault', { operation: '*', kind: 'status', status: '503' })
await act('fault', { operation: 'gateway.*', kind: 'latency', latencyMs: '400', times: '3' })
await act('save-snapshot', { name: 'three charges' })
const [charge] = mock.state.charges()
const open = mock.state.charges().find(({ status }) => status === 'pending_confirmation')
const refused = mock.requests.all().findLast(({ status }) => status === 401)
const waiting = mock.state.subscriptions().at(-1)

const PAGES = {
  overview: '/_mock',
  subscriptions: '/_mock/subscriptions',
  subscription: `/_mock/subscriptions/${first?.invoiceId}`,
  charges: '/_mock/charges',
  charge: `/_mock/charges/${charge?.id}`,
  requests: '/_mock/requests',
  request: `/_mock/requests/${refused?.number}`,
  notifications: '/_mock/notifications',
  notification: `/_mock/notifications/${mock.notifications.all()[0]?.notificationId}`,
  faults: '/_mock/faults',
  connect: '/_mock/connect',
  authorize: `/authorize/${waiting?.invoiceId}`,
  confirm: `/confirm/${open?.confirmation_id}`,
}

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({
  ...(executablePath === undefined ? {} : { executablePath }),
  args: ['--no-sandbox', '--disable-gpu'],
})
for (const width of WIDTHS) {
  const page = await browser.newPage()
  for (const [name, path] of Object.entries(PAGES)) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${url}${path}`)
    // In a picture of the full page, the clock at the bottom of a phone's window would cover the middle.
    const height = await page.evaluate(() => document.documentElement.scrollHeight)
    await page.setViewportSize({ width, height })
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
    }
  }
  await page.close()
}
await browser.close()
await close()

if (sitePage !== undefined) {
  const html = readFileSync(sitePage, 'utf8')
  if (!html.includes(MARKER)) throw new Error(`${sitePage} has no ${MARKER}.`)
  const pictures = Object.keys(PAGES).map((name) => picturesOf(name, sitePage))
  writeFileSync(sitePage, html.replace(MARKER, pictures.join('\n')))
}
