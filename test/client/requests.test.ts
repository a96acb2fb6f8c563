import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { renewalKey } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { API_KEY, CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { calls, openClients } from '../support/open-clients.ts'

/** Clients of a server that accepts everything, their last request, and its body. */
const open = async () => {
  const clients = await openClients(({ url }) => ({
    body: url.includes('/mfs/') ? CHARGE : { ...DETAILS, ...SUBSCRIBED, status: 'X' },
  }))
  const last = () => clients.requests.at(-1)
  return { ...clients, last, body: () => JSON.parse(last()?.body ?? '') }
}

describe('a subscription request', () => {
  it('has the amount exactly as it was given', async () => {
    const amount = fc.stringMatching(/^[1-9]\d{0,8}(\.\d{1,4})?$/)
    const { subscriptions, last } = await open()
    const property = fc.asyncProperty(amount, async (text) => {
      await subscriptions.subscribe({ ...SUBSCRIPTION, amount: text })
      expect(last()?.body).toContain(`"amount":"${text}"`)
    })
    await fc.assert(property, { numRuns: 30, examples: [['10.00']] })
  })

  it('has the fields of S1, with the clientID of the caller or of the credentials', async () => {
    const { subscriptions, body } = await open()
    await subscriptions.subscribe(SUBSCRIPTION)
    expect(body()).toEqual({ ...SUBSCRIPTION, clientID: CREDENTIALS.clientId })
    await subscriptions.subscribe({ ...SUBSCRIPTION, clientID: 'another' })
    expect(body()).toEqual({ ...SUBSCRIPTION, clientID: 'another' })
  })

  it('case 29: has its dates as they were given, in every time zone', async () => {
    vi.stubEnv('TZ', 'America/Los_Angeles')
    const { body, ...clients } = await open()
    await calls.subscribe(clients)
    expect(body()).toMatchObject({ start: '2026-12-01', end: '2027-11-30' })
  })
})

describe('case 27: addresses', () => {
  it('any identifier is one path segment, under any base URL', async () => {
    const { url, requests } = await openClients({ body: { status: 'X' } })
    const ids = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((id) => !/(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(id.trim()))
    const bases = fc.constantFrom('', '/', '//', '/pre/fix', '/pre/fix/', '/pre/fix//')
    const property = fc.asyncProperty(ids, bases, async (id, base) => {
      await gatewayClient(`${url}${base}`).status(id)
      const prefix = base.startsWith('/pre') ? '/pre/fix' : ''
      const segments = (requests.at(-1)?.url ?? '').slice(prefix.length).split('/')
      expect(segments.slice(0, 5)).toEqual(['', 'api', 'v1', 'mfs', 'charges'])
      expect(segments.slice(5).map(decodeURIComponent)).toEqual([id])
    })
    await fc.assert(property, { examples: [['a/b?c#d%20e é', '/pre/fix/']] })
  })

  it('a payment may have a whole number as its identifier', async () => {
    const { subscriptions, last } = await open()
    await subscriptions.payment(42)
    expect(last()?.url).toBe('/api/v1.0/subscription/payment/42')
  })

  it('case 138: apiPrefix replaces the version at the start of a path alone', async () => {
    const { url, requests } = await open()
    const gateway = gatewayClient(url, { apiPrefix: '/v2' })
    await gateway.status('ch_1')
    await gatewayClient(url, { apiPrefix: '' }).health()
    await subscriptionsClient(url, { apiPrefix: '/api/v2.0' }).details('sub-1')
    for (const path of [
      '/api/v1/refunds',
      '/proxy/api/v1/refunds',
      '/api/v1/api/v1/x',
      '/api/v10/x',
    ] as const)
      await gateway.request({ method: 'GET', path })
    expect(requests.map((request) => request.url)).toEqual([
      ...['/v2/mfs/charges/ch_1', '/health', '/oauth/token', '/api/v2.0/subscription/sub-1'],
      ...['/v2/refunds', '/proxy/api/v1/refunds', '/v2/api/v1/x', '/api/v10/x'],
    ])
  })

  it('request() takes names and values or URLSearchParams as its query, repeated names included', async () => {
    const { gateway, last } = await open()
    const query = new URLSearchParams('status=open&status=paid+%26+done')
    for (const [given, sent] of [
      [query, '?status=open&status=paid+%26+done'],
      [new URLSearchParams(), ''],
      [{ page: 2, none: undefined }, '?page=2'],
    ] as const) {
      await gateway.request({ method: 'GET', path: '/api/v1/refunds', query: given })
      expect(last()?.url).toBe(`/api/v1/refunds${sent}`)
    }
  })
})

describe('headers and bodies', () => {
  it('a renewal has its mandate, and the key of its due date or of the caller', async () => {
    const { gateway, requests } = await open()
    await gateway.renew('ch_0', { dueDate: '2026-12-01', attempt: 2 })
    await gateway.renew('ch_0', { idempotencyKey: 'my key' })
    expect(requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
      [renewalKey('ch_0', '2026-12-01', 2), '{"mandate_id":"ch_0"}'],
      ['my key', '{"mandate_id":"ch_0"}'],
    ])
  })

  it('headers of the client and of the call are sent; those of the call win in any casing', async () => {
    const { url, requests } = await open()
    const gateway = gatewayClient(url, { headers: { 'X-Tenant': 'a', 'X-Trace': 'client' } })
    await gateway.charge(CHARGE_REQUEST, { headers: { 'x-trace': 'call' } })
    expect(requests[0]?.headers).toMatchObject({
      'x-tenant': 'a',
      'x-trace': 'call',
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${API_KEY}`,
    })
  })

  it('an operation without fields has an empty object as its body, or no body with emptyBody', async () => {
    const { url, requests } = await open()
    await subscriptionsClient(url).details('sub-1')
    await subscriptionsClient(url, { emptyBody: 'none' }).details('sub-1')
    const [, withObject, , without] = requests
    expect([withObject?.body, withObject?.headers['content-type']]).toEqual(['{}', 'application/json'])
    expect([without?.body, without?.headers['content-type']]).toEqual(['', undefined])
  })
})

describe('arguments that change after the call do not change the request', () => {
  it('of a charge', async () => {
    const { gateway, body, last } = await open()
    const request = { ...CHARGE_REQUEST }
    const options = { idempotencyKey: 'order-1', headers: { 'x-shop': 'one' } }
    const call = gateway.charge(request, options)
    request.amount = 9_999
    options.idempotencyKey = 'order-2'
    options.headers['x-shop'] = 'two'
    await call
    expect(body()).toMatchObject({ amount: 250 })
    expect(last()?.headers).toMatchObject({ 'idempotency-key': 'order-1', 'x-shop': 'one' })
  })

  it('of a subscription that waits for its credentials', async () => {
    const { url, body } = await open()
    const request = { ...SUBSCRIPTION }
    const client = subscriptionsClient(url, { credentials: async () => CREDENTIALS })
    const call = client.subscribe(request)
    Object.assign(request, { amount: '9999.00', end: 'never' })
    await call
    expect(body()).toMatchObject({ amount: '25.00', end: '2027-11-30' })
  })
})
