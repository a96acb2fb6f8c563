import { expect, test } from 'vitest'
import { OK } from '../support/bodies.ts'
import { gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { skippingClock } from '../support/skipping-clock.ts'

/** What a server that is not the mock responds with: a status, 200 by default, and a body, JSON unless it is text. */
interface Answer {
  readonly status?: number
  readonly body?: unknown
}

const LOGIN = { token_type: 'Bearer', expires_in: 3600, access_token: 'access', refresh_token: 'refresh' }

const clientsOf = (answer: Answer, login: Answer = { body: LOGIN }) => {
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const { url } = new Request(input)
    const { status = 200, body = '' } = url.endsWith('/oauth/token') ? login : answer
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return new Response(status === 204 ? null : text, {
      status,
      headers: { 'content-type': 'application/json' },
    })
  }
  // A second login after a rejected one waits for seconds.
  const options = { fetch, retry: false, rateLimit: 'throw', clock: skippingClock() } as const
  const server = 'https://server.example'
  return { subscriptions: subscriptionsClient(server, options), gateway: gatewayClient(server, options) }
}

type Call = (clients: ReturnType<typeof clientsOf>) => Promise<unknown>

const details: Call = ({ subscriptions }) => subscriptions.details('sub-1')
const payment: Call = ({ subscriptions }) => subscriptions.payment(1)
const charge: Call = ({ gateway }) => gateway.charge(MOCK_CHARGE)
const health: Call = ({ gateway }) => gateway.health()
const chargeStatus: Call = ({ gateway }) => gateway.status('ch_1')
const reference: Call = ({ gateway }) => gateway.reference().then((value) => ({ value }))
const [at, html] = ['2026-12-02 12:00:00', '<html></html>']
const used = { error: { code: 'key', message: 'x' } }
const noReversal = {
  reverseTransactionAmount: null,
  reverseTransactionDate: null,
  reverseTransactionId: null,
}

/** The forms of responses that clients tolerate, and the result or the error. */
const tolerated: readonly (readonly [row: number, answer: Answer, call: Call, result: object])[] = [
  [4, { body: { id: 'sub-1', loyaltyTier: 'gold', ...OK } }, details, { loyaltyTier: 'gold' }],
  [
    11,
    { body: { status: 'INITIALIZED', subscriptionId: null, ...OK } },
    ({ subscriptions }) => subscriptions.status('inv-1'),
    { subscriptionId: null },
  ],
  ...[0, 1, '0', '1', true, false, 'true', 'false', 'TRUE'].map((enabled) => {
    const number = /^(1|true)$/i.test(String(enabled)) ? 1 : 0
    return [12, { body: { id: 'sub-1', enabled, ...OK } }, details, { enabled: number }] as const
  }),
  ...[null, '', '0.00', 0, undefined].map((amount) => {
    const body = { status: 'X', ...noReversal, reverseTransactionAmount: amount, ...OK }
    return [13, { body }, payment, noReversal] as const
  }),
  [
    13,
    { body: { status: 'X', reverseTransactionAmount: 25.5, ...OK } },
    payment,
    { ...noReversal, reverseTransactionAmount: '25.5' },
  ],
  ...[at, null, '', undefined].map((nextPaymentDate) => {
    const body = { id: 'sub-1', nextPaymentDate, ...OK }
    return [25, { body }, details, { nextPaymentDate: nextPaymentDate || null }] as const
  }),
  ...['', html, { error: 'invalid_token', error_description: 'x' }, { errorCode: 401 }].flatMap((body) => [
    [37, { status: 401, body }, details, { code: 'authentication_failed', status: 401 }] as const,
    [37, { status: 429, body }, details, { code: 'rate_limited', status: 429 }] as const,
    [37, { status: 403, body }, details, { code: 'api_error', status: 403 }] as const,
  ]),
  ...[[], 'x', 7, null, { numbers: {} }].map(
    (value) => [61, { body: JSON.stringify(value) }, reference, { value }] as const,
  ),
  ...['', html, { code: 'x' }, { error: 'text' }, { error: { code: 7 } }].map((body) => {
    const error = { code: 'api_error', status: 418, outcome: 'rejected' }
    return [70, { status: 418, body }, charge, error] as const
  }),
  [72, { status: 409, body: used }, charge, { status: 409, outcome: 'unknown' }],
  [72, { status: 422, body: used }, charge, { status: 422, outcome: 'rejected' }],
  ...['', 'OK', html, { status: 'down' }].flatMap((body) => [
    [79, { body }, health, { ok: true, status: 200 }] as const,
    [79, { status: 202, body }, health, { ok: false, status: 202 }] as const,
  ]),
  ...['01/12/2026', '1780000000', 1_780_000_000].map((created_at) => {
    const body = { status: 'succeeded', created_at }
    return [81, { body }, chargeStatus, { created_at: String(created_at) }] as const
  }),
]

test.each(tolerated)('row %i: clients accept the response %j', async (_row, answer, call, result) => {
  expect(await call(clientsOf(answer)).catch((error: unknown) => error)).toMatchObject(result)
})

test('row 50: clients accept a token response with and without the envelope', async () => {
  for (const body of [LOGIN, { ...LOGIN, ...OK }]) {
    expect(await clientsOf({}, { body }).subscriptions.login()).toMatchObject({ access_token: 'access' })
  }
})
