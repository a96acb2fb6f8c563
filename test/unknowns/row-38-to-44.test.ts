import { expect } from 'vitest'
import { defaultMerchant } from '../../mocks/core.ts'
import type { OpenMock } from '../mock/open.ts'
import { errorOf as failure } from '../support/clients.ts'
import type { Seen } from '../support/raw-requests.ts'
import { burst, ORDER, S, statusesOf, test, testCases } from './set-up.ts'

/** The codes of a success, and of each refusal that the options allow. */
const errorCodes = async ({ subscribe, s, subscription, login }: OpenMock) => {
  const { subscriptionId } = await subscription()
  const cancel = () => s(`/api/v1.0/subscription/${subscriptionId}/cancel`)
  const responses = [
    await cancel(),
    await subscribe({ requestID: 'new', cycle: 'MONTHLY' }),
    await s('/api/v1.0/subscription/unknown'),
    await subscribe(),
    await cancel(),
    await subscribe({ requestID: 'new', clientID: 'another' }),
    await login({ password: 'x' }),
  ]
  return responses.map(({ json }) => json.errorCode)
}
const refusing = { duplicateRequest: 'refuse', cancelTwice: 'refuse' } as const

testCases('row 38: success is 00, and refusals have the listed codes or those of the option', [
  [S(refusing), errorCodes, ['00', '01', '02', '03', '04', '05', '401']],
  [
    S({ ...refusing, errorCodes: { success: '0000', not_found: 'E404' } }),
    errorCodes,
    ['0000', '01', 'E404', '03', '04', '05', '401'],
  ],
])

/** The status and errorCode of a field that is refused, and the status of a wrong password. */
const refusal = async ({ subscribe, login }: OpenMock) => {
  const { status, json } = await subscribe({ cycle: 'MONTHLY' })
  return [status, json.errorCode, (await login({ password: 'x' })).status]
}

testCases('row 39: a refused field is 422 or the status of the option, also 200 with its code', [
  [{}, refusal, [422, '01', 401]],
  [S({ validationStatus: 200 }), refusal, [200, '01', 401]],
  [S({ validationStatus: 400 }), refusal, [400, '01', 401]],
  [S({ validationStatus: 409 }), refusal, [409, '01', 401]],
  // What the specification states stays as it is.
  [S({ errorsAs200: true }), refusal, [200, '01', 401]],
])

test('row 39: each refused field of a subscription is named, and nothing is stored', async (open) => {
  const { subscribe, mock } = await open()
  for (const [field, value] of [
    ['clientID', undefined],
    ['requestID', 7],
    ['requestID', ' '],
    ['start', '2026-02-30'],
    ['start', '28.11.2026'],
    ['end', '2026-11-27'],
    ['userReturnURL', 'shop.test/return'],
    ['cycle', 'toString'],
    ['amount', 25],
  ] as const) {
    const { status, json } = await subscribe({ [field]: value })
    expect([field, value, status, json.errorCode]).toEqual([field, value, 422, '01'])
    expect(mock.explain('subscriptions.subscribe')).toContain(field)
  }
  expect(mock.state.subscriptions()).toEqual([])
})

const unknownId = async ({ subscriptions }: OpenMock) => failure(subscriptions.details('unknown'))
const unknown = (status: number) => expect.objectContaining({ status, errorCode: '02', outcome: 'rejected' })

testCases('row 40: an unknown id is 404 or the status of the option', [
  [{}, unknownId, unknown(404)],
  [S({ notFoundStatus: 200 }), unknownId, unknown(200)],
  [S({ notFoundStatus: 400 }), unknownId, unknown(400)],
  [
    {},
    async ({ s }) => {
      const paths = ['0', '1', '-1', 'abc', '1e9', '9007199254740993'].map((id) => `payment/${id}`)
      return statusesOf(await Promise.all(paths.map((path) => s(`/api/v1.0/subscription/${path}`))))
    },
    Array(6).fill(404),
  ],
])

test('row 40: another merchant’s id is a 404 of every operation', async (open) => {
  const merchants = ['one', 'two'].map((clientId) => ({ ...defaultMerchant, clientId }))
  const { mock, subscription, s, login } = await open(S({ merchants }))
  const { invoiceId, subscriptionId: id } = await subscription({ clientID: 'one', cycle: 'DAILY' })
  await mock.clock.advance({ days: 1 })
  for (const [client_id, status] of [
    ['two', 404],
    ['one', 200],
  ] as const) {
    const { access_token: token } = (await login({ client_id })).json
    for (const path of [
      `subscribe/${invoiceId}/status`,
      `subscription/${id}`,
      `subscription/${id}/payments`,
      `subscription/payment/${mock.state.payments()[0]?.paymentId}`,
      `subscription/${id}/cancel`,
      `subscription/cancel/${id}`,
    ])
      expect([path, (await s(`/api/v1.0/${path}`, { token })).status]).toEqual([path, status])
  }
})

const PAYMENTS = 25

/** Which of 25 payments the pages of these queries list, and how many the client finds. */
const pages =
  (...queries: readonly string[]) =>
  async ({ mock, subscription, subscriptions, s }: OpenMock) => {
    const { subscriptionId } = await subscription({ cycle: 'DAILY' })
    await mock.clock.advance({ days: PAYMENTS })
    const ids = mock.state.payments().map(({ paymentId }) => paymentId)
    const lists: unknown[] = []
    for (const query of queries) {
      const { json } = await s(`/api/v1.0/subscription/${subscriptionId}/payments?${query}`)
      const numbers = json.subscriptionPayments.map((each: { paymentId: number }) =>
        ids.indexOf(each.paymentId),
      )
      lists.push(numbers.length === 0 ? 'none' : `${numbers[0]} to ${numbers.at(-1)}, ${numbers.length}`)
    }
    const found = new Set<unknown>()
    for await (const { paymentId } of subscriptions.allPayments(subscriptionId)) found.add(paymentId)
    return [...lists, found.size]
  }
const paging = (defaultSize: number, maxSize: number, ...ignore: ('page' | 'per_page')[]) =>
  S({ paging: { defaultSize, maxSize, ignore } })
const FIRST = '0 to 9, 10'

testCases('row 41: payments are listed ten a page, oldest first, and an unreadable page is the first', [
  [{}, pages('', 'page=3', 'page=4'), [FIRST, '20 to 24, 5', 'none', PAYMENTS]],
  [{}, pages('page=0', 'page=-1', 'page=x', 'page=1.5', 'page='), [...Array(5).fill(FIRST), PAYMENTS]],
  [{}, pages('per_page=7&page=2', 'per_page=1000'), ['7 to 13, 7', '0 to 24, 25', PAYMENTS]],
  [{}, pages(`per_page=${'9'.repeat(30)}`, `page=${'9'.repeat(30)}`), ['0 to 24, 25', 'none', PAYMENTS]],
  [paging(3, 4), pages('', 'per_page=9'), ['0 to 2, 3', '0 to 3, 4', PAYMENTS]],
  [paging(10, 100, 'per_page'), pages('per_page=7'), [FIRST, PAYMENTS]],
  [paging(10, 100, 'page'), pages('page=2'), [FIRST, PAYMENTS]],
  [paging(10, 100, 'page', 'per_page'), pages('page=2'), [FIRST, 10]],
])

test('row 42: 600 calls a minute pass for each client_id, refused calls do not count, and every response has the three headers', async (open) => {
  const { s, mock, login } = await open()
  const ask = () => s('/api/v1.0/subscription/x')
  const standing = ({ headers }: Pick<Seen, 'headers'>) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
  const resetAt = String(Date.parse('2026-12-01T06:01:00Z') / 1_000)
  expect(standing(await ask())).toEqual(['600', '599', resetAt])
  await mock.clock.advance({ seconds: 30 })
  await burst(598, ask)
  expect(standing(await ask())).toEqual(['600', '0', resetAt])
  for (let count = 0; count < 3; count += 1) {
    const refused = await ask()
    expect([refused.status, ...standing(refused)]).toEqual([429, '600', '0', resetAt])
  }
  // Calls without a client_id have a bucket of their own.
  expect(standing(await s('/api/v1.0/subscription/x', { anonymous: true }))[1]).toBe('599')
  expect((await login()).status).toBe(429)
  await mock.clock.advance({ seconds: 30 })
  expect(standing(await ask())[1]).toBe('599')
})

/** Status and Retry-After of the third call, and the error of a client. */
const third = async ({ subscribe, subscriptions, mock }: OpenMock) => {
  const responses = [await subscribe(), await subscribe(), await subscribe()]
  const { code, retryAfterMs } = Object(await failure(subscriptions.details('x')))
  const { decision } = mock.requests.all().at(-1) ?? {}
  return [...statusesOf(responses), responses[2]?.headers.get('retry-after'), code, retryAfterMs, decision]
}
const rateLimit = { limit: 2, windowMs: 60_000 }
const limited = ['rate_limited', 60_000, 'rate_limited']

testCases('row 43: a 429 has a Retry-After only by option, and clients wait for the end of the window', [
  [S({ rateLimit }), third, [200, 200, 429, null, ...limited]],
  [S({ rateLimit, sendRetryAfter: true }), third, [200, 200, 429, '60', ...limited]],
])

test('row 44: responses follow the tables, and clients read every variant as the same result', async (open) => {
  const run = async (variant: readonly string[]) => {
    const { subscriptions, subscription, subscribe, mock } = await open(S({ variant: variant as [] }))
    const first = await subscribe()
    const { invoiceId, subscriptionId } = await subscription({ cycle: 'DAILY' })
    await mock.clock.advance({ days: 1 })
    const { subscriptionPayments } = await subscriptions.payments(subscriptionId)
    if (variant[0] === 'number-ids') expect(first.json.invoiceID).toEqual(expect.any(Number))
    const { url, ...subscribed } = await subscriptions.subscribe(ORDER)
    expect(url).toContain(subscribed.invoiceID)
    return {
      subscribed,
      status: await subscriptions.status(invoiceId),
      details: await subscriptions.details(subscriptionId),
      payments: subscriptionPayments,
      payment: await subscriptions.payment(subscriptionPayments[0]?.paymentId ?? 0),
      cancelled: await subscriptions.cancel(subscriptionId),
    }
  }
  const plain = await run([])
  expect(plain.details).toMatchObject({ amount: 25, enabled: 1 })
  const [flags, reversals] = [
    ['text-flags', 'boolean-flags'],
    ['empty-reversals', 'zero-reversals'],
  ]
  for (const form of ['id-casing', 'text-ids', 'text-amounts', ...flags, ...reversals])
    expect([form, await run([form])]).toEqual([form, plain])
  // Identifiers that are numbers on the wire are other ones, and text to the caller all the same.
  const digits = expect.stringMatching(/^\d+$/)
  expect(await run(['number-ids'])).toMatchObject({
    subscribed: { invoiceID: digits },
    status: { invoiceId: digits, subscriptionId: digits },
    details: { ...plain.details, id: digits },
    payment: { ...plain.payment, subscriptionId: digits, transactionId: expect.any(String) },
    cancelled: { ...plain.cancelled, subscriptionID: digits },
  })
  const { details } = await run(['iso-dates'])
  expect(details.nextPaymentDate).toBe('2026-12-02T12:00:00')
  await expect(run(['number-codes'])).rejects.toMatchObject({ code: 'api_error', phase: 'login' })
  const own = await open(S({ variant: (_operation, body) => ({ ...Object(body), extra: 1 }) }))
  expect((await own.subscribe()).json.extra).toBe(1)
  const late = await open(S({ variant: (_operation, body) => Promise.resolve(body) }))
  expect((await late.subscribe()).status).toBe(500)
})
