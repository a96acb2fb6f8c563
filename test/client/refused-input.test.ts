import { describe, expect, it } from 'vitest'
import type { GatewayClientOptions } from '../../src/index.ts'
import { GatewayClient, renewalKey, SubscriptionsClient, toInstant } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { type Clients, openClients } from '../support/open-clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'

const charging = () => openClients({ status: 202, body: CHARGE })
const NOWHERE = 'http://127.0.0.1:1'
const nowhere = gatewayClient(NOWHERE)

type Act = (clients: Clients, value: unknown) => unknown
const subscribe: Act = ({ subscriptions }, fields) =>
  subscriptions.subscribe(loosely({ ...SUBSCRIPTION, ...Object(fields) }))
const charge: Act = ({ gateway }, fields) => gateway.charge(loosely({ ...CHARGE_REQUEST, ...Object(fields) }))
const chargeWith: Act = ({ gateway }, options) => gateway.charge(CHARGE_REQUEST, Object(options))
const renew: Act = ({ gateway }, renewal) => gateway.renew('ch_1', loosely(renewal))
const page: Act = ({ subscriptions }, options) => subscriptions.payments('sub-1', Object(options))
const allPages: Act = ({ subscriptions }, options) =>
  subscriptions.allPayments('sub-1', Object(options)).next()
const wait: Act = ({ gateway }, options) => gateway.waitForCharge('ch_1', Object(options))

describe('cases 26, 27 and 29: a call is refused before any request, a login included, and names the field', () => {
  it.each<[string, Act, ...values: unknown[]]>([
    ['amount', subscribe, 0.1 + 0.2, 2.28, '0.00', SECRET],
    ['start', subscribe, '2026-02-30', new Date(0), SECRET],
    ['end', subscribe, '2026-11-30'],
    ['cycle', subscribe, 'MONTHLY'],
    ['requestID', subscribe, undefined],
    ['userReturnURL', subscribe, '/return', 'javascript:alert(1)'],
    ['currency', subscribe, 'BDT'],
    ['amount', charge, 10.5, -5, '250'],
    ['msisdn', charge, 8_801_700_000_001],
    ['currency', charge, ''],
    ['redirect_uri', charge, 'shop.example'],
    ['callback', charge, SECRET],
    ['timeout', chargeWith, 0],
    ['signal', chargeWith, new AbortController()],
    // With a misspelled key the call would be another charge.
    ['idempotencykey', chargeWith, 'order-1'],
    ['idempotencyKey', chargeWith, '', `${SECRET}\n`, 5, null],
    ['page', page, 0],
    ['perPage', allPages, 101],
    ['per_page', page, 5],
    ['until', wait, 'succeeded'],
    ['untill', wait, () => true],
  ])('%s', async (field, act, ...values) => {
    const clients = await charging()
    for (const value of values)
      expect(await refusedFields(() => act(clients, { [field]: value }))).toEqual([field])
    expect(clients.requests).toEqual([])
  })

  it.each(['', '.', '..', '\uD800', undefined, 7])('the identifier %j', async (id) => {
    const { subscriptions, gateway, requests } = await charging()
    const given = loosely(id)
    expect(await refusedFields(() => subscriptions.details(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.status(given))).toEqual(['invoiceId'])
    expect(await refusedFields(() => subscriptions.payment(1.5))).toEqual(['paymentId'])
    expect(await refusedFields(() => gateway.renew(given, { dueDate: '2026-12-01' }))).toEqual(['chargeId'])
    expect(await refusedFields(() => gateway.confirm(given, { otp: '1' }))).toEqual(['confirmationId'])
    expect(requests).toEqual([])
  })

  it('a header of the client’s own, and an idempotency key for an operation without one', async () => {
    const { gateway, requests } = await charging()
    for (const name of ['Authorization', 'Idempotency-Key'])
      expect(
        await refusedFields(() => chargeWith(loosely({ gateway }), { headers: { [name]: SECRET } })),
      ).toEqual([`headers.${name}`])
    const options: object = { idempotencyKey: SECRET }
    expect(await refusedFields(() => gateway.status('ch_1', options))).toEqual(['idempotencyKey'])
    expect(await refusedFields(() => gateway.confirm('c', { otp: '1' }, options))).toEqual(['idempotencyKey'])
    expect(requests).toEqual([])
  })

  it.each([
    ['without a due date or a key', {}],
    ['with both', { dueDate: '2026-12-01', idempotencyKey: 'k' }],
    ['with a Date', { dueDate: new Date(0) }],
    ['with an unknown field', { dueDate: '2026-12-01', atempt: 2 }],
  ])('a renewal %s', async (_, renewal) => {
    const clients = await charging()
    const error = await refusedBy(() => renew(clients, renewal))
    expect(error).toMatchObject({ operation: 'gateway.renew', phase: 'input' })
    expect(clients.requests).toEqual([])
  })

  it('every wrong field is named at once', async () => {
    const { subscriptions } = await charging()
    expect(
      await refusedFields(() => subscriptions.subscribe(loosely({ cycle: 'X', extra: SECRET }))),
    ).toEqual(['amount', 'cycle', 'end', 'extra', 'requestID', 'start', 'userReturnURL'])
  })

  it('an end more than 730 days after the start, or after today anywhere on Earth', async () => {
    const { subscriptions } = await openClients({ body: SUBSCRIBED })
    const request = (start: string, end: string) => () =>
      subscriptions.subscribe({ ...SUBSCRIPTION, start, end })
    await request('2026-12-01', '2028-11-30')()
    expect(await refusedFields(request('2026-12-01', '2028-12-01'))).toEqual(['end'])
    // It is 12:00 UTC on the 28th: somewhere the 29th has begun.
    await request('2026-01-01', '2028-11-28')()
    expect(await refusedFields(request('2026-01-01', '2028-11-29'))).toEqual(['end'])
  })
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
    ['apiKey', { apiKey: SECRET }],
    ['credentials', { credentials: SECRET }],
    ['credentials.password', { credentials: { ...CREDENTIALS, password: `${SECRET}\n` } }],
    ['credentials.username', { credentials: { ...CREDENTIALS, username: ' ' } }],
  ])('of area S with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each([`${SECRET}\n`, ''])('of area G with the API key %j', async (apiKey) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, { apiKey }))).toEqual(['apiKey'])
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

it('a misspelled name is told the known one', async () => {
  const make = () => new GatewayClient(loosely({ baseUrl: NOWHERE, apiKey: 'key', timeOut: 5 }))
  expect(make).toThrow(/Unknown option timeOut: did you mean timeout\?/)
  const renewal = { dueDate: '2026-12-01', atempt: 2 }
  await expect(nowhere.renew('ch_1', loosely(renewal))).rejects.toThrow(
    /Unknown field atempt: did you mean attempt\?/,
  )
})

it('a field __proto__ from JSON is an unknown field', async () => {
  const { gateway, requests } = await openClients({ body: CHARGE })
  const request = JSON.parse(
    '{"msisdn":"+8801712345678","currency":"BDT","redirect_uri":"https://s.example","__proto__":{"amount":7}}',
  )
  expect(await refusedFields(() => gateway.charge(request))).toContain('__proto__')
  expect(requests).toEqual([])
})

describe('case 110a: a segment that leaves the path is refused before any I/O', () => {
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
    const { gateway, requests } = await openClients({ body: { status: 'failed' } })
    await gateway.request({ method: 'GET', path: '/api/v1/.well-known/a..b/v1.0/...' })
    await gateway.status('inv..1/%2e5')
    expect(requests.map(({ url }) => url)).toEqual([
      '/api/v1/.well-known/a..b/v1.0/...',
      '/api/v1/mfs/charges/inv..1%2F%252e5',
    ])
  })
})
