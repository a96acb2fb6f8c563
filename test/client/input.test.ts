import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InvalidRequestError } from '../../src/index.ts'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import {
  API_KEY,
  CHARGE,
  CHARGE_REQUEST,
  CREDENTIALS,
  DETAILS,
  errorOf,
  gatewayClient,
  SUBSCRIBED,
  SUBSCRIPTION,
  skippingClock,
  subscriptionsClient,
  withLogin,
} from './clients.ts'
import { startServer } from './scripted-server.ts'

const invalid = (work: Promise<unknown>) => errorOf<InvalidRequestError>(work)
const fieldsOf = ({ issues }: InvalidRequestError) => issues.map(({ field }) => field)

const subscribing = async () => {
  const server = await startServer(withLogin([{ body: SUBSCRIBED }]))
  return { server, subscriptions: subscriptionsClient(server.url, { clock: skippingClock() }) }
}

describe('a subscription request', () => {
  it.each([
    ['amount', 0.1 + 0.2],
    ['amount', 2.28],
    ['amount', 1e21],
    ['amount', '1e3'],
    ['amount', '-5'],
    ['amount', '0.00'],
    ['amount', ' 5'],
    ['amount', ''],
    ['start', '2026-02-30'],
    ['start', '2026-13-01'],
    ['start', '26-12-01'],
    ['start', new Date(0)],
    ['start', '2026-12-01T00:00:00Z'],
    ['end', '2026-11-30'],
    ['cycle', 'MONTHLY'],
    ['cycle', 'daily'],
    ['requestID', '  '],
    ['requestID', undefined],
    ['userReturnURL', '/return'],
    ['userReturnURL', 'javascript:alert(1)'],
    ['currency', 'BDT'],
  ])('is refused before any I/O, a login included, when %s is %j', async (field, value) => {
    const { server, subscriptions } = await subscribing()
    const error = await invalid(
      subscriptions.subscribe({ ...SUBSCRIPTION, [field]: value } as typeof SUBSCRIPTION),
    )
    expect(error).toMatchObject({ code: 'invalid_request', phase: 'input', outcome: 'not-sent', attempts: 0 })
    expect(fieldsOf(error)).toEqual([field])
    expect(server.requests).toEqual([])
  })

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

  it('every broken rule is named at once', async () => {
    const { subscriptions } = await subscribing()
    const error = await invalid(subscriptions.subscribe({ cycle: 'X', extra: 'secret-value' } as never))
    expect(fieldsOf(error).toSorted()).toEqual(
      ['amount', 'cycle', 'end', 'extra', 'requestID', 'start', 'userReturnURL'].toSorted(),
    )
    expect(error.message).toContain('extra is no field of subscribe; there are clientID, requestID, start, ')
    expect(error.message).not.toContain('secret-value')
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

  it('end may lie 730 days after start, or after today anywhere on Earth, and not later', async () => {
    const { subscriptions } = await subscribing()
    const request = (start: string, end: string) => subscriptions.subscribe({ ...SUBSCRIPTION, start, end })
    await request('2026-12-01', '2028-11-30')
    expect(fieldsOf(await invalid(request('2026-12-01', '2028-12-01')))).toEqual(['end'])
    // It is 12:00 UTC on the 28th: somewhere the 29th has begun.
    await request('2026-01-01', '2028-11-28')
    expect(fieldsOf(await invalid(request('2026-01-01', '2028-11-29')))).toEqual(['end'])
  })

  it('dates stay the texts they were, in every time zone', async () => {
    const { server, subscriptions } = await subscribing()
    const zone = process.env.TZ
    process.env.TZ = 'America/Los_Angeles'
    try {
      await subscriptions.subscribe(SUBSCRIPTION)
      expect(await invalid(subscriptions.subscribe({ ...SUBSCRIPTION, start: '2026-02-30' }))).toBeDefined()
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

  it.each(['', '.', '..', '\uD800', undefined, 7, null])('%j is refused', async (id) => {
    const { url, requests } = await server()
    expect(fieldsOf(await invalid(subscriptionsClient(url).details(id as string)))).toEqual([
      'subscriptionId',
    ])
    expect(fieldsOf(await invalid(gatewayClient(url).renew(id as string, { cycle: '2026-12-01' })))).toEqual([
      'chargeId',
    ])
    expect(requests).toEqual([])
  })

  it('any other text is one path segment, under any base URL', async () => {
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

  it('a payment may be named by a whole number, and by no other', async () => {
    const { url, requests } = await server()
    await subscriptionsClient(url).payment(42)
    expect(requests.at(-1)?.url).toBe('/api/v1.0/subscription/payment/42')
    for (const id of [1.5, 2 ** 53, Number.NaN]) {
      expect(fieldsOf(await invalid(subscriptionsClient(url).payment(id)))).toEqual(['paymentId'])
    }
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

describe('a charge and a renewal', () => {
  it.each([
    ['amount', 10.5],
    ['amount', 2 ** 53],
    ['amount', '250'],
    ['amount', Number.NaN],
    ['msisdn', 8_801_700_000_001],
    ['currency', ''],
    ['redirect_uri', 'shop.example'],
    ['callback', 'x'],
  ])('a charge is refused when %s is %j', async (field, value) => {
    const gateway = gatewayClient('http://127.0.0.1:1')
    expect(fieldsOf(await invalid(gateway.charge({ ...CHARGE_REQUEST, [field]: value })))).toEqual([field])
  })

  it.each(['', ' ', 'line\nbreak', 'é', 5])('the idempotency key %j is refused', async (key) => {
    const error = await invalid(
      gatewayClient('http://127.0.0.1:1').charge(CHARGE_REQUEST, { idempotencyKey: key as string }),
    )
    expect(fieldsOf(error)).toEqual(['idempotencyKey'])
  })

  it('a renewal needs a cycle or a key, and not both', async () => {
    const server = await startServer([{ status: 201, body: CHARGE }])
    const gateway = gatewayClient(server.url)
    for (const input of [
      undefined,
      {},
      { cycle: '2026-12-01', idempotencyKey: 'k' },
      { cycle: new Date(0) },
    ]) {
      expect(await invalid(gateway.renew('ch_1', input as never))).toMatchObject({
        operation: 'gateway.renew',
      })
    }
    expect(server.requests).toEqual([])
    await gateway.renew('ch_1', { cycle: '2026-12-01', attempt: 2 })
    await gateway.renew('ch_1', { idempotencyKey: 'my key' })
    expect(server.requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
      ['renewal:ch_1:2026-12-01:2', '{"mandate_id":"ch_1"}'],
      ['my key', '{"mandate_id":"ch_1"}'],
    ])
  })
})

describe('options', () => {
  it.each([
    'shop.example',
    'ftp://shop.example',
    'https://user:hidden@shop.example',
    'https://shop.example?x=1',
    'https://shop.example#x',
    'https://',
    'https:///shop',
    '',
    7,
    undefined,
  ])('the base URL %j is refused and not quoted', (baseUrl) => {
    expect(() => new GatewayClient({ baseUrl: baseUrl as string, apiKey: API_KEY })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        issues: [expect.objectContaining({ field: 'baseUrl' })],
        message: expect.not.stringContaining('hidden'),
      }),
    )
  })

  it.each([
    ['timeout', { timeout: 0 }],
    ['totalTimeout', { totalTimeout: Number.POSITIVE_INFINITY }],
    ['retry.limit', { retry: { limit: -1 } }],
    ['retry.maxWait', { retry: { maxWait: Number.NaN } }],
    ['rateLimit', { rateLimit: 'later' }],
    ['fetch', { fetch: 'fetch' }],
    ['clock', { clock: { now: 1 } }],
    ['apiPrefix', { apiPrefix: 'v2/' }],
    ['headers.Authorization', { headers: { Authorization: 'hidden-value' } }],
    ['headers.content-type', { headers: { 'content-type': 'text/plain' } }],
    ['headers.Idempotency-Key', { headers: { 'Idempotency-Key': 'x' } }],
    ['headers.x-note', { headers: { 'x-note': 'hidden-value\r\nx-evil: 1' } }],
    ['headers', { headers: { 'x note': 'x' } }],
  ])('%s is checked, at the client and at the call', async (field, options) => {
    const make = () =>
      new SubscriptionsClient({
        baseUrl: 'http://127.0.0.1:1',
        credentials: CREDENTIALS,
        ...(options as object),
      })
    expect(make).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining({ field })],
        message: expect.not.stringContaining('hidden-value'),
      }),
    )
    if (['rateLimit', 'fetch', 'clock', 'apiPrefix'].includes(field)) return
    const call = gatewayClient('http://127.0.0.1:1').charge(CHARGE_REQUEST, options as object)
    expect(fieldsOf(await invalid(call))).toEqual([field])
  })

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
