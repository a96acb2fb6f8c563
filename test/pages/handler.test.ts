import { describe, expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { style } from '../../mocks/pages/style.ts'
import { createSite } from './site.ts'

const openPage = ({ mock }: ReturnType<typeof createSite>, url: string) => ({
  url,
  get: () => mock.fetch(url),
  text: async () => (await mock.fetch(url)).text(),
  submit: (fields: Record<string, string>) =>
    mock.fetch(url, { method: 'POST', body: new URLSearchParams(fields) }),
})

/** Opens a site whose merchant has requested a subscription. */
const subscribed = async () => {
  const site = createSite()
  const { url, invoiceID } = await site.subscribe()
  return { ...openPage(site, url), site, invoiceID, status: () => site.requestStatus(invoiceID) }
}

/** Opens a site whose merchant has requested a charge. */
const charged = async (more: Record<string, unknown> = {}) => {
  const site = createSite()
  const { url, id } = await site.charge(more)
  return { ...openPage(site, url), site, status: () => site.chargeStatus(id) }
}

/** Removes the mock's banner, which tells the tester the code. */
const withoutBanner = (page: string): string => page.replace(/<header class="mock">.*?<\/header>/s, '')

/** The status and the text of a response. */
const read = async (response: Response) => [response.status, await response.text()] as const

describe('the authorization page', () => {
  test('shows the terms, and returns the payer with the invoice', async () => {
    const { text, submit, invoiceID, status } = await subscribed()
    const shown = await text()
    for (const term of ['249.00', 'every 15 days', '2026-11-28', '2027-11-28', '2026-12-13'])
      expect(shown).toContain(term)
    const response = await submit({ decision: 'authorize' })
    expect(response.status).toBe(303)
    const location = `https://shop.example/return?order=1&invoiceID=${invoiceID}`
    expect(response.headers.get('location')).toBe(location)
    expect(status()).toBe('SUCCEEDED')
  })

  test('returns the payer after declining, and keeps the decision', async () => {
    const { text, submit, status } = await subscribed()
    expect((await submit({ decision: 'decline' })).status).toBe(303)
    const declined = expect.stringContaining('Subscription declined')
    expect(await text()).toEqual(declined)
    expect(await read(await submit({ decision: 'authorize' }))).toEqual([409, declined])
    expect(status()).toBe('FAILED')
  })

  test('changes nothing without a choice', async () => {
    const { submit, status } = await subscribed()
    for (const fields of [{}, { decision: 'maybe' }]) expect((await submit(fields)).status).toBe(400)
    expect(status()).toBe('INITIALIZED')
  })

  test('reports that the request has expired', async () => {
    const { site, get, submit } = await subscribed()
    await site.mock.clock.advance({ hours: 25 })
    for (const response of [await get(), await submit({ decision: 'authorize' })])
      expect(await read(response)).toEqual([410, expect.stringContaining('Request expired')])
  })
})

describe('the confirmation page', () => {
  test('shows a masked number, and returns the payer after the code', async () => {
    const { text, submit, status } = await charged()
    const shown = await text()
    expect(shown).toContain('+999•••••001')
    expect(shown).toContain('A mock for tests: no money moves. The code is 123456.')
    expect(withoutBanner(shown)).not.toMatch(/99900000001|123456/)
    expect(shown).toContain('2500 BDT')
    const response = await submit({ otp: ' 123 456 ' })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('https://shop.example/return?order=1')
    expect(status()).toBe('succeeded')
  })

  test('responds to every wrong code with the same page, which contains neither code', async () => {
    const { submit, status } = await charged()
    const pages = new Set<string>()
    for (const otp of ['0', '12345', '1234567', '', '<b>', 'x'.repeat(5000)])
      pages.add((await read(await submit({ otp }))).join(' '))
    const [page, ...others] = pages
    expect(others).toEqual([])
    expect(page).toMatch(/^400 .*The code is not correct\./s)
    expect(withoutBanner(page ?? '')).not.toContain('123456')
    expect(status()).toBe('pending_confirmation')
  })

  test.each([
    ['+99900000002', 'Payment failed', 409],
    ['+99900000006', 'Payment will be retried', 409],
    ['+99900000007', 'Payment expired', 410],
  ])('of %s reports afterwards: %s', async (msisdn, words, status) => {
    const { text, submit } = await charged({ msisdn })
    expect((await submit({ otp: '123456' })).status).toBe(303)
    expect(await text()).toContain(words)
    expect(await read(await submit({ otp: '123456' }))).toEqual([
      status,
      expect.stringContaining('Return to'),
    ])
  })
})

describe('a page of either area', () => {
  const S = 'https://subscriptions.mandatekit.test'
  const G = 'https://gateway.mandatekit.test'

  test.each([`${S}/authorize/none`, `${G}/confirm/none`, `${G}/confirm/%E0%A4`, `${S}/authorize/%00`])(
    'is not found at %s',
    async (url) => {
      const { get, submit } = openPage(createSite(), url)
      expect(await read(await get())).toEqual([404, expect.stringContaining('Page not found')])
      expect((await submit({ otp: '123456', decision: 'authorize' })).status).toBe(404)
    },
  )

  test('leaves every other path to the mock', async () => {
    const { mock } = createSite()
    const others = ['/', '/authorize', '/authorize/', '/authorize/a/b', '/confirmed/a', '/api/confirm/a']
    const urls = [...others.flatMap((path) => [S + path, G + path]), `${G}/authorize/a`, `${S}/confirm/a`]
    for (const url of urls) {
      await mock.fetch(url)
      expect(mock.requests.all().at(-1)?.decision, url).toBe('unknown-path')
    }
  })

  test('responds to HEAD without a body, and to other methods with the allowed ones', async () => {
    const { site, url } = await subscribed()
    expect(await read(await site.mock.fetch(url, { method: 'HEAD' }))).toEqual([200, ''])
    const other = await site.mock.fetch(url, { method: 'DELETE' })
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })

  test.each<[Record<string, string>, number]>([
    [{ 'sec-fetch-site': 'cross-site', origin: S }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: `${S}.evil.example` }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    [{ origin: S }, 303],
    [{ origin: 'https://seen.example:8443', host: 'seen.example:8443' }, 303],
    [{ origin: S, host: 'seen.example' }, 403],
    [{}, 303],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/json' }, 415],
    [{ 'content-type': 'multipart/form-data; boundary=x' }, 415],
  ])('responds to a form with %j: %i', async (headers, expected) => {
    const { site, url, status } = await subscribed()
    // A `Request` of Node drops some of these headers.
    const sent = await internalsOf(site.mock).handler({
      method: 'POST',
      url,
      headers: new Headers({ 'content-type': 'application/x-www-form-urlencoded', ...headers }),
      signal: null,
      text: async () => 'decision=authorize',
    })
    expect(sent).toMatchObject({ kind: 'complete', response: { status: expected } })
    expect(status()).toBe(expected === 303 ? 'SUCCEEDED' : 'INITIALIZED')
  })

  test('has a policy that allows no script, and forbids caching, framing and sniffing', async () => {
    const pages = [await subscribed(), await charged(), openPage(createSite(), `${G}/confirm/none`)]
    for (const { get } of pages) {
      const { headers } = await get()
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; form-action 'self'/,
      )
      expect(policy).toContain("base-uri 'none'; frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|script-src|\*/)
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
    }
  })

  test('shows no field as markup', async () => {
    const hostile = `"'><script>alert(1)</script><img/src=x/onerror=alert(1)>`
    const { text, submit } = await charged({
      currency: hostile,
      redirect_uri: `https://shop.example/${hostile}`,
    })
    const before = await text()
    await submit({ otp: '123456' })
    for (const markup of [before, await text()]) {
      expect(markup.replace(style, '')).not.toMatch(/<script|<img/i)
      expect(markup).toContain('&lt;script&gt;')
    }
  })

  test('redirects the payer to an app by its own scheme', async () => {
    const { get, submit } = await charged({ redirect_uri: 'shopapp://return/1' })
    expect((await get()).headers.get('content-security-policy')).toContain("form-action 'self' shopapp:;")
    expect((await submit({ otp: '123456' })).headers.get('location')).toBe('shopapp://return/1')
  })
})
