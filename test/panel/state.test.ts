import { GatewayClient } from 'mandatekit'
import { createMock, type MockOptions } from 'mandatekit/mocks/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSite } from '../pages/site.ts'
import { startServer } from '../support/mock-server.ts'
import { stateOf } from './asking.ts'

const order = { start: '2026-12-05', end: '2027-11-28', cycle: 'DAILY', amount: '249.00' } as const

describe('the state', () => {
  let site: Awaited<ReturnType<typeof startSite>>

  beforeEach(async () => {
    site = await startSite()
  })
  afterEach(() => site.close())

  const page = async (path: string) => (await fetch(`${site.url}/_mock/${path}`)).text()

  /** Creates a mandate, and renews it with a key. */
  const renew = async (key: string) => {
    const { id } = await site.charge()
    site.mock.payer.confirm(site.mock.state.charges().at(-1)?.confirmation_id ?? '')
    const renewal = await new GatewayClient(site.mock.clientOptions.gateway).renew(id, {
      idempotencyKey: key,
    })
    return { mandate: id, renewal }
  }

  test('contains no credential, token, key or code, and no return address, except in the card that lists public ones', async () => {
    const { url } = await site.subscribe({ userReturnURL: 'https://shop.example/?session=private-session' })
    const { apiKey } = site.mock.clientOptions.gateway
    await renew(`mine-${apiKey}-1`)
    await fetch(`${site.url}/api/v1/mfs/confirm/conf_none`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ otp: '123456' }),
    })
    expect(JSON.stringify((await stateOf(site.url)).subscriptions)).not.toContain('private-session')
    const numbers = site.mock.requests.all().map(({ number }) => `requests/${number}`)
    const paths = ['', 'subscriptions', 'charges', 'requests', 'notifications', 'faults', ...numbers]
    const rest = await Promise.all(paths.map(page))
    const text = JSON.stringify(await stateOf(site.url)) + rest.join('')
    expect(text).toContain(url.split('/').at(-1))
    expect(text).toContain('mine-[redacted]-1')
    const withoutKey = text.replaceAll('Bearer mock-api-key', '')
    for (const secret of [apiKey, '123456']) expect(withoutKey).not.toContain(secret)
    // A request with the public credentials can be copied as a command that works.
    const withoutCopies = text
      .replace(/ data-copy="[^"]*"/g, '')
      .replace(/<details id="as-code">.*?<\/details>/gs, '')
    for (const secret of ['mock-client-secret', 'mock-password', apiKey]) {
      expect(withoutCopies).not.toContain(secret)
    }
  })

  test('shows requests between the events of an object, also if all have the same time', async () => {
    const { mandate } = await renew('cycle-2026-12')
    const [, timeline = ''] = (await page(`charges/${mandate}`)).split('class="timeline"')
    const entries = timeline.match(/(?<=gateway\.)(renew|charge)|(?<=<div>)(created|confirmed|succeeded)/g)
    expect(entries).toEqual(['renew', 'succeeded', 'confirmed', 'charge', 'created'])
  })

  test('leads from an object to a request whose response was lost, and back', async () => {
    site.mock.faults.add({ operation: '*', kind: 'lost-response' })
    await expect(site.charge()).rejects.toThrow()
    const [{ id } = { id: '' }] = site.mock.state.charges()
    expect((await page(`charges/${id}`)).split('class="timeline"')[1]).toContain('href="/_mock/requests/1"')
    expect(await page('requests/1')).toContain(`href="/_mock/charges/${id}"`)
    expect(site.mock.requests.all()[0]?.response).toBeUndefined()
  })

  test('lists the request of a subscription, and not that of another one with the same requestID', async () => {
    await site.subscribe({ requestID: 'same' })
    site.mock.add({ subscriptions: [{ request: { ...order, requestID: 'same' } }] })
    const invoices = site.mock.state.subscriptions().map(({ invoiceId }) => invoiceId)
    const listed = invoices.map(async (id) => (await stateOf(site.url, `?requests.of=${id}`)).requests.total)
    expect(await Promise.all(listed)).toEqual([1, 0])
  })

  test('says in words what is next, who received what, and what was renewed', async () => {
    const { invoiceID } = await site.subscribe({ start: '2026-12-05' })
    expect(await page('')).toContain('<bdi>expiry of <span class="word">order-1</span></bdi>')
    site.mock.notifications.connect('http://127.0.0.1:9/hook', { retries: { attempts: 3, delays: [1, 2] } })
    site.mock.notifications.connect(() => new Response())
    site.mock.payer.authorize(invoiceID)
    await site.mock.notifications.flush()
    expect(await page('')).toContain('<bdi>delivery of a notification</bdi>')
    expect(await page('notifications')).toContain('retries: attempts 3, delays 1 to 2')
    const shown = await page(`notifications/${site.mock.notifications.all()[0]?.notificationId}`)
    for (const to of ['to http://127.0.0.1:9/hook', 'to a function']) {
      expect(shown.replace(/<[^>]*>/g, '')).toContain(to)
    }
    expect(shown.match(/^ {2}&quot;notificationId&quot;/gm)).toHaveLength(3)
    await site.mock.clock.advance({ days: 1 })
    expect(await page('')).toContain('<bdi>payment of <span class="word">order-1</span></bdi>')
    expect(await page('subscriptions')).toMatch(
      /data-heading="Next payment"><time [^>]*>2026-12-05 12:00:00</,
    )
    const { mandate, renewal } = await renew('cycle-2026-12')
    const charge = await page(`charges/${mandate}`)
    expect(charge).toMatch(`<dt>Renewals</dt><dd><a class="link" href="/_mock/charges/${renewal.id}">`)
    expect(charge).toMatch(/<strong>succeeded<\/strong> <em>now<\/em><small>succeed<\/small>/)
  })

  test('shows a notification after the event that caused it, also if the clock has milliseconds', async () => {
    const { url, mock } = await startServer({ mock: createMock({ clock: '2026-11-28T12:00:00.900Z' }) })
    const [one] = mock.add({ subscriptions: [{ request: order, authorizedAt: false }] })
    mock.payer.authorize(one?.invoiceId ?? '')
    const shown = await (await fetch(`${url}/_mock/subscriptions/${one?.invoiceId}`)).text()
    const kinds = shown.match(/(?<=<span class="what">)(event|notification)/g)
    expect(kinds).toEqual(['notification', 'event', 'event'])
  })

  test('shows no secret of a form that failed, although the form keeps its other fields', async () => {
    const fields = { action: 'connect', url: 'no-url', 'signing.secret': 'my-secret', headers: 'my-header' }
    const body = new URLSearchParams(fields)
    const response = await fetch(`${site.url}/_mock/notifications`, { method: 'POST', body })
    const html = await response.text()
    expect(html).toContain('value="no-url"')
    expect(html).not.toMatch(/my-secret|my-header/)
  })

  test('distinguishes a renewal from its mandate, with the key of each; the API’s response does not', async () => {
    const { mandate, renewal } = await renew('cycle-2026-12')
    const { charges } = await stateOf(site.url)
    expect(charges.items).toMatchObject([
      { id: renewal.id, renews: mandate, idempotencyKey: 'cycle-2026-12' },
      { id: mandate, idempotencyKey: 'key-1' },
    ])
    expect(charges.items[1]).not.toHaveProperty('renews')
    const [newer, older] = [await page(`charges/${renewal.id}`), await page(`charges/${mandate}`)]
    expect(newer).toContain(`href="/_mock/charges/${mandate}"`)
    expect(newer).toContain('cycle-2026-12')
    expect(older).toContain('key-1')
    expect(older).not.toContain('<dt>Renews</dt>')

    const fields = 'amount confirmation_id confirmation_url created_at currency id msisdn outcome status'
    expect(Object.keys(renewal).sort().join(' ')).toBe(fields)
    expect(site.mock.state.charges().at(-1)).toEqual(renewal)
  })

  test('shows a key as text, and hides its middle', async () => {
    const { renewal } = await renew(`<img src=x>${'k'.repeat(500)}`)
    const shown = await page(`charges/${renewal.id}`)
    expect(shown).toMatch(/>&lt;img src=<span class="middle">x&gt;k{495}<\/span>k{5}</)
    expect(shown).not.toContain('<img')
  })
})

const charge = { msisdn: '+99900000001', amount: 1, currency: 'BDT', status: 'succeeded' } as const

/** Starts a server whose mock has a number of charges and subscriptions. */
const startWith = async (count: number, options: MockOptions = {}) => {
  const charges = Array.from({ length: count }, (_, index) => ({ ...charge, id: `ch_${index}` }))
  const gateway = { rateLimit: false, charges } as const
  const mock = createMock({ clock: '2027-01-01T06:00:00Z', gateway, ...options })
  const request = { start: '2027-01-01', end: '2027-12-31', cycle: 'DAILY', amount: '5.00' } as const
  mock.add({ subscriptions: Array.from({ length: count }, () => ({ request })) })
  const { url } = await startServer({ mock })
  const client = new GatewayClient(mock.clientOptions.gateway)
  const { status: _, ...order } = charge
  const createCharge = () => client.charge({ ...order, redirect_uri: 'https://shop.example/' })
  return { url, createCharge }
}

test('a renewal of the options names its mandate and no key', async () => {
  const { url } = await startWith(0, {
    gateway: { charges: [{ ...charge, id: 'ch_2', mandate_id: 'ch_1' }] },
  })
  const [renewal] = (await stateOf(url)).charges.items
  expect(renewal).toMatchObject({ id: 'ch_2', renews: 'ch_1' })
  expect(renewal).not.toHaveProperty('idempotencyKey')
})

describe('a program pages through the state', () => {
  test.each([0, 1, 49, 50, 51, 100, 120])('and reads each of %i charges once', async (count) => {
    const { url } = await startWith(count)
    const seen: string[] = []
    for (let query: string | undefined = ''; query !== undefined; ) {
      const { charges } = await stateOf(url, query)
      expect(charges).toMatchObject({ total: count, skipped: seen.length })
      seen.push(...charges.items.map(({ id }: { id: string }) => id))
      query = charges.older === undefined ? undefined : `?charges=${charges.older}`
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => `ch_${count - 1 - index}`))
  })

  test('and a page keeps its items while new ones are created', async () => {
    const { url, createCharge } = await startWith(60)
    const { charges } = await stateOf(url)
    const older = await stateOf(url, `?charges=${charges.older}`)
    await createCharge()
    const again = await stateOf(url, `?charges=${charges.older}`)
    expect(again.charges.items).toEqual(older.charges.items)
    expect([older.charges.skipped, again.charges.skipped]).toEqual([50, 51])
  })

  test('with a place for each list; an invalid place shows the newest items', async () => {
    const { url } = await startWith(60)
    const { subscriptions, charges } = await stateOf(url, '?subscriptions=20&limit=10')
    expect(subscriptions).toMatchObject({ total: 60, skipped: 40, older: 10, newer: 30 })
    expect(charges).toMatchObject({ total: 60, skipped: 0, older: 50 })
    for (const place of ['x', '-1', '1.5', '9'.repeat(30), '1000000']) {
      expect((await stateOf(url, `?charges=${place}`)).charges).toMatchObject({ skipped: 0, older: 10 })
    }
  })

  test('and finds the requests that the log has not dropped', async () => {
    const { url, createCharge } = await startWith(0, { logSize: 6 })
    for (let count = 0; count < 9; count += 1) await createCharge()
    const numbersAt = async (query: string) =>
      (await stateOf(url, query)).requests.items.map(({ number }: { number: number }) => number)
    expect(await numbersAt('?limit=4')).toEqual([9, 8, 7, 6])
    expect((await stateOf(url, '?limit=4')).requests).toMatchObject({ total: 6, older: 5 })
    expect(await numbersAt('?limit=4&requests=5')).toEqual([5, 4])
    // The items before this place were dropped: the page shows the oldest kept ones.
    expect(await numbersAt('?limit=4&requests=2')).toEqual([7, 6, 5, 4])
  })
})
