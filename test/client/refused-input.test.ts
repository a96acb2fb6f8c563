import { describe, expect, it } from 'vitest'
import { renewalKey, toInstant } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { API_KEY, errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const subscribing = async () => {
  const server = await startServer(withLogin([{ body: SUBSCRIBED }]))
  return { server, subscriptions: subscriptionsClient(server.url, { clock: skippingClock() }) }
}

const charging = async () => {
  const server = await startServer([{ status: 202, body: CHARGE }])
  return { server, gateway: gatewayClient(server.url) }
}

describe('a subscription request is refused before any request, a login included', () => {
  it.each([
    ['amount', 2.28],
    ['amount', '1e3'],
    ['amount', '-5'],
    ['amount', '0.00'],
    ['amount', ' 5'],
    ['amount', SECRET],
    ['start', '2026-02-30'],
    ['start', '2026-13-01'],
    ['start', '2026-12-01T00:00:00Z'],
    ['start', new Date(0)],
    ['start', SECRET],
    ['end', '2026-11-30'],
    ['cycle', 'MONTHLY'],
    ['cycle', 'daily'],
    ['requestID', '  '],
    ['requestID', undefined],
    ['userReturnURL', '/return'],
    ['userReturnURL', 'javascript:alert(1)'],
    ['currency', 'BDT'],
  ])('when %s is %j', async (field, value) => {
    const { server, subscriptions } = await subscribing()
    const error = await refusedBy(() => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, [field]: value })))
    expect(error).toMatchObject({ phase: 'input', operation: 'subscriptions.subscribe' })
    expect(error.issues.map((issue) => issue.field)).toEqual([field])
    expect(server.requests).toEqual([])
  })

  it('and every wrong field is named at once', async () => {
    const { subscriptions } = await subscribing()
    expect(
      await refusedFields(() => subscriptions.subscribe(loosely({ cycle: 'X', extra: SECRET }))),
    ).toEqual(['amount', 'cycle', 'end', 'extra', 'requestID', 'start', 'userReturnURL'])
  })

  it('when it ends more than 730 days after start, or after today anywhere on Earth', async () => {
    const { subscriptions } = await subscribing()
    const request = (start: string, end: string) => () =>
      subscriptions.subscribe({ ...SUBSCRIPTION, start, end })
    await request('2026-12-01', '2028-11-30')()
    expect(await refusedFields(request('2026-12-01', '2028-12-01'))).toEqual(['end'])
    // It is 12:00 UTC on the 28th: somewhere the 29th has begun.
    await request('2026-01-01', '2028-11-28')()
    expect(await refusedFields(request('2026-01-01', '2028-11-29'))).toEqual(['end'])
  })

  it('and the next call is as if there had been none', async () => {
    const { server, subscriptions } = await subscribing()
    await refusedBy(() => subscriptions.subscribe(loosely(undefined)))
    await subscriptions.subscribe(SUBSCRIPTION)
    expect(server.requests.map(({ url }) => url)).toEqual(['/oauth/token', '/api/v1.0/subscribe'])
  })
})

describe('a charge is refused before any request', () => {
  it.each([
    ['amount', 10.5],
    ['amount', 2 ** 53],
    ['amount', -5],
    ['amount', '250'],
    ['amount', Number.NaN],
    ['msisdn', 8_801_700_000_001],
    ['currency', ''],
    ['redirect_uri', 'shop.example'],
    ['callback', SECRET],
  ])('when %s is %j', async (field, value) => {
    const { server, gateway } = await charging()
    const error = await refusedBy(() => gateway.charge(loosely({ ...CHARGE_REQUEST, [field]: value })))
    expect(error).toMatchObject({ phase: 'input', operation: 'gateway.charge' })
    expect(error.issues.map((issue) => issue.field)).toEqual([field])
    expect(server.requests).toEqual([])
  })
})

describe('a renewal is refused before any request', () => {
  it.each([
    ['without a due date or a key', {}],
    ['with both', { dueDate: '2026-12-01', idempotencyKey: 'k' }],
    ['with a Date', { cycle: new Date(0) }],
    ['with a day that does not exist', { dueDate: '2026-02-30' }],
    ['with the attempt 0', { dueDate: '2026-12-01', attempt: 0 }],
    ['with an unknown field', { dueDate: '2026-12-01', atempt: 2 }],
    ['with nothing', undefined],
    ['with text', SECRET],
  ])('%s', async (_, renewal) => {
    const { server, gateway } = await charging()
    const error = await refusedBy(() => gateway.renew('ch_1', loosely(renewal)))
    expect(error.operation).toBe('gateway.renew')
    expect(server.requests).toEqual([])
  })
})

describe('an identifier is refused', () => {
  it.each(['', '.', '..', '\uD800', undefined, 7])('%j', async (id) => {
    const server = await startServer(withLogin([{ body: DETAILS }]))
    const [subscriptions, gateway] = [subscriptionsClient(server.url), gatewayClient(server.url)]
    const given = loosely(id)
    expect(await refusedFields(() => subscriptions.details(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.cancel(given))).toEqual(['subscriptionId'])
    expect(await refusedFields(() => subscriptions.status(given))).toEqual(['invoiceId'])
    expect(await refusedFields(() => gateway.renew(given, { dueDate: '2026-12-01' }))).toEqual(['chargeId'])
    expect(await refusedFields(() => gateway.confirm(given, { otp: '1' }))).toEqual(['confirmationId'])
    expect(server.requests).toEqual([])
  })

  it.each([1.5, 2 ** 53, Number.NaN])('the payment %d', async (id) => {
    const client = subscriptionsClient('http://127.0.0.1:1')
    expect(await refusedFields(() => client.payment(id))).toEqual(['paymentId'])
  })
})

describe('a page is refused before any request', () => {
  it.each<[field: string, page: object]>([
    ['page', { page: 0 }],
    ['page', { page: 1.5 }],
    ['perPage', { perPage: 101 }],
    ['perPage', { perPage: '50' }],
    ['per_page', { per_page: 5 }],
  ])('with a wrong %s: %o', async (field, page) => {
    const server = await startServer([{}])
    const client = subscriptionsClient(server.url)
    expect(await refusedFields(() => client.payments('sub-1', page))).toEqual([field])
    expect(await refusedFields(() => client.allPayments('sub-1', page).next())).toEqual([field])
    expect(server.requests).toEqual([])
  })
})

describe('a wait is refused before any request', () => {
  it.each<[field: string, options: object]>([
    ['timeout', { timeout: 0 }],
    ['until', { until: 'succeeded' }],
    ['untill', { untill: () => true }],
  ])('with a wrong %s', async (field, options) => {
    const server = await startServer(withLogin([{ body: CHARGE }]))
    expect(await refusedFields(() => gatewayClient(server.url).waitForCharge('ch_1', options))).toEqual([
      field,
    ])
    const subscriptions = subscriptionsClient(server.url)
    expect(await refusedFields(() => subscriptions.waitForStatus('inv-1', options))).toEqual([field])
    expect(server.requests).toEqual([])
  })
})

it('every method rejects on input of a wrong type, and none throws or sends a request', async () => {
  const server = await startServer(withLogin([{ body: CHARGE }]))
  const [subscriptions, gateway] = [subscriptionsClient(server.url), gatewayClient(server.url)]
  const methods: readonly ((wrong: never) => Promise<unknown>)[] = [
    (wrong) => subscriptions.login(wrong),
    (wrong) => subscriptions.subscribe(wrong),
    (wrong) => subscriptions.status(wrong),
    (wrong) => subscriptions.details(wrong),
    (wrong) => subscriptions.cancel(wrong),
    (wrong) => subscriptions.cancellation(wrong),
    (wrong) => subscriptions.payments(wrong),
    (wrong) => subscriptions.allPayments(wrong).next(),
    (wrong) => subscriptions.payment(wrong),
    (wrong) => subscriptions.waitForStatus(wrong),
    (wrong) => gateway.reference(wrong),
    (wrong) => gateway.charge(wrong),
    (wrong) => gateway.confirm('conf_1', wrong),
    (wrong) => gateway.status(wrong),
    (wrong) => gateway.renew('ch_1', wrong),
    (wrong) => gateway.reset(wrong),
    (wrong) => gateway.waitForCharge(wrong),
  ]
  for (const method of methods) {
    for (const wrong of [true, [], Symbol(SECRET)].map(loosely)) {
      const promise = method(wrong)
      expect(promise).toBeInstanceOf(Promise)
      await refusedBy(() => promise)
    }
  }
  expect(server.requests).toEqual([])
})

it.each<[string, () => unknown]>([
  ['as the code', () => gatewayClient('http://127.0.0.1:1').confirm('conf_1', loosely(SECRET))],
  [
    'as a field of the confirmation',
    () =>
      gatewayClient('http://127.0.0.1:1').confirm(
        'conf_1',
        loosely({ otp: 1, [SECRET.slice(0, 2)]: SECRET }),
      ),
  ],
  ['as the request', () => gatewayClient('http://127.0.0.1:1').charge(loosely(SECRET))],
  ['as a time', () => toInstant(SECRET, 'UTC')],
  ['as a zone', () => toInstant('2026-12-01', SECRET)],
  ['as a due date', () => renewalKey('ch_1', SECRET)],
])('a secret that is given %s is not shown', async (_, work) => {
  await refusedBy(work)
})

it('a key function that returns no key is refused under the call that needed it', async () => {
  const server = await startServer([{}])
  const client = gatewayClient(server.url, { apiKey: () => loosely(`${SECRET}\n`) })
  const error = await refusedBy(() => client.charge(CHARGE_REQUEST))
  expect(error.operation).toBe('gateway.charge')
  expect(error.issues.map(({ field }) => field)).toEqual(['apiKey'])
  expect(server.requests).toEqual([])
})

it('a key function that fails after an attempt leaves the outcome unknown', async () => {
  const server = await startServer([{ status: 503 }, { status: 202, body: CHARGE }])
  let asked = 0
  const client = gatewayClient(server.url, {
    clock: skippingClock(),
    apiKey: () => {
      asked += 1
      if (asked > 1) throw new Error('The vault is closed.')
      return API_KEY
    },
  })
  const error = await errorOf(client.charge(CHARGE_REQUEST))
  expect(error).toMatchObject({ code: 'invalid_request', outcome: 'unknown', attempts: 1 })
  expect(error.message).not.toMatch(/nothing was sent|not sent/i)
})
