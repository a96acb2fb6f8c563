import { expect, test } from 'vitest'
import { OK } from '../support/bodies.ts'
import { errorOf as failure } from '../support/clients.ts'
import type { Seen } from '../support/raw-requests.ts'
import { answered, ORDER, open } from './set-up.ts'

const PAYMENTS = 25

/** A subscription with 25 payments. */
const withPayments = async (options = {}) => {
  const opened = open(options)
  const { subscriptionId } = await opened.subscription({ cycle: 'DAILY' })
  await opened.mock.clock.advance({ days: PAYMENTS })
  const page = async (query: string) => {
    const { json } = await opened.s(`/api/v1.0/subscription/${subscriptionId}/payments${query}`)
    const list: { paymentId: number }[] = json.subscriptionPayments
    return list.map(({ paymentId }) => paymentId)
  }
  return { ...opened, subscriptionId, page }
}

test('row 38: success is 00, refusals have listed codes, and clients take whatever is not the text 00 as an error', async () => {
  const { subscribe, s, subscription, login } = open({
    rules: 'strict',
    subscriptions: { cancelTwice: 'refuse' },
  })
  const { subscriptionId } = await subscription()
  const cancel = () => s(`/api/v1.0/subscription/${subscriptionId}/cancel`)
  const answers = [
    await cancel(),
    await subscribe({ requestID: 'new', cycle: 'MONTHLY' }),
    await s('/api/v1.0/subscription/unknown'),
    await subscribe(),
    await cancel(),
    await subscribe({ requestID: 'new', clientID: 'another' }),
    await login({ password: 'x' }),
  ]
  expect(answers.map(({ json }) => json.errorCode)).toEqual(['00', '01', '02', '03', '04', '05', '401'])

  const errorCodes = { success: '0000', not_found: 'E404' }
  const named = open({ subscriptions: { errorCodes } })
  expect((await named.subscribe()).json.errorCode).toBe('0000')
  expect((await named.s('/api/v1.0/subscription/unknown')).json.errorCode).toBe('E404')
  expect((await named.subscribe({ cycle: 'x' })).json.errorCode).toBe('01')

  for (const [status, errorCode] of [
    [200, '07'],
    [200, 0],
    [200, '0'],
    [201, 'OK'],
    [404, '02'],
  ] as const) {
    const { subscriptions } = answered({ status, body: { id: 'sub-1', errorCode, errorMessage: 'x' } })
    const error = await failure(subscriptions.details('sub-1'))
    expect(error).toMatchObject({ status, body: { errorCode } })
  }
})

test('row 39: a refused field is 422 or as told, also 200 with its code, and is a refusal to clients all the same', async () => {
  expect((await open().subscribe({ cycle: 'MONTHLY' })).status).toBe(422)
  for (const validationStatus of [200, 400, 409] as const) {
    const { subscribe } = open({ subscriptions: { validationStatus } })
    expect((await subscribe({ cycle: 'MONTHLY' })).status).toBe(validationStatus)
  }
  const disguised = open({ subscriptions: { errorsAs200: true } })
  const answer = await disguised.subscribe({ cycle: 'MONTHLY' })
  expect([answer.status, answer.json.errorCode]).toEqual([200, '01'])
  // What the specification states stays as it is.
  expect((await disguised.login({ password: 'x' })).status).toBe(401)

  const order = { ...ORDER, start: '2026-12-01' }
  for (const status of [200, 400, 409, 422]) {
    const { subscriptions } = answered({ status, body: { errorCode: '01', errorMessage: 'start' } })
    const error = await failure(subscriptions.subscribe(order))
    expect(error).toMatchObject({ code: 'api_error', status, errorCode: '01', outcome: 'rejected' })
  }
})

test('row 40: an unknown identifier is 404 or as told, and another merchant’s is unknown', async () => {
  const unknown = (status: 200 | 400 | 404) =>
    open({ subscriptions: { notFoundStatus: status } }).subscriptions.details('unknown')
  for (const status of [200, 400, 404] as const) {
    expect(await failure(unknown(status))).toMatchObject({ status, errorCode: '02', outcome: 'rejected' })
  }
  const merchant = (clientId: string) => ({
    name: clientId,
    clientId,
    clientSecret: 'secret',
    users: [{ username: clientId, password: 'password' }],
  })
  const { mock, subscription, s, login } = open({
    subscriptions: { merchants: [merchant('one'), merchant('two')] },
  })
  const { subscriptionId } = await subscription({ clientID: 'one' })
  const grant = { client_secret: 'secret', password: 'password' }
  const statuses: number[] = []
  for (const name of ['one', 'two']) {
    const { json } = await login({ ...grant, client_id: name, username: name })
    const headers = { authorization: `Bearer ${json.access_token}` }
    statuses.push((await s(`/api/v1.0/subscription/${subscriptionId}`, { anonymous: true, headers })).status)
  }
  expect(statuses).toEqual([200, 404])
  expect(mock.explain('subscriptions.details')).toMatch(/another merchant/)
})

test('row 41: payments come ten a page, oldest first, and odd pages are read as the first', async () => {
  const { page, mock, subscriptionId, subscriptions } = await withPayments()
  const all = mock.state.payments(subscriptionId).map(({ paymentId }) => paymentId)
  expect(await page('')).toEqual(all.slice(0, 10))
  expect(await page('?page=3')).toEqual(all.slice(20))
  expect(await page('?page=4')).toEqual([])
  for (const odd of ['0', '-1', 'x', '1.5', '']) expect(await page(`?page=${odd}`)).toEqual(all.slice(0, 10))
  expect(await page('?per_page=7&page=2')).toEqual(all.slice(7, 14))
  expect(await page('?per_page=1000')).toEqual(all)
  const small = await withPayments({ subscriptions: { paging: { defaultSize: 3, maxSize: 4, ignore: [] } } })
  expect([await small.page(''), await small.page('?per_page=9')].map((list) => list.length)).toEqual([3, 4])

  const collect = async (client: typeof subscriptions, id: string) => {
    const seen: unknown[] = []
    for await (const { paymentId } of client.allPayments(id)) seen.push(paymentId)
    return seen
  }
  expect(await collect(subscriptions, subscriptionId)).toEqual(all)
  for (const [ignore, expected] of [
    [['per_page'], PAYMENTS],
    [['page'], PAYMENTS],
    [['page', 'per_page'], 10],
  ] as const) {
    const paging = { defaultSize: 10, maxSize: 100, ignore: [...ignore] }
    const other = await withPayments({ subscriptions: { paging } })
    expect(await collect(other.subscriptions, other.subscriptionId)).toHaveLength(expected)
  }
  // A server that repeats records and gives short pages.
  const pages = [[1, 2], [2, 3], [4], [4]]
  const { subscriptions: client } = answered((_request, index) => ({
    body: { subscriptionPayments: (pages[index] ?? []).map((paymentId) => ({ paymentId })), ...OK },
  }))
  expect(await collect(client, 'sub-1')).toEqual([1, 2, 3, 4])
})

test('row 42: 600 calls a minute of a client_id pass, refused ones do not count, and every answer tells where it stands', async () => {
  const { s, mock, login } = open()
  const ask = () => s('/api/v1.0/subscription/x')
  const standing = ({ headers }: Pick<Seen, 'headers'>) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
  const resetAt = String(Date.parse('2026-12-01T06:01:00Z') / 1_000)
  expect(standing(await ask())).toEqual(['600', '599', resetAt])
  await mock.clock.advance({ seconds: 30 })
  for (let count = 0; count < 598; count += 1) await ask()
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

  const tight = open({ subscriptions: { rateLimit: { limit: 1, windowMs: 1_000 } } })
  expect([(await tight.subscribe()).status, (await tight.subscribe()).status]).toEqual([200, 429])
  const free = open({ subscriptions: { rateLimit: false } })
  const answer = await free.subscribe()
  expect(standing(answer)).toEqual([null, null, null])

  for (const headers of [{}, { 'x-ratelimit-limit': 'many', 'x-ratelimit-reset': 'soon' }]) {
    const { subscriptions } = answered({ headers, body: { id: 'sub-1', ...OK } })
    expect((await subscriptions.details('sub-1').withResponse()).response.rateLimit).toBeUndefined()
  }
})

test('row 43: a 429 has no Retry-After unless told, and clients wait by the window’s end without one', async () => {
  for (const [sendRetryAfter, expected] of [
    [false, null],
    [true, '60'],
  ] as const) {
    const { subscribe, mock, subscriptions } = open({
      subscriptions: { sendRetryAfter, rateLimit: { limit: 2, windowMs: 60_000 } },
    })
    await subscribe()
    await subscribe()
    const refused = await subscribe()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expected])
    expect(await failure(subscriptions.details('x'))).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 60_000,
    })
    expect(mock.requests.all().at(-1)?.decision).toBe('rate_limited')
  }
})

test('row 44: answers keep to the tables, and every variant gives clients the same result', async () => {
  const run = async (variant: readonly string[]) => {
    const { subscriptions, subscription, subscribe, mock } = open({
      subscriptions: { variant: variant as [] },
    })
    await subscribe()
    const { invoiceId, subscriptionId } = await subscription({ cycle: 'DAILY' })
    await mock.clock.advance({ days: 1 })
    const { subscriptionPayments } = await subscriptions.payments(subscriptionId)
    return {
      subscribed: await subscriptions.subscribe(ORDER),
      status: await subscriptions.status(invoiceId),
      details: await subscriptions.details(subscriptionId),
      payments: subscriptionPayments,
      payment: await subscriptions.payment(subscriptionPayments[0]?.paymentId ?? 0),
      cancelled: await subscriptions.cancel(subscriptionId),
    }
  }
  const plain = await run([])
  expect(plain.details).toMatchObject({ amount: 25, enabled: 1 })
  for (const form of [
    'id-casing',
    'text-ids',
    'text-amounts',
    'text-flags',
    'boolean-flags',
    'empty-reversals',
    'zero-reversals',
  ]) {
    expect([form, await run([form])]).toEqual([form, plain])
  }
  // Identifiers that are numbers on the wire are other ones, and text to the caller all the same.
  const digits = expect.stringMatching(/^\d+$/)
  expect(await run(['number-ids'])).toMatchObject({
    subscribed: { invoiceID: digits },
    status: { invoiceId: digits, subscriptionId: digits },
    details: { ...plain.details, id: digits },
    payment: { ...plain.payment, subscriptionId: digits },
    cancelled: { ...plain.cancelled, subscriptionID: digits },
  })
  const { details } = await run(['iso-dates'])
  expect(details.nextPaymentDate).toBe('2026-12-02T12:00:00')
  await expect(run(['number-codes'])).rejects.toMatchObject({ code: 'api_error', phase: 'login' })
  expect(() => open({ subscriptions: { variant: ['upside-down' as 'id-casing'] } })).toThrow(/upside-down/)
  const own = open({ subscriptions: { variant: (_operation, body) => ({ ...(body as object), extra: 1 }) } })
  expect((await own.subscribe()).json.extra).toBe(1)
})
