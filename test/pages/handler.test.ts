import { describe, expect, it } from 'vitest'
import { style } from '../../mocks/pages/style.ts'
import { createSite, value } from './site.ts'

const form = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  new Request(url, { method: 'POST', body: new URLSearchParams(fields), headers })

const HOUR = 3_600_000

describe('the authorization page', () => {
  it('shows what is asked, and sends the payer back with the invoice once authorized', async () => {
    const site = createSite()
    const { url, invoiceID } = site.subscribe()
    const page = await site.fetch(new Request(url))
    const text = await page.text()
    expect(page.status).toBe(200)
    for (const shown of ['249.00', 'every 15 days', '2026-11-28', '2027-11-28', '2026-12-13']) {
      expect(text).toContain(shown)
    }
    const answer = await site.fetch(form(url, { decision: 'authorize' }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(`https://shop.example/return?order=1&invoiceID=${invoiceID}`)
    expect(value(site.subscriptions.authorization(invoiceID)).status).toBe('SUCCEEDED')
  })

  it('sends the payer back, too, when declined', async () => {
    const site = createSite()
    const { url, invoiceID } = site.subscribe()
    expect((await site.fetch(form(url, { decision: 'decline' }))).status).toBe(303)
    expect(value(site.subscriptions.authorization(invoiceID)).status).toBe('FAILED')
    const again = await site.fetch(new Request(url))
    expect(await again.text()).toContain('Subscription declined')
  })

  it('does not let a decision be changed, and says what was decided', async () => {
    const site = createSite()
    const { url, invoiceID } = site.subscribe()
    await site.fetch(form(url, { decision: 'decline' }))
    const answer = await site.fetch(form(url, { decision: 'authorize' }))
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('Subscription declined')
    expect(value(site.subscriptions.authorization(invoiceID)).status).toBe('FAILED')
  })

  it('changes nothing when nothing was chosen', async () => {
    const site = createSite()
    const { url, invoiceID } = site.subscribe()
    for (const fields of [{}, { decision: 'maybe' }]) {
      expect((await site.fetch(form(url, fields))).status).toBe(400)
    }
    expect(value(site.subscriptions.authorization(invoiceID)).status).toBe('INITIALIZED')
  })

  it('says that a request has expired', async () => {
    const site = createSite()
    const { url } = site.subscribe()
    site.advance(25 * HOUR)
    for (const request of [new Request(url), form(url, { decision: 'authorize' })]) {
      const page = await site.fetch(request)
      expect(page.status).toBe(410)
      expect(await page.text()).toContain('Request expired')
    }
  })
})

describe('the confirmation page', () => {
  it('shows a masked number, and sends the payer back once the code was given', async () => {
    const site = createSite()
    const { id, confirmation_url: url } = site.charge()
    const text = await (await site.fetch(new Request(url))).text()
    expect(text).toContain('+999•••••001')
    expect(text).not.toContain('99900000001')
    expect(text).not.toContain('123456')
    expect(text).toContain('2500 BDT')
    const answer = await site.fetch(form(url, { otp: ' 123 456 ' }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('https://shop.example/return?order=1')
    expect(value(site.gateway.status(id)).status).toBe('succeeded')
  })

  it('answers every wrong code with the same page, which holds neither code', async () => {
    const site = createSite()
    const { id, confirmation_url: url } = site.charge()
    const answers = await Promise.all(
      ['0', '12345', '1234567', '', '<b>', 'x'.repeat(5000)].map(async (otp) => {
        const answer = await site.fetch(form(url, { otp }))
        return `${answer.status} ${await answer.text()}`
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/^400 /)
    expect(answers[0]).toContain('The code is not correct.')
    expect(answers[0]).not.toContain('123456')
    expect(value(site.gateway.status(id)).status).toBe('pending_confirmation')
  })

  it.each([
    ['+99900000002', 'Payment failed', 409],
    ['+99900000006', 'Payment being tried again', 409],
    ['+99900000007', 'Payment expired', 410],
  ])('says for %s afterwards: %s', async (msisdn, words, status) => {
    const site = createSite()
    const { confirmation_url: url } = site.charge({ msisdn })
    expect((await site.fetch(form(url, { otp: '123456' }))).status).toBe(303)
    expect(await (await site.fetch(new Request(url))).text()).toContain(words)
    const again = await site.fetch(form(url, { otp: '123456' }))
    expect(again.status).toBe(status)
    expect(await again.text()).toContain('Return to')
  })
})

describe('a page of either area', () => {
  it('is not found under an identifier that does not exist or is not well-formed', async () => {
    const site = createSite()
    for (const path of ['/authorize/none', '/confirm/none', '/confirm/%E0%A4', '/authorize/%00']) {
      const read = await site.fetch(new Request(`https://mock.test${path}`))
      expect(read.status, path).toBe(404)
      expect(await read.text()).toContain('Page not found')
      const sent = await site.fetch(
        form(`https://mock.test${path}`, { otp: '123456', decision: 'authorize' }),
      )
      expect(sent.status, path).toBe(404)
    }
  })

  it('leaves every other path to the mock', async () => {
    const { pages } = createSite()
    for (const path of [
      '/',
      '/authorize',
      '/authorize/',
      '/authorize/a/b',
      '/confirmed/a',
      '/api/v1/mfs/confirm/a',
    ]) {
      expect(await pages(new Request('https://mock.test'), path, 'gateway'), path).toBeUndefined()
      expect(await pages(new Request('https://mock.test'), path, 'subscriptions'), path).toBeUndefined()
    }
    expect(await pages(new Request('https://mock.test'), '/authorize/a', 'gateway')).toBeUndefined()
    expect(await pages(new Request('https://mock.test'), '/confirm/a', 'subscriptions')).toBeUndefined()
  })

  it('answers HEAD without a body, and other methods with what is allowed', async () => {
    const site = createSite()
    const { url } = site.subscribe()
    const head = await site.fetch(new Request(url, { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    const other = await site.fetch(new Request(url, { method: 'DELETE' }))
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })

  it('refuses a form of another site, and takes its own and those of programs', async () => {
    const own = 'https://mock.test'
    const cases: [Record<string, string>, number][] = [
      [{ 'sec-fetch-site': 'cross-site', origin: own }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'https://mock.test.evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
      [{ origin: own }, 303],
      [{}, 303],
    ]
    for (const [headers, status] of cases) {
      const site = createSite()
      const { url, invoiceID } = site.subscribe()
      const { pages } = site
      // A Request of Node drops some of these headers: the pages read plain parts.
      const request = {
        method: 'POST',
        url,
        headers: new Headers({ ...headers, 'content-type': 'application/x-www-form-urlencoded' }),
        text: async () => 'decision=authorize',
      }
      const answer = await pages(request, new URL(url).pathname, 'subscriptions')
      expect(answer?.status, JSON.stringify(headers)).toBe(status)
      const { status: after } = value(site.subscriptions.authorization(invoiceID))
      expect(after).toBe(status === 303 ? 'SUCCEEDED' : 'INITIALIZED')
    }
  })

  it('refuses a body that is not a form', async () => {
    const site = createSite()
    const { url, invoiceID } = site.subscribe()
    for (const type of ['text/plain', 'application/json', 'multipart/form-data; boundary=x']) {
      const request = new Request(url, {
        method: 'POST',
        body: 'decision=authorize',
        headers: { 'content-type': type },
      })
      expect((await site.fetch(request)).status).toBe(415)
    }
    expect(value(site.subscriptions.authorization(invoiceID)).status).toBe('INITIALIZED')
  })

  it('carries a policy that runs nothing, and is neither kept, framed nor guessed', async () => {
    const site = createSite()
    const urls = [site.subscribe().url, site.charge().confirmation_url, 'https://mock.test/confirm/none']
    for (const url of urls) {
      const { headers } = await site.fetch(new Request(url))
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

  it('shows no merchant text as markup, and sends nobody to an address that runs', async () => {
    const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
    const site = createSite()
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'JaVaScRiPt://%0aalert(1)',
      'java\nscript://x',
    ]) {
      const { confirmation_url: url } = site.charge({
        currency: hostile,
        msisdn: hostile,
        redirect_uri: address,
      })
      const before = await (await site.fetch(new Request(url))).text()
      const answer = await site.fetch(form(url, { otp: '123456' }))
      const after = await answer.text()
      expect(answer.status, address).toBe(200)
      expect(answer.headers.get('location')).toBeNull()
      for (const text of [before, after]) {
        expect(text.replace(style, '')).not.toMatch(/<script|<img|javascript:|href="data:t/i)
        expect(text).toContain('&lt;script&gt;')
      }
    }
  })

  it('sends the payer on to an app by its own scheme', async () => {
    const site = createSite()
    const { confirmation_url: url } = site.charge({ redirect_uri: 'shopapp://return/1' })
    const page = await site.fetch(new Request(url))
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' shopapp:;")
    const answer = await site.fetch(form(url, { otp: '123456' }))
    expect(answer.headers.get('location')).toBe('shopapp://return/1')
  })
})
