import { describe, expect, it } from 'vitest'
import type { GatewayClientOptions } from '../../src/index.ts'
import { GatewayClient, renewalKey, SubscriptionsClient, toInstant } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { openClients } from '../support/open-clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'

const subscribing = () => openClients({ body: SUBSCRIBED })
const charging = () => openClients({ status: 202, body: CHARGE })
const NOWHERE = 'http://127.0.0.1:1'
const nowhere = gatewayClient(NOWHERE)

describe('cases 26 and 29: a subscription request is refused before any request, a login included', () => {
  it.each([
    ['amount', 0.1 + 0.2],
    ['amount', 2.28],
    ['amount', '0.00'],
    ['amount', SECRET],
    ['start', '2026-02-30'],
    ['start', new Date(0)],
    ['start', SECRET],
    ['end', '2026-11-30'],
    ['cycle', 'MONTHLY'],
    ['requestID', undefined],
    ['userReturnURL', '/return'],
    ['userReturnURL', 'javascript:alert(1)'],
    ['currency', 'BDT'],
  ])('when %s is %j', async (field, value) => {
    const { requests, subscriptions } = await subscribing()
    const error = await refusedBy(() => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, [field]: value })))
    expect(error).toMatchObject({ phase: 'input', operation: 'subscriptions.subscribe' })
    expect(error.issues.map((issue) => issue.field)).toEqual([field])
    expect(requests).toEqual([])
  })

  it('and every wrong field is named at once', async () => {
    const { subscriptions } = await subscribing()
    expect(
      await refusedFields(() => subscriptions.subscribe(loosely({ cycle: 'X', extra: SECRET }))),
    ).toEqual(['amount', 'cycle', 'end', 'extra', 'requestID', 'start', 'userReturnURL'])
  })

  it('when it ends more than 730 days after its start, or after today anywhere on Earth', async () => {
    const { subscriptions } = await subscribing()
    const request = (start: string, end: string) => () =>
      subscriptions.subscribe({ ...SUBSCRIPTION, start, end })
    await request('2026-12-01', '2028-11-30')()
    expect(await refusedFields(request('2026-12-01', '2028-12-01'))).toEqual(['end'])
    // It is 12:00 UTC on the 28th: somewhere the 29th has begun.
    await request('2026-01-01', '2028-11-28')()
    expect(await refusedFields(request('2026-01-01', '2028-11-29'))).toEqual(['end'])
  })
})

describe('case 26: a charge is refused before any request', () => {
  it.each([
    ['amount', 10.5],
    ['amount', -5],
    ['amount', '250'],
    ['msisdn', 8_801_700_000_001],
    ['currency', ''],
    ['redirect_uri', 'shop.example'],
    ['callback', SECRET],
  ])('when %s is %j', async (field, value) => {
    const { requests, gateway } = await charging()
    const error = await refusedBy(() => gateway.charge(loosely({ ...CHARGE_REQUEST, [field]: value })))
    expect(error).toMatchObject({ phase: 'input', operation: 'gateway.charge' })
    expect(error.issues.map((issue) => issue.field)).toEqual([field])
    expect(requests).toEqual([])
  })
})

it.each([
  ['without a due date or a key', {}],
  ['with both', { dueDate: '2026-12-01', idempotencyKey: 'k' }],
  ['with a Date', { cycle: new Date(0) }],
  ['with an unknown field', { dueDate: '2026-12-01', atempt: 2 }],
  ['with text', SECRET],
])('a renewal is refused before any request %s', async (_, renewal) => {
  const { requests, gateway } = await charging()
  const error = await refusedBy(() => gateway.renew('ch_1', loosely(renewal)))
  expect(error.operation).toBe('gateway.renew')
  expect(requests).toEqual([])
})

describe('case 27: an identifier is refused', () => {
  it.each(['', '.', '..', '\uD800', undefined, 7])('%j', async (id) => {
    const { subscriptions, gateway, requests } = await openClients({ body: DETAILS })
    const given = loosely(id)
    expect(await refusedFields(() => subscriptions.details(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.cancel(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.status(given))).toEqual(['invoiceId'])
    expect(await refusedFields(() => gateway.renew(given, { dueDate: '2026-12-01' }))).toEqual(['chargeId'])
    expect(await refusedFields(() => gateway.confirm(given, { otp: '1' }))).toEqual(['confirmationId'])
    expect(requests).toEqual([])
  })

  it.each([1.5, 2 ** 53, Number.NaN])('the payment %d', async (id) => {
    const { subscriptions } = await openClients({})
    expect(await refusedFields(() => subscriptions.payment(id))).toEqual(['paymentId'])
  })
})

it.each<[field: string, page: object]>([
  ['page', { page: 0 }],
  ['perPage', { perPage: 101 }],
  ['per_page', { per_page: 5 }],
])('a page is refused before any request with a wrong %s: %o', async (field, page) => {
  const { subscriptions, requests } = await openClients({})
  expect(await refusedFields(() => subscriptions.payments('sub-1', page))).toEqual([field])
  expect(await refusedFields(() => subscriptions.allPayments('sub-1', page).next())).toEqual([field])
  expect(requests).toEqual([])
})

it.each<[field: string, options: object]>([
  ['timeout', { timeout: 0 }],
  ['until', { until: 'succeeded' }],
  ['untill', { untill: () => true }],
])('a wait is refused before any request with a wrong %s', async (field, options) => {
  const { subscriptions, gateway, requests } = await openClients({ body: CHARGE })
  expect(await refusedFields(() => gateway.waitForCharge('ch_1', options))).toEqual([field])
  expect(await refusedFields(() => subscriptions.waitForStatus('inv-1', options))).toEqual([field])
  expect(requests).toEqual([])
})

it('every method rejects on input of a wrong type, and none throws or sends a request', async () => {
  const { subscriptions, gateway, requests } = await openClients({ body: CHARGE })
  for (const client of [subscriptions, gateway]) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(client))) {
      if (['constructor', 'health', 'withOptions'].includes(name)) continue
      const method: (...input: unknown[]) => unknown = Reflect.get(client, name).bind(client)
      for (const input of [true, [], Symbol(SECRET)].flatMap((wrong) => [[wrong], ['id', wrong]])) {
        const work = method(...input)
        const promise = name === 'allPayments' ? (work as AsyncGenerator).next() : work
        expect(promise).toBeInstanceOf(Promise)
        await refusedBy(() => promise)
      }
    }
  }
  expect(requests).toEqual([])
})

it.each<[string, () => unknown]>([
  ['as the code', () => nowhere.confirm('conf_1', loosely(SECRET))],
  ['as a field', () => nowhere.confirm('conf_1', loosely({ otp: 1, [SECRET.slice(0, 2)]: SECRET }))],
  ['as the request', () => nowhere.charge(loosely(SECRET))],
  ['as a time', () => toInstant(SECRET, 'UTC')],
  ['as a due date', () => renewalKey('ch_1', SECRET)],
])('a secret that is given %s is not shown', async (_, work) => {
  await refusedBy(work)
})

describe('a client is not created', () => {
  it.each([
    'shop.example',
    'ftp://shop.example',
    `https://user:${SECRET}@shop.example`,
    'https://shop.example?x=1',
    'https://shop.example#x',
    '',
    undefined,
  ])('with the base URL %j', async (baseUrl) => {
    expect(await refusedFields(() => gatewayClient(loosely(baseUrl)))).toEqual(['baseUrl'])
    expect(await refusedFields(() => subscriptionsClient(loosely(baseUrl)))).toEqual(['baseUrl'])
  })

  it.each<[field: string, options: object]>([
    ['timeout', { timeout: 0 }],
    ['totalTimeout', { totalTimeout: Number.NaN }],
    ['retry', { retry: 3 }],
    ['retry.limit', { retry: { limit: -1 } }],
    ['rateLimit', { rateLimit: 'hold' }],
    ['fetch', { fetch: 'fetch' }],
    ['apiPrefix', { apiPrefix: 'v2/' }],
    ['headers.Authorization', { headers: { Authorization: SECRET } }],
    ['headers.x-note', { headers: { 'x-note': `${SECRET}\r\nx-evil: 1` } }],
    ['hooks.onRequest', { hooks: { onRequest: 'log' } }],
    ['onUnexpected', { onUnexpected: 'log' }],
    ['timeOut', { timeOut: 5 }],
  ])('with a wrong %s: %o', async (field, options) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, options))).toEqual([field])
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each<[field: string, options: object]>([
    ['loginCooldown', { loginCooldown: 0 }],
    ['refresh', { refresh: 'token' }],
    ['tokenRequestFormat', { tokenRequestFormat: 'xml' }],
    ['emptyBody', { emptyBody: 'null' }],
    ['apiKey', { apiKey: SECRET }],
    ['credentials', { credentials: SECRET }],
    ['credentials.password', { credentials: { ...CREDENTIALS, password: `${SECRET}\n` } }],
    ['credentials.username', { credentials: { ...CREDENTIALS, username: ' ' } }],
  ])('of area S with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each<[field: string, options: object]>([
    ['apiKey', { apiKey: `${SECRET}\n` }],
    ['apiKey', { apiKey: '' }],
    ['resetMethod', { resetMethod: 'GET' }],
  ])('of area G with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, options))).toEqual([field])
  })

  it('with a clock or a token store that lacks a method', async () => {
    const clock = loosely({ now: () => 0 })
    const tokenStore = loosely({ get: () => undefined })
    expect((await refusedFields(() => gatewayClient(NOWHERE, { clock })))[0]).toMatch(/^clock/)
    expect((await refusedFields(() => subscriptionsClient(NOWHERE, { tokenStore })))[0]).toMatch(
      /^tokenStore/,
    )
  })

  it('without options', async () => {
    await refusedBy(() => new GatewayClient(loosely(undefined)))
    await refusedBy(() => new SubscriptionsClient(loosely(SECRET)))
  })

  it('and every wrong option is named at once', async () => {
    const options: object = { baseUrl: 'x', apiKey: '', timeout: -1, colour: SECRET }
    expect(await refusedFields(() => new GatewayClient(options as GatewayClientOptions))).toEqual([
      'apiKey',
      'baseUrl',
      'colour',
      'timeout',
    ])
  })
})

describe('a call is refused', () => {
  it.each<[field: string, options: object]>([
    ['timeout', { timeout: 0 }],
    ['signal', { signal: new AbortController() }],
    ['headers.Authorization', { headers: { Authorization: SECRET } }],
    ['headers.Idempotency-Key', { headers: { 'Idempotency-Key': SECRET } }],
    ['idempotencyKey', { idempotencyKey: '' }],
    ['idempotencyKey', { idempotencyKey: `${SECRET}\n` }],
    ['idempotencyKey', { idempotencyKey: 5 }],
    ['idempotencyKey', { idempotencyKey: null }],
    // With a misspelled key the call would be another charge.
    ['idempotencykey', { idempotencykey: 'order-1' }],
  ])('with a wrong %s: %o', async (field, options) => {
    const { gateway, requests } = await charging()
    expect(await refusedFields(() => gateway.charge(CHARGE_REQUEST, options))).toEqual([field])
    expect(requests).toEqual([])
  })

  it('with an idempotency key for an operation without one', async () => {
    const { gateway, requests } = await charging()
    const options: object = { idempotencyKey: SECRET }
    expect(await refusedFields(() => gateway.status('ch_1', options))).toEqual(['idempotencyKey'])
    expect(await refusedFields(() => gateway.confirm('c', { otp: '1' }, options))).toEqual(['idempotencyKey'])
    expect(requests).toEqual([])
  })

  it('with options that are not an object', async () => {
    await refusedBy(() => nowhere.charge(CHARGE_REQUEST, loosely(SECRET)))
    await refusedBy(() => nowhere.waitForCharge('ch_1', loosely(Date.now)))
  })
})

it.each<[string, () => unknown, RegExp]>([
  [
    'an option',
    () => new GatewayClient(loosely({ baseUrl: NOWHERE, apiKey: 'key', timeOut: 5 })),
    /Unknown option timeOut: did you mean timeout\?/,
  ],
  [
    'a field of a call',
    () => nowhere.renew('ch_1', loosely({ dueDate: '2026-12-01', atempt: 2 })),
    /Unknown field atempt: did you mean attempt\?/,
  ],
])('%s with a name that is close to a known one is told the known one', async (_what, act, message) => {
  await expect((async () => act())()).rejects.toThrow(message)
})

it('a field __proto__ from JSON is an unknown field', async () => {
  const { gateway, requests } = await openClients({ body: CHARGE })
  const request = JSON.parse(
    '{"msisdn":"+8801712345678","currency":"BDT","redirect_uri":"https://s.example","__proto__":{"amount":7}}',
  )
  expect(await refusedFields(() => gateway.charge(request))).toContain('__proto__')
  expect(requests).toEqual([])
})

describe('a segment that leaves the path is refused before any I/O', () => {
  it.each([
    '/api/v1/../../admin',
    '/api/v1/./x',
    '/api/v1/..',
    '/api/v1/%2e%2e/admin',
    '/api/v1/.%2E/admin',
    '/api/v1/x%2f..%2fadmin',
    '/api/v1/x%5C..%5cadmin',
    '/../admin',
  ])('in request(): %s', async (path) => {
    const { gateway, subscriptions, requests } = await openClients({ body: {} })
    expect(await refusedFields(() => gateway.request({ method: 'GET', path }))).toEqual(['path'])
    expect(await refusedFields(() => subscriptions.request({ method: 'POST', path }))).toEqual(['path'])
    expect(requests).toEqual([])
  })

  it.each(['%2E%2E', '%2e', '../admin', 'x/..', '.%2e/admin', 'x%2F..%2Fadmin'])(
    'as an identifier: %s',
    async (id) => {
      const { gateway, subscriptions, requests } = await openClients({ body: {} })
      expect(await refusedFields(() => gateway.status(id))).toEqual(['chargeId'])
      expect(await refusedFields(() => subscriptions.cancel(id))).toEqual(['subscriptionId'])
      expect(requests).toEqual([])
    },
  )

  it('but dots inside of a segment are not', async () => {
    const { gateway, requests } = await openClients({ body: CHARGE })
    await gateway.request({ method: 'GET', path: '/api/v1/.well-known/a..b/v1.0/...' })
    await gateway.status('inv..1/%2e5')
    expect(requests.map(({ url }) => url)).toEqual([
      '/api/v1/.well-known/a..b/v1.0/...',
      '/api/v1/mfs/charges/inv..1%2F%252e5',
    ])
  })
})
