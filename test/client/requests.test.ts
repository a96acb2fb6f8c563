import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renewalKey } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { API_KEY, CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const subscribing = async () => {
  const server = await startServer(withLogin([{ body: SUBSCRIBED }]))
  return { server, subscriptions: subscriptionsClient(server.url, { clock: skippingClock() }) }
}

describe('a subscription request', () => {
  it('an amount is sent exactly as it was given', async () => {
    const amount = fc.stringMatching(/^[1-9]\d{0,8}(\.\d{1,4})?$/)
    const { server, subscriptions } = await subscribing()
    await fc.assert(
      fc.asyncProperty(amount, async (text) => {
        await subscriptions.subscribe({ ...SUBSCRIPTION, amount: text })
        expect(server.requests.at(-1)?.body).toContain(`"amount":"${text}"`)
      }),
      { numRuns: 30 },
    )
  })

  it('sends the fields of S1 and takes clientID from the credentials, or from the caller', async () => {
    const { server, subscriptions } = await subscribing()
    await subscriptions.subscribe(SUBSCRIPTION)
    await subscriptions.subscribe({ ...SUBSCRIPTION, clientID: 'another' })
    const bodies = server.requests.slice(1).map(({ body }) => JSON.parse(body))
    expect(bodies).toEqual([
      { ...SUBSCRIPTION, clientID: CREDENTIALS.clientId },
      { ...SUBSCRIPTION, clientID: 'another' },
    ])
  })

  it('dates stay the texts they were, in every time zone', async () => {
    const { server, subscriptions } = await subscribing()
    const zone = process.env.TZ
    process.env.TZ = 'America/Los_Angeles'
    try {
      await subscriptions.subscribe(SUBSCRIPTION)
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toMatchObject({
      start: '2026-12-01',
      end: '2027-11-30',
    })
  })
})

describe('identifiers', () => {
  const server = () =>
    startServer(
      withLogin((request) => ({
        body: request.url.includes('charges') ? CHARGE : { ...DETAILS, status: 'X' },
      })),
    )

  it('any text is one path segment, under any base URL', async () => {
    const { url, requests } = await server()
    const ids = fc.string({ unit: 'grapheme', minLength: 1 }).filter((id) => id !== '.' && id !== '..')
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

  it('a payment may be named by a whole number', async () => {
    const { url, requests } = await server()
    await subscriptionsClient(url).payment(42)
    expect(requests.at(-1)?.url).toBe('/api/v1.0/subscription/payment/42')
  })

  it('an API prefix takes the place of the version in the paths', async () => {
    const { url, requests } = await server()
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

it('a renewal sends its mandate, and the key of its due date or of the caller', async () => {
  const server = await startServer([{ status: 201, body: CHARGE }])
  const gateway = gatewayClient(server.url)
  await gateway.renew('ch_1', { dueDate: '2026-12-01', attempt: 2 })
  await gateway.renew('ch_1', { idempotencyKey: 'my key' })
  expect(server.requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
    [renewalKey('ch_1', '2026-12-01', 2), '{"mandate_id":"ch_1"}'],
    ['my key', '{"mandate_id":"ch_1"}'],
  ])
})

describe('headers and bodies', () => {
  it('headers of client and call are sent, the call’s last, whatever their casing', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const gateway = gatewayClient(server.url, { headers: { 'X-Tenant': 'a', 'X-Trace': 'client' } })
    await gateway.charge(CHARGE_REQUEST, { headers: { 'x-trace': 'call' } })
    expect(server.requests[0]?.headers).toMatchObject({
      'x-tenant': 'a',
      'x-trace': 'call',
      'content-type': 'application/json',
      authorization: `Bearer ${API_KEY}`,
    })
  })

  it('operations without body fields send an empty object, or nothing, as told', async () => {
    const server = await startServer(withLogin([{ body: DETAILS }]))
    await subscriptionsClient(server.url).details('sub-1')
    await subscriptionsClient(server.url, { emptyBody: 'none' }).details('sub-1')
    const [, withObject, , without] = server.requests
    expect([withObject?.body, withObject?.headers['content-type']]).toEqual(['{}', 'application/json'])
    expect([without?.body, without?.headers['content-type']]).toEqual(['', undefined])
  })

  it('a token request is written as JSON, or as a form, as told', async () => {
    const server = await startServer(withLogin([{ body: DETAILS }]))
    await subscriptionsClient(server.url).login()
    await subscriptionsClient(server.url, { tokenRequestFormat: 'form' }).login()
    const [json, form] = server.requests
    expect(JSON.parse(json?.body ?? '')).toEqual(Object.fromEntries(new URLSearchParams(form?.body)))
    expect(form?.headers['content-type']).toBe('application/x-www-form-urlencoded')
  })

  it('reset is sent by the method that was chosen, without a body', async () => {
    const server = await startServer([{ status: 204 }])
    await gatewayClient(server.url).reset()
    await gatewayClient(server.url, { resetMethod: 'DELETE' }).reset()
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/api/v1/reset', ''],
      ['DELETE', '/api/v1/reset', ''],
    ])
  })
})

describe('an argument that changes after the call', () => {
  it('what a call was given is what is sent, whatever happens to it afterwards', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const request = { ...CHARGE_REQUEST }
    const options = { idempotencyKey: 'order-1', headers: { 'x-shop': 'one' } }
    const call = gatewayClient(server.url).charge(request, options)
    request.amount = 9_999
    options.idempotencyKey = 'order-2'
    options.headers['x-shop'] = 'two'
    await call
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ amount: 250 })
    expect(server.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'order-1', 'x-shop': 'one' })
  })

  it('a subscription whose fields change while the credentials are fetched is sent as it was checked', async () => {
    const server = await startServer(({ url }) =>
      url === '/oauth/token'
        ? { body: { token_type: 'Bearer', expires_in: 3600, access_token: 'access-token-1' } }
        : { body: { url: 'https://pay.example/1', invoiceID: 'inv-1', errorCode: '00' } },
    )
    const request: { amount: string } & typeof SUBSCRIPTION = { ...SUBSCRIPTION }
    const client = subscriptionsClient(server.url, {
      credentials: async () => ({
        clientId: 'merchant-1',
        clientSecret: 'client-secret-1',
        username: 'merchant',
        password: 'pass-word-1',
      }),
    })
    const call = client.subscribe(request)
    Object.assign(request, { amount: '9999.00', end: 'never' })
    await call
    expect(JSON.parse(server.requests[1]?.body ?? '')).toMatchObject({ amount: '25.00', end: '2027-11-30' })
  })
})
