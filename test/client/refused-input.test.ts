import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayClient, renewalKey, SubscriptionsClient, toInstant } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, OK, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { type Clients, openClients } from '../support/open-clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'

const anything = () =>
  openClients(({ url }) => ({
    body: url.includes('/mfs/') ? CHARGE : { ...SUBSCRIBED, subscriptionPayments: [] },
  }))
const NOWHERE = 'http://127.0.0.1:1'
const nowhere = gatewayClient(NOWHERE)
const lastOf = ({ requests }: Clients) => requests.at(-1)
const bodyOf = (clients: Clients) => JSON.parse(lastOf(clients)?.body ?? '')

type Act = (clients: Clients, value: unknown) => unknown
const subscribe: Act = ({ subscriptions }, fields) =>
  subscriptions.subscribe(loosely({ ...SUBSCRIPTION, ...Object(fields) }))
const charge: Act = ({ gateway }, fields) => gateway.charge(loosely({ ...CHARGE_REQUEST, ...Object(fields) }))
const chargeWith: Act = ({ gateway }, options) => gateway.charge(CHARGE_REQUEST, Object(options))
const confirm: Act = ({ gateway }, fields) =>
  gateway.confirm('conf_1', loosely({ otp: '1', ...Object(fields) }))
const renew: Act = ({ gateway }, renewal) => gateway.renew('ch_1', loosely(renewal))
const renewDue: Act = (clients, fields) => renew(clients, { dueDate: '2026-12-01', ...Object(fields) })
const page: Act = ({ subscriptions }, options) => subscriptions.payments('sub-1', Object(options))
const allPages: Act = ({ subscriptions }, options) =>
  subscriptions.allPayments('sub-1', Object(options)).next()
const wait: Act = ({ gateway }, options) => gateway.waitForCharge('ch_1', Object(options))
const raw: Act = ({ gateway }, fields) =>
  gateway.request(loosely({ method: 'GET', path: '/refunds', ...Object(fields) }))

describe('cases 26, 27 and 29: a call is refused before any request, a login included, and names the field', () => {
  it.each<[string, Act, ...values: unknown[]]>([
    ['amount', subscribe, 0.1 + 0.2, 2.28, 1e21, '0.00', '1e3', SECRET],
    ['start', subscribe, '2026-02-30', '0026-12-01', new Date(0), SECRET],
    ['end', subscribe, '2026-11-30'],
    ['cycle', subscribe, 'MONTHLY'],
    ['requestID', subscribe, undefined, ' ', '\uD800'],
    ['userReturnURL', subscribe, '/return', 'javascript:alert(1)'],
    ['amount', charge, 10.5, -5, '250'],
    ['msisdn', charge, 8_801_700_000_001],
    ['currency', charge, ''],
    [
      'redirect_uri',
      charge,
      'shop.example',
      'javascript:alert(1)',
      'data:text/html,x',
      ' https://shop.example',
    ],
    ['timeout', chargeWith, 0],
    // With a misspelled key the call would be another charge.
    ['idempotencykey', chargeWith, 'order-1'],
    ['idempotencyKey', chargeWith, '', `${SECRET}\n`, 5, null],
    ['page', page, 0],
    ['perPage', allPages, 101],
    ['method', raw, 'get'],
    ['path', raw, 'refunds', '/refunds?page=1'],
    ['idempotencyKey', raw, 'two\nlines'],
    ['body', raw, {}],
  ])('%s', async (field, act, ...values) => {
    const clients = await anything()
    for (const value of values)
      expect(await refusedFields(() => act(clients, { [field]: value }))).toEqual([field])
    expect(clients.requests).toEqual([])
  })

  const FIELDS: readonly (readonly [Act, fields: readonly string[]])[] = [
    [subscribe, ['amount', 'cycle', 'end', 'requestID', 'start', 'userReturnURL']],
    [charge, ['amount', 'currency', 'msisdn', 'redirect_uri']],
    [confirm, ['otp']],
    [renewDue, ['attempt', 'dueDate']],
    [chargeWith, ['headers', 'idempotencyKey', 'retry', 'signal', 'timeout', 'totalTimeout']],
    [page, ['page', 'perPage']],
    [raw, ['idempotencyKey', 'method', 'path', 'query', 'retry']],
    [wait, ['pollInterval', 'signal', 'timeout', 'until']],
  ]

  it('every field of a wrong type and every unknown field is named at once', async () => {
    const clients = await anything()
    const wrong = fc.constantFrom<unknown>(true, Symbol(SECRET))
    const calls = fc.constantFrom(...FIELDS).chain(([act, names]) => {
      const some = fc.subarray([...names, 'extra', 'callback'], { minLength: 1 })
      return fc.record({ act: fc.constant(act), names: some, value: wrong })
    })
    const property = fc.asyncProperty(calls, async ({ act, names, value }) => {
      const fields = Object.fromEntries(names.map((name) => [name, value]))
      expect(await refusedFields(() => act(clients, fields))).toEqual(names.toSorted())
    })
    await fc.assert(property)
    expect(clients.requests).toEqual([])
  })

  it.each(['', '.', '..', '\uD800', undefined, 7])('the identifier %j', async (id) => {
    const { subscriptions, gateway, requests } = await anything()
    const given = loosely(id)
    expect(await refusedFields(() => subscriptions.details(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.status(given))).toEqual(['invoiceId'])
    expect(await refusedFields(() => subscriptions.payment(1.5))).toEqual(['paymentId'])
    expect(await refusedFields(() => gateway.renew(given, { dueDate: '2026-12-01' }))).toEqual(['chargeId'])
    expect(await refusedFields(() => gateway.confirm(given, { otp: '1' }))).toEqual(['confirmationId'])
    expect(requests).toEqual([])
  })

  it.each<[Act, given: unknown, type: string]>([
    [charge, '250', ', received string'],
    [charge, 10.5, ''],
  ])('an amount, whose type the error names only if it is wrong: %o %j', async (act, amount, type) => {
    const { message } = await refusedBy(async () => act(await anything(), { amount }))
    expect(/, received .*(?=\.$)/.exec(message)?.[0] ?? '').toBe(type)
  })

  it('a header of the client’s own, and an idempotency key for an operation without one', async () => {
    const clients = await anything()
    for (const name of ['Authorization', 'Idempotency-Key'])
      for (const headers of [{ [name]: SECRET }, new Headers({ [name]: SECRET })]) {
        const [field = ''] = await refusedFields(() => chargeWith(clients, { headers }))
        expect(field.toLowerCase()).toBe(`headers.${name}`.toLowerCase())
      }
    const options: object = { idempotencyKey: SECRET }
    expect(await refusedFields(() => clients.gateway.status('ch_1', options))).toEqual(['idempotencyKey'])
    const confirmed = () => clients.gateway.confirm('c', { otp: '1' }, options)
    expect(await refusedFields(confirmed)).toEqual(['idempotencyKey'])
    expect(clients.requests).toEqual([])
  })

  it.each([
    ['without a due date or a key', {}],
    ['with both', { dueDate: '2026-12-01', idempotencyKey: 'k' }],
    ['with a Date', { dueDate: new Date(0) }],
  ])('a renewal %s', async (_, renewal) => {
    const clients = await anything()
    const error = await refusedBy(() => renew(clients, renewal))
    expect(error).toMatchObject({ operation: 'gateway.renew', phase: 'input' })
    expect(clients.requests).toEqual([])
  })

  it('an end more than 730 days after the start, or after today anywhere on Earth', async () => {
    const { subscriptions } = await anything()
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
  const { subscriptions, gateway, requests } = await anything()
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
    ['clock', { clock: { now: () => 0 } }],
  ])('with a wrong %s: %o', async (field, options) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, options))).toEqual([field])
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each<[field: string, options: object]>([
    ['loginCooldown', { loginCooldown: 0 }],
    ['refresh', { refresh: 'token' }],
    ['apiKey', { apiKey: SECRET }],
    ['tokenStore', { tokenStore: { get: () => undefined } }],
    ['credentials', { credentials: SECRET }],
    ['credentials.password', { credentials: { ...CREDENTIALS, password: `${SECRET}\n` } }],
    ['credentials.username', { credentials: { ...CREDENTIALS, username: ' ' } }],
  ])('of area S with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each([`${SECRET}\n`, ''])('of area G with the API key %j', async (apiKey) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, { apiKey }))).toEqual(['apiKey'])
  })

  it('without options, and every wrong option is named at once', async () => {
    await refusedBy(() => new GatewayClient(loosely(undefined)))
    await refusedBy(() => new SubscriptionsClient(loosely(SECRET)))
    const options = loosely({ baseUrl: 'x', apiKey: '', timeout: -1, colour: SECRET })
    const all = ['apiKey', 'baseUrl', 'colour', 'timeout']
    expect(await refusedFields(() => new GatewayClient(options))).toEqual(all)
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
  const request = JSON.parse(`{"__proto__":{"amount":7},${JSON.stringify(CHARGE_REQUEST).slice(1)}`)
  expect(await refusedFields(() => nowhere.charge(request))).toEqual(['__proto__'])
})

describe('case 110a: a segment that leaves the path is refused before any I/O', () => {
  const PATHS = `/api/v1/../../admin /api/v1/./x /api/v1/.. /api/v1/%2e%2e/admin /api/v1/.%2E/admin
    /api/v1/x%2f..%2fadmin /api/v1/x%5C..%5cadmin /../admin`

  it.each(PATHS.split(/\s+/))('in request(): %s', async (path) => {
    const { gateway, subscriptions, requests } = await anything()
    expect(await refusedFields(() => gateway.request({ method: 'GET', path: loosely(path) }))).toEqual([
      'path',
    ])
    const post = { method: 'POST', path: loosely(path) } as const
    expect(await refusedFields(() => subscriptions.request(post))).toEqual(['path'])
    expect(requests).toEqual([])
  })

  it.each('%2E%2E %2e ../admin x/.. .%2e/admin x%2F..%2Fadmin'.split(' '))(
    'as an identifier: %s',
    async (id) => {
      const { gateway, subscriptions, requests } = await anything()
      expect(await refusedFields(() => gateway.status(id))).toEqual(['chargeId'])
      expect(await refusedFields(() => subscriptions.cancel(id))).toEqual(['subscriptionId'])
      expect(requests).toEqual([])
    },
  )

  it('but dots inside of a segment are not', async () => {
    const { gateway, requests } = await openClients({ body: { status: 'failed' } })
    const path = '/api/v1/.well-known/a..b/v1.0/...'
    await gateway.request({ method: 'GET', path })
    await gateway.status('inv..1/%2e5')
    expect(requests.map(({ url }) => url)).toEqual([path, '/api/v1/mfs/charges/inv..1%2F%252e5'])
  })
})

describe('case 91: an honest caller gives', () => {
  const timeout = Number.POSITIVE_INFINITY
  const none = { timeout: undefined, retry: undefined, fetch: undefined, hooks: undefined }
  it.each<[string, client: object, call: object]>([
    ['null as a signal, as frameworks give it', {}, { signal: null }],
    ['undefined options', none, { idempotencyKey: undefined, signal: undefined, headers: undefined }],
    ['an infinite timeout', { timeout }, { timeout }],
  ])('%s of a client and of a call', async (_, options, callOptions) => {
    const { url } = await anything()
    expect(await gatewayClient(url, options).charge(CHARGE_REQUEST, callOptions)).toEqual(CHARGE)
  })

  it('undefined headers and fields, and Headers, and does not send what is undefined', async () => {
    const clients = await anything()
    const client = gatewayClient(clients.url, { headers: loosely({ 'x-tenant': undefined, 'x-shop': 'a' }) })
    const headers = loosely(new Headers({ 'X-Trace': 't' }))
    await client.charge(loosely({ ...CHARGE_REQUEST, note: undefined }), { headers })
    expect(bodyOf(clients)).toEqual(CHARGE_REQUEST)
    expect(lastOf(clients)?.headers).toMatchObject({ 'x-shop': 'a', 'x-trace': 't' })
    await gatewayClient(clients.url, { headers }).status('ch_1', {
      headers: loosely({ 'x-shop': undefined }),
    })
    expect(lastOf(clients)?.headers['x-trace']).toBe('t')
    for (const name of ['x-tenant', 'x-shop']) expect(lastOf(clients)?.headers).not.toHaveProperty(name)
    await subscribe(clients, { coupon: undefined })
    expect(bodyOf(clients)).not.toHaveProperty('coupon')
  })

  it.each(['\n', '\r\n', ' ', '\t'])('a base URL that ends in a line break or a blank: %j', async (end) => {
    const clients = await anything()
    await gatewayClient(`${clients.url}${end}`).charge(CHARGE_REQUEST)
    expect(lastOf(clients)?.url).toBe('/api/v1/mfs/charges')
  })

  it.each([new URL('https://shop.example/paid?cart=7'), 'myapp:return', 'myapp://return', 'com.shop://back'])(
    'a URL object as the base URL, and the return address %s, which is sent as text',
    async (address) => {
      const clients = await anything()
      const gateway = gatewayClient(loosely(new URL('/tenant', clients.url)))
      await gateway.charge({ ...CHARGE_REQUEST, redirect_uri: address })
      expect(lastOf(clients)?.url).toBe('/tenant/api/v1/mfs/charges')
      expect(bodyOf(clients)).toMatchObject({ redirect_uri: String(address) })
      await subscribe(clients, { userReturnURL: address })
      expect(bodyOf(clients)).toMatchObject({ userReturnURL: String(address) })
    },
  )

  it('the same to a wait, a list and a renewal', async () => {
    const { gateway, subscriptions } = await openClients(({ url }) => ({
      body: url.includes('/mfs/') ? { ...CHARGE, status: 'succeeded' } : { ...OK, subscriptionPayments: [] },
    }))
    const wait = { signal: null, timeout, until: undefined }
    expect(await gateway.waitForCharge('ch_1', wait)).toMatchObject({ status: 'succeeded' })
    const renewal = { dueDate: '2026-12-01', attempt: undefined, idempotencyKey: undefined }
    expect(await gateway.renew('ch_0', renewal, { signal: null })).toMatchObject({ id: 'ch_1' })
    const options = { headers: new Headers({ 'x-a': '1' }) }
    await subscriptions.payments('sub-1', { page: undefined, perPage: undefined }, options)
  })
})
