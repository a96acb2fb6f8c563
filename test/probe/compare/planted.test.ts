import { describe, expect, test } from 'vitest'
import {
  compareWithMock,
  createMock,
  type Mock,
  type MockOptions,
  type Recording,
  record,
} from '../../../mocks/core.ts'
import { GatewayClient, SubscriptionsClient } from '../../../src/index.ts'

type Body = Record<string, unknown>
/** Changes the response of an operation: its body, or its whole. */
type Change = (operation: string, body: Body, response: Response) => Body | Response

const CREDENTIALS = {
  grant_type: 'password',
  client_id: 'mock-client',
  client_secret: 'mock-client-secret',
  username: 'mock-user',
  password: 'mock-password',
}
const HEADERS = { 'Content-Type': 'application/json' }

const attempt = async (call: Promise<unknown>): Promise<void> => void (await call.catch(() => undefined))

const changed =
  (mock: Mock, change: Change): Mock['fetch'] =>
  async (input, init) => {
    const response = await mock.fetch(input, init)
    const operation = mock.requests.all().at(-1)?.operation ?? ''
    const text = await response.clone().text()
    const made = change(operation, text === '' ? {} : JSON.parse(text), response)
    if (made instanceof Response) return made
    return text === ''
      ? response
      : new Response(JSON.stringify(made), { status: response.status, headers: response.headers })
  }

/** Calls every operation, with right and wrong input, and returns the recordings. */
const recordTour = async (options: MockOptions, change: Change): Promise<readonly Recording[]> => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', seed: 'server', ...options })
  const recordings: Recording[] = []
  const fetch = record(changed(mock, change), (recording) => recordings.push(recording), {
    clock: mock.clock,
  })
  const retry = { limit: 0 }
  const shop = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch, retry })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch, retry })
  const post = (
    area: 'subscriptions' | 'gateway',
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ) =>
    attempt(
      fetch(`${mock.clientOptions[area].baseUrl}${path}`, {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body: JSON.stringify(body),
      }),
    )

  await attempt(shop.login())
  const token = await mock.fetch(`${mock.clientOptions.subscriptions.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(CREDENTIALS),
  })
  const { access_token: access } = await token.json()
  const bearer = { Authorization: `Bearer ${access}` }
  const order = {
    requestID: 'order-1',
    start: '2026-12-01',
    end: '2027-01-20',
    cycle: 'DAILY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  } as const
  await attempt(shop.subscribe(order))
  await post(
    'subscriptions',
    '/api/v1.0/subscribe',
    { ...order, clientID: 'mock-client', requestID: 'order-2', cycle: 'YEARLY' },
    bearer,
  )
  await post(
    'subscriptions',
    '/api/v1.0/subscribe',
    { ...order, clientID: 'mock-client', requestID: 'order-3', extra: 1 },
    bearer,
  )
  await attempt(shop.subscribe({ ...order, requestID: 'order-1' }))
  await attempt(shop.subscribe({ ...order, requestID: 'order-4', start: '2026-11-28' }))
  await attempt(shop.subscribe({ ...order, requestID: 'order-5', amount: '3.333' }))
  const subscription = mock.state.subscriptions()[0]
  if (subscription === undefined) return recordings
  const { invoiceId, subscriptionId } = subscription
  await attempt(shop.status(invoiceId))
  await attempt(shop.status('no-such-invoice'))
  mock.payer.authorize(invoiceId, { payments: ['succeed', 'fail'] })
  await attempt(shop.status(invoiceId))
  await mock.clock.advance({ days: 14 })
  await attempt(shop.details(subscriptionId))
  await attempt(shop.payments(subscriptionId))
  await attempt(shop.payments(subscriptionId, { page: 2, perPage: 10 }))
  await attempt(shop.payment(mock.state.payments(subscriptionId)[0]?.paymentId ?? 0))
  await attempt(shop.cancel(subscriptionId))
  await attempt(shop.cancellation(subscriptionId))
  await attempt(shop.cancel(subscriptionId))
  await attempt(shop.details(subscriptionId))
  await post('subscriptions', '/oauth/token', { ...CREDENTIALS, password: 'wrong-password' })
  await post('subscriptions', '/oauth/token', { ...CREDENTIALS, password: 'wrong-password' })
  await post('subscriptions', '/oauth/token', { ...CREDENTIALS, password: 'wrong-password' })
  await attempt(shop.login())

  const charge = {
    msisdn: '+8801712345678',
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  }
  await attempt(gateway.health())
  await attempt(gateway.charge(charge, { idempotencyKey: 'key-1' }))
  await attempt(gateway.charge({ ...charge, amount: 300 }, { idempotencyKey: 'key-1' }))
  const made = mock.state.charges()[0]
  if (made === undefined) return recordings
  await post('gateway', '/api/v1/mfs/charges', charge, { Authorization: 'Bearer mock-api-key' })
  await post(
    'gateway',
    '/api/v1/mfs/charges',
    { ...charge, currency: 'taka' },
    { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'key-2' },
  )
  await post('gateway', '/api/v1/mfs/charges', charge, {
    Authorization: 'Bearer wrong-api-key',
    'Idempotency-Key': 'key-3',
  })
  await attempt(gateway.confirm(made.confirmation_id, { otp: '000000' }))
  await attempt(gateway.renew(made.id, { idempotencyKey: 'renewal-0' }))
  await attempt(gateway.confirm(made.confirmation_id, { otp: '123456' }))
  await attempt(gateway.confirm(made.confirmation_id, { otp: '123456' }))
  await attempt(gateway.status(made.id))
  await attempt(gateway.renew(made.id, { idempotencyKey: 'renewal-1' }))
  await post(
    'gateway',
    `/api/v1/mfs/charges/${made.id}/renew`,
    { mandate_id: 'ch_other' },
    { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'renewal-2' },
  )
  await attempt(gateway.reset())
  return recordings
}

const rename =
  (from: string, to: string, of: string): Change =>
  (operation, body) => {
    if (operation !== of || !(from in body)) return body
    const { [from]: value, ...rest } = body
    return { ...rest, [to]: value }
  }
const replace =
  (field: string, value: unknown, of: string, when: (body: Body) => boolean = () => true): Change =>
  (operation, body) =>
    operation === of && field in body && when(body) ? { ...body, [field]: value } : body
const status =
  (from: number, to: number, of: string): Change =>
  (operation, body, response) =>
    operation === of && response.status === from
      ? new Response(JSON.stringify(body), { status: to, headers: response.headers })
      : body
const withHeader =
  (name: string, value: string | undefined, area: string): Change =>
  (operation, body, response) => {
    if (!operation.startsWith(area)) return body
    const headers = new Headers(response.headers)
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
    return new Response(response.status === 204 ? null : JSON.stringify(body), {
      status: response.status,
      headers,
    })
  }
const payments =
  (change: (list: Body[]) => unknown): Change =>
  (operation, body) =>
    operation === 'subscriptions.payments' && Array.isArray(body.subscriptionPayments)
      ? { ...body, subscriptionPayments: change(body.subscriptionPayments) }
      : body
const same: Change = (_operation, body) => body
const S = (subscriptions: MockOptions['subscriptions']): MockOptions => ({
  subscriptions: { ...subscriptions },
})
const G = (gateway: MockOptions['gateway']): MockOptions => ({ gateway: { ...gateway } })

const VARIANTS: readonly (readonly [name: string, row: string, options: MockOptions, change: Change])[] = [
  ['invoiceID is renamed', '44', {}, rename('invoiceID', 'invoice', 'subscriptions.subscribe')],
  ['startDate is renamed', '44', {}, rename('startDate', 'start', 'subscriptions.details')],
  ['confirmation_url is renamed', 'G1', {}, rename('confirmation_url', 'url', 'gateway.charge')],
  [
    'a field of a payment is renamed',
    '44',
    {},
    payments((list) => list.map(({ dueDate, ...rest }) => ({ ...rest, due: dueDate }))),
  ],
  ['invalid input gets 400', '39', S({ validationStatus: 400 }), same],
  ['an unknown id gets 400', '40', S({ notFoundStatus: 400 }), same],
  ['errors have status 200', '39', S({ errorsAs200: true }), same],
  ['another mandate gets 409', '74', {}, status(422, 409, 'gateway.renew')],
  ['a confirmed charge gets 422', '77', {}, status(409, 422, 'gateway.confirm')],
  [
    'a missing key gets 422',
    '71',
    {},
    (_operation, body, response) =>
      JSON.stringify(body).includes('missing_idempotency_key')
        ? new Response(JSON.stringify(body), { status: 422, headers: response.headers })
        : body,
  ],
  [
    'a reset gets 204',
    '68',
    {},
    (operation, body) => (operation === 'gateway.reset' ? new Response(null, { status: 204 }) : body),
  ],
  [
    'a request has a new status',
    '10',
    {},
    replace('status', 'ACTIVE', 'subscriptions.status', ({ status: each }) => each === 'SUCCEEDED'),
  ],
  ['a charge has a new outcome', '62', {}, replace('outcome', 'PAID', 'gateway.confirm')],
  ['a charge has a new status', '61', {}, replace('status', 'settled', 'gateway.confirm')],
  [
    'a payment has a new status',
    '26',
    {},
    payments((list) => list.map((each) => ({ ...each, status: 'SETTLED' }))),
  ],
  ['a cancellation is not processed at once', '27', S({ cancelDelay: { hours: 1 } }), same],
  ['enabled has other values', '12', S({ enabledValues: { active: 1, inactive: 2 } }), same],
  ['pages have 5 payments', '41', S({ paging: { defaultSize: 5, maxSize: 100, ignore: [] } }), same],
  ['page is ignored', '41', S({ paging: { defaultSize: 10, maxSize: 100, ignore: ['page'] } }), same],
  ['payments come newest first', '41', {}, payments((list) => [...list].reverse())],
  [
    'an error is a text',
    'G2',
    {},
    (operation, body, response) =>
      operation.startsWith('gateway') && 'error' in body
        ? new Response(JSON.stringify({ error: 'failed' }), {
            status: response.status,
            headers: response.headers,
          })
        : body,
  ],
  [
    'an error has another code',
    '70',
    {},
    (_operation, body) => ('error' in body ? { error: { ...Object(body.error), code: 'E100' } } : body),
  ],
  [
    'a 401 is an OAuth error',
    '37',
    {},
    (operation, body, response) =>
      operation === 'subscriptions.login' && response.status === 401
        ? new Response(JSON.stringify({ error: 'invalid_grant' }), { status: 401, headers: response.headers })
        : body,
  ],
  ['an errorCode has another value', '38', S({ errorCodes: { invalid: 'E1' } }), same],
  ['a limit allows 100 calls', '42', S({ rateLimit: { limit: 100, windowMs: 60_000 } }), same],
  ['a limit allows 3 calls', '42', S({ rateLimit: { limit: 3, windowMs: 60_000 } }), same],
  ['the limit headers are missing', '42', {}, withHeader('X-RateLimit-Limit', undefined, 'subscriptions')],
  ['the gateway allows 3 calls', '78', G({ rateLimit: { limit: 3, windowMs: 60_000 } }), same],
  ['no subscriptionId before the authorization', '11', S({ pendingSubscriptionId: 'omit' }), same],
  ['times are in another zone', '14', S({ timeZone: 'Asia/Dhaka' }), same],
  ['payments are made at another time', '23', S({ debitTime: '18:30:00' }), same],
  ['a requestID is refused the second time', '20', S({ duplicateRequest: 'refuse' }), same],
  ['a start in the past is refused', '16', S({ pastStart: 'refuse' }), same],
  ['three decimals are refused', '19', S({ amountPattern: /^\d+(\.\d{1,2})?$/ }), same],
  ['unknown fields are refused', '4', S({ unknownFields: 'refuse' }), same],
  ['a second cancellation is refused', '28', S({ cancelTwice: 'refuse' }), same],
  ['tokens live longer', '33', S({ tokenTtl: { hours: 2 } }), same],
  ['a login has no envelope', '50', S({ tokenEnvelope: false }), same],
  [
    'two failed logins lock the user',
    '35',
    S({ lockout: { attempts: 2, windowSeconds: 60, durationSeconds: 900 } }),
    same,
  ],
  ['a confirmation has no body', '66', G({ confirmResponse: 'empty' }), same],
  ['a status has only the status', '67', G({ statusResponse: 'status' }), same],
  ['a used key with another body is refused', '72', G({ keyReuse: 'reject' }), same],
  ['a currency must be an ISO code', '82', G({ inputRules: 'formats' }), same],
  ['an amount is text', '44', S({ variant: ['text-amounts'] }), same],
  [
    'the id of a charge has another form',
    'G1',
    {},
    (operation, body) =>
      operation.startsWith('gateway') && typeof body.id === 'string'
        ? { ...body, id: body.id.replace('ch_', 'charge-') }
        : body,
  ],
  ['created_at has another form', '81', {}, replace('created_at', '01/12/2026 06:00', 'gateway.charge')],
]

describe('compare names a changed server by its row', () => {
  test('without a change there is no difference', async () => {
    const { differences, skipped } = await compareWithMock(await recordTour({}, same))
    expect(differences).toEqual([])
    expect(skipped).toEqual([])
  })

  for (const [name, row, options, change] of VARIANTS) {
    test(name, async () => {
      const { differences } = await compareWithMock(await recordTour(options, change))
      expect(differences.map((each) => each.row)).toContain(row)
    })
  }
})
