import { expect, test } from 'vitest'
import {
  compareWithMock,
  createMock,
  type Mock,
  type MockOptions,
  type Recording,
  record,
} from '../../../mocks/core.ts'
import { G, S } from '../../mock/open.ts'
import { clientsOf, MOCK_CHARGE } from '../../support/mock-clients.ts'

type Area = 'subscriptions' | 'gateway'
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

const order = {
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-01-20',
  cycle: 'DAILY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
} as const
const charge = { ...MOCK_CHARGE, msisdn: '+8801712345678' }
const apiKey = { Authorization: 'Bearer mock-api-key' }

/** Calls every operation, with right and wrong input, and returns the recordings. */
const recordTour = async (options: MockOptions, change: Change): Promise<readonly Recording[]> => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', seed: 'server', ...options })
  const recordings: Recording[] = []
  const { clock } = mock
  const fetch = record(changed(mock, change), (recording) => recordings.push(recording), { clock })
  const { subscriptions: shop, gateway } = clientsOf(mock, { fetch, retry: { limit: 0 } })
  const post = (area: Area, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${mock.clientOptions[area].baseUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const chargeWith = (headers: Record<string, string>, fields: object = {}) =>
    post('gateway', '/api/v1/mfs/charges', { ...charge, ...fields }, headers)
  const wrongLogin = () =>
    post('subscriptions', '/oauth/token', { ...CREDENTIALS, password: 'wrong-password' })

  await attempt(shop.login())
  const token = await mock.fetch(`${mock.clientOptions.subscriptions.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(CREDENTIALS),
  })
  const bearer = { Authorization: `Bearer ${(await token.json()).access_token}` }
  const subscribeRaw = (fields: object) =>
    post('subscriptions', '/api/v1.0/subscribe', { ...order, clientID: 'mock-client', ...fields }, bearer)
  await attempt(shop.subscribe(order))
  await attempt(subscribeRaw({ requestID: 'order-2', cycle: 'YEARLY' }))
  await attempt(subscribeRaw({ requestID: 'order-3', extra: 1 }))
  for (const fields of [
    {},
    { requestID: 'order-4', start: '2026-11-28' },
    { requestID: 'order-5', amount: '3.333' },
  ])
    await attempt(shop.subscribe({ ...order, ...fields }))
  const { invoiceId = '', subscriptionId = '' } = mock.state.subscriptions()[0] ?? {}
  await attempt(shop.status(invoiceId))
  await attempt(shop.status('no-such-invoice'))
  mock.payer.authorize(invoiceId, { payments: ['succeed', 'fail'] })
  await attempt(shop.status(invoiceId))
  await clock.advance({ days: 14 })
  await attempt(shop.details(subscriptionId))
  await attempt(shop.payments(subscriptionId))
  await attempt(shop.payments(subscriptionId, { page: 2, perPage: 10 }))
  await attempt(shop.payment(mock.state.payments(subscriptionId)[0]?.paymentId ?? 0))
  for (const call of ['cancel', 'cancellation', 'cancel', 'details'] as const)
    await attempt(shop[call](subscriptionId))
  for (let times = 3; times > 0; times -= 1) await attempt(wrongLogin())
  await attempt(shop.login())

  await attempt(gateway.health())
  await attempt(gateway.charge(charge, { idempotencyKey: 'key-1' }))
  await attempt(gateway.charge({ ...charge, amount: 300 }, { idempotencyKey: 'key-1' }))
  const { id = '', confirmation_id = '' } = mock.state.charges()[0] ?? {}
  await attempt(chargeWith(apiKey))
  await attempt(chargeWith({ ...apiKey, 'Idempotency-Key': 'key-2' }, { currency: 'taka' }))
  await attempt(chargeWith({ Authorization: 'Bearer wrong-api-key', 'Idempotency-Key': 'key-3' }))
  await attempt(gateway.confirm(confirmation_id, { otp: '000000' }))
  await attempt(gateway.renew(id, { idempotencyKey: 'renewal-0' }))
  for (let times = 2; times > 0; times -= 1)
    await attempt(gateway.confirm(confirmation_id, { otp: '123456' }))
  await attempt(gateway.status(id))
  await attempt(gateway.renew(id, { idempotencyKey: 'renewal-1' }))
  const other = { ...apiKey, 'Idempotency-Key': 'renewal-2' }
  await attempt(post('gateway', `/api/v1/mfs/charges/${id}/renew`, { mandate_id: 'ch_other' }, other))
  await attempt(gateway.reset())
  return recordings
}

type When = (operation: string, body: Body, response: Response) => boolean

/** Changes the body, the status, or both of some responses. */
const where =
  (when: When, to: { readonly body?: (body: Body) => unknown; readonly status?: number }): Change =>
  (operation, body, response) => {
    if (!when(operation, body, response)) return body
    const { status = response.status, body: change = (same) => same } = to
    return new Response(JSON.stringify(change(body)), { status, headers: response.headers })
  }
const rename = (from: string, to: string, of: string): Change =>
  where((operation, body) => operation === of && from in body, {
    body: ({ [from]: value, ...rest }) => ({ ...rest, [to]: value }),
  })
const replace = (field: string, value: unknown, of: string, old?: unknown): Change =>
  where((operation, body) => operation === of && field in body && (old ?? body[field]) === body[field], {
    body: (body) => ({ ...body, [field]: value }),
  })
const status = (from: number, to: number, of: string): Change =>
  where((operation, _body, response) => operation === of && response.status === from, { status: to })
const withoutHeader =
  (name: string, area: Area): Change =>
  (operation, body, { status: same, headers: sent }) => {
    if (!operation.startsWith(area)) return body
    const headers = new Headers(sent)
    headers.delete(name)
    return new Response(JSON.stringify(body), { status: same, headers })
  }
const payments = (change: (list: Body[]) => unknown): Change =>
  where((operation, body) => operation === 'subscriptions.payments' && 'subscriptionPayments' in body, {
    body: ({ subscriptionPayments: list, ...rest }) => ({
      ...rest,
      subscriptionPayments: change(list as Body[]),
    }),
  })
const same: Change = (_operation, body) => body
const VARIANTS: readonly (readonly [name: string, row: string, server: MockOptions | Change])[] = [
  ['invoiceID is renamed', '44', rename('invoiceID', 'invoice', 'subscriptions.subscribe')],
  ['startDate is renamed', '44', rename('startDate', 'start', 'subscriptions.details')],
  ['confirmation_url is renamed', 'G1', rename('confirmation_url', 'url', 'gateway.charge')],
  [
    'a field of a payment is renamed',
    '44',
    payments((list) => list.map(({ dueDate, ...rest }) => ({ ...rest, due: dueDate }))),
  ],
  ['invalid input gets 400', '39', S({ validationStatus: 400 })],
  ['an unknown id gets 400', '40', S({ notFoundStatus: 400 })],
  ['errors have status 200', '39', S({ errorsAs200: true })],
  ['another mandate gets 409', '74', status(422, 409, 'gateway.renew')],
  ['a confirmed charge gets 422', '77', status(409, 422, 'gateway.confirm')],
  [
    'a missing key gets 422',
    '71',
    where((_, body) => /missing_idem/.test(JSON.stringify(body)), { status: 422 }),
  ],
  [
    'a reset gets 204',
    '68',
    (operation, body) => (operation === 'gateway.reset' ? new Response(null, { status: 204 }) : body),
  ],
  ['a request has a new status', '10', replace('status', 'ACTIVE', 'subscriptions.status', 'SUCCEEDED')],
  ['a charge has a new outcome', '62', replace('outcome', 'PAID', 'gateway.confirm')],
  ['a charge has a new status', '61', replace('status', 'settled', 'gateway.confirm')],
  [
    'a payment has a new status',
    '26',
    payments((list) => list.map((each) => ({ ...each, status: 'SETTLED' }))),
  ],
  ['a cancellation is not processed at once', '27', S({ cancelDelay: { hours: 1 } })],
  ['enabled has other values', '12', S({ enabledValues: { active: 1, inactive: 2 } })],
  ['pages have 5 payments', '41', S({ paging: { defaultSize: 5, maxSize: 100, ignore: [] } })],
  ['page is ignored', '41', S({ paging: { defaultSize: 10, maxSize: 100, ignore: ['page'] } })],
  ['payments come newest first', '41', payments((list) => [...list].reverse())],
  [
    'an error is a text',
    'G2',
    where((of, body) => of.startsWith('gateway') && 'error' in body, { body: () => ({ error: 'failed' }) }),
  ],
  [
    'an error has another code',
    '70',
    where((_, body) => 'error' in body, {
      body: ({ error }) => ({ error: { ...Object(error), code: 'E100' } }),
    }),
  ],
  [
    'a 401 is an OAuth error',
    '37',
    where((of, _, { status: is }) => of === 'subscriptions.login' && is === 401, {
      body: () => ({ error: 'invalid_grant' }),
    }),
  ],
  ['an errorCode has another value', '38', S({ errorCodes: { invalid: 'E1' } })],
  ['a limit allows 100 calls', '42', S({ rateLimit: { limit: 100, windowMs: 60_000 } })],
  ['a limit allows 3 calls', '42', S({ rateLimit: { limit: 3, windowMs: 60_000 } })],
  ['the limit headers are missing', '42', withoutHeader('X-RateLimit-Limit', 'subscriptions')],
  ['the gateway allows 3 calls', '78', G({ rateLimit: { limit: 3, windowMs: 60_000 } })],
  ['no subscriptionId before the authorization', '11', S({ pendingSubscriptionId: 'omit' })],
  ['times are in another zone', '14', S({ timeZone: 'Asia/Dhaka' })],
  ['payments are made at another time', '23', S({ debitTime: '18:30:00' })],
  ['a requestID is refused the second time', '20', S({ duplicateRequest: 'refuse' })],
  ['a start in the past is refused', '16', S({ pastStart: 'refuse' })],
  ['three decimals are refused', '19', S({ amountPattern: /^\d+(\.\d{1,2})?$/ })],
  ['unknown fields are refused', '4', S({ unknownFields: 'refuse' })],
  ['a second cancellation is refused', '28', S({ cancelTwice: 'refuse' })],
  ['tokens live longer', '33', S({ tokenTtl: { hours: 2 } })],
  ['a login has no envelope', '50', S({ tokenEnvelope: false })],
  [
    'two failed logins lock the user',
    '35',
    S({ lockout: { attempts: 2, windowSeconds: 60, durationSeconds: 900 } }),
  ],
  ['a confirmation has no body', '66', G({ confirmResponse: 'empty' })],
  ['a status has only the status', '67', G({ statusResponse: 'status' })],
  ['a used key with another body is refused', '72', G({ keyReuse: 'reject' })],
  ['a currency must be an ISO code', '82', G({ inputRules: 'formats' })],
  ['an amount is text', '44', S({ variant: ['text-amounts'] })],
  [
    'the id of a charge has another form',
    'G1',
    where((of, { id }) => of.startsWith('gateway') && typeof id === 'string', {
      body: (body) => ({ ...body, id: `charge-${String(body.id).slice(3)}` }),
    }),
  ],
  ['created_at has another form', '81', replace('created_at', '01/12/2026 06:00', 'gateway.charge')],
]

test('compare finds no difference in an unchanged server', async () => {
  const comparison = await compareWithMock(await recordTour({}, same))
  expect(comparison).toMatchObject({ differences: [], skipped: [] })
})

test.each(VARIANTS)('compare names a changed server by its row: %s, row %s', async (_, row, server) => {
  const [options, change] = typeof server === 'function' ? [{}, server] : [server, same]
  const { differences } = await compareWithMock(await recordTour(options, change))
  expect(differences.map((each) => each.row)).toContain(row)
})
