import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { renewalKey } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { API_KEY, CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { calls, openClients } from '../support/open-clients.ts'

const subscribing = () => openClients({ body: SUBSCRIBED })
const charging = () => openClients({ status: 202, body: CHARGE })
const anything = () =>
  openClients(({ url }) => ({
    body: url.includes('charges') ? { status: 'X' } : { ...DETAILS, status: 'X' },
  }))

type Clients = Awaited<ReturnType<typeof openClients>>
const lastOf = ({ requests }: Clients) => requests.at(-1)
const bodyOf = (clients: Clients) => JSON.parse(lastOf(clients)?.body ?? '')

describe('a subscription request', () => {
  it('has the amount exactly as it was given', async () => {
    const amount = fc.stringMatching(/^[1-9]\d{0,8}(\.\d{1,4})?$/)
    const clients = await subscribing()
    await fc.assert(
      fc.asyncProperty(amount, async (text) => {
        await clients.subscriptions.subscribe({ ...SUBSCRIPTION, amount: text })
        expect(lastOf(clients)?.body).toContain(`"amount":"${text}"`)
      }),
      { numRuns: 30, examples: [['10.00']] },
    )
  })

  it('has the fields of S1, with the clientID of the caller or of the credentials', async () => {
    const { subscriptions, requests } = await subscribing()
    await subscriptions.subscribe(SUBSCRIPTION)
    await subscriptions.subscribe({ ...SUBSCRIPTION, clientID: 'another' })
    expect(requests.slice(1).map(({ body }) => JSON.parse(body))).toEqual([
      { ...SUBSCRIPTION, clientID: CREDENTIALS.clientId },
      { ...SUBSCRIPTION, clientID: 'another' },
    ])
  })

  it('case 29: has its dates as they were given, in every time zone', async () => {
    vi.stubEnv('TZ', 'America/Los_Angeles')
    const clients = await subscribing()
    await calls.subscribe(clients)
    expect(bodyOf(clients)).toMatchObject({ start: '2026-12-01', end: '2027-11-30' })
  })
})

describe('case 27: addresses', () => {
  it('any identifier is one path segment, under any base URL', async () => {
    const { url, requests } = await anything()
    const ids = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((id) => !/(?:^|[/\\])\.{1,2}(?:[/\\]|$)/.test(id.trim()))
    const bases = fc.constantFrom('', '/', '//', '/pre/fix', '/pre/fix/', '/pre/fix//')
    await fc.assert(
      fc.asyncProperty(ids, bases, async (id, base) => {
        await gatewayClient(`${url}${base}`).status(id)
        const prefix = base.startsWith('/pre') ? '/pre/fix' : ''
        const segments = (requests.at(-1)?.url ?? '').slice(prefix.length).split('/')
        expect(segments.slice(0, 5)).toEqual(['', 'api', 'v1', 'mfs', 'charges'])
        expect(segments.slice(5).map(decodeURIComponent)).toEqual([id])
      }),
      { numRuns: 100, examples: [['a/b?c#d%20e é', '/pre/fix/']] },
    )
  })

  it('a payment may have a whole number as its identifier', async () => {
    const clients = await anything()
    await clients.subscriptions.payment(42)
    expect(lastOf(clients)?.url).toBe('/api/v1.0/subscription/payment/42')
  })

  it('an API prefix replaces the version in the paths', async () => {
    const { url, requests } = await anything()
    await gatewayClient(url, { apiPrefix: '/v2' }).status('ch_1')
    await gatewayClient(url, { apiPrefix: '' }).health()
    await subscriptionsClient(url, { apiPrefix: '/api/v2.0' }).details('sub-1')
    expect(requests.map((request) => request.url)).toEqual([
      '/v2/mfs/charges/ch_1',
      '/health',
      '/oauth/token',
      '/api/v2.0/subscription/sub-1',
    ])
  })
})

describe('headers and bodies', () => {
  it('a renewal has its mandate, and the key of its due date or of the caller', async () => {
    const { gateway, requests } = await openClients({ status: 201, body: CHARGE })
    await gateway.renew('ch_0', { dueDate: '2026-12-01', attempt: 2 })
    await gateway.renew('ch_0', { idempotencyKey: 'my key' })
    expect(requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
      [renewalKey('ch_0', '2026-12-01', 2), '{"mandate_id":"ch_0"}'],
      ['my key', '{"mandate_id":"ch_0"}'],
    ])
  })

  it('headers of the client and of the call are sent; those of the call win in any casing', async () => {
    const { url, requests } = await charging()
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
    const { url, requests } = await anything()
    await subscriptionsClient(url).details('sub-1')
    await subscriptionsClient(url, { emptyBody: 'none' }).details('sub-1')
    const [, withObject, , without] = requests
    expect([withObject?.body, withObject?.headers['content-type']]).toEqual(['{}', 'application/json'])
    expect([without?.body, without?.headers['content-type']]).toEqual(['', undefined])
  })

  it('a token request is JSON, or a form with tokenRequestFormat', async () => {
    const { url, requests } = await anything()
    await subscriptionsClient(url).login()
    await subscriptionsClient(url, { tokenRequestFormat: 'form' }).login()
    const [json, form] = requests
    expect(JSON.parse(json?.body ?? '')).toEqual(Object.fromEntries(new URLSearchParams(form?.body)))
    expect(form?.headers['content-type']).toBe('application/x-www-form-urlencoded')
  })

  it('reset has the method of resetMethod and no body', async () => {
    const { url, requests } = await openClients({ status: 204 })
    await gatewayClient(url).reset()
    await gatewayClient(url, { resetMethod: 'DELETE' }).reset()
    expect(requests.map((request) => [request.method, request.url, request.body])).toEqual([
      ['POST', '/api/v1/reset', ''],
      ['DELETE', '/api/v1/reset', ''],
    ])
  })
})

describe('arguments that change after the call do not change the request', () => {
  it('of a charge', async () => {
    const clients = await charging()
    const request = { ...CHARGE_REQUEST }
    const options = { idempotencyKey: 'order-1', headers: { 'x-shop': 'one' } }
    const call = clients.gateway.charge(request, options)
    request.amount = 9_999
    options.idempotencyKey = 'order-2'
    options.headers['x-shop'] = 'two'
    await call
    expect(bodyOf(clients)).toMatchObject({ amount: 250 })
    expect(lastOf(clients)?.headers).toMatchObject({ 'idempotency-key': 'order-1', 'x-shop': 'one' })
  })

  it('of a subscription that waits for its credentials', async () => {
    const clients = await subscribing()
    const request: { amount: string } & typeof SUBSCRIPTION = { ...SUBSCRIPTION }
    const client = subscriptionsClient(clients.url, { credentials: async () => CREDENTIALS })
    const call = client.subscribe(request)
    Object.assign(request, { amount: '9999.00', end: 'never' })
    await call
    expect(bodyOf(clients)).toMatchObject({ amount: '25.00', end: '2027-11-30' })
  })
})

it('case 138: apiPrefix replaces the prefix at the start of a path alone', async () => {
  const { url, requests } = await openClients({ body: {} })
  const gateway = gatewayClient(url, { apiPrefix: '/v2' })
  for (const path of ['/api/v1/refunds', '/proxy/api/v1/refunds', '/api/v1/api/v1/x', '/api/v10/x'])
    await gateway.request({ method: 'GET', path })
  const paths = ['/v2/refunds', '/proxy/api/v1/refunds', '/v2/api/v1/x', '/api/v10/x']
  expect(requests.map((request) => request.url)).toEqual(paths)
})

it('request() takes URLSearchParams as its query, repeated names included', async () => {
  const { url, requests } = await openClients({ body: {} })
  const gateway = gatewayClient(url)
  const query = new URLSearchParams([
    ['status', 'open'],
    ['status', 'paid & done'],
  ])
  await gateway.request({ method: 'GET', path: '/api/v1/refunds', query })
  await gateway.request({ method: 'GET', path: '/api/v1/refunds', query: new URLSearchParams() })
  await gateway.request({ method: 'GET', path: '/api/v1/refunds', query: { page: 2, none: undefined } })
  expect(requests.map((request) => request.url)).toEqual([
    '/api/v1/refunds?status=open&status=paid+%26+done',
    '/api/v1/refunds',
    '/api/v1/refunds?page=2',
  ])
})
