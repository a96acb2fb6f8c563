import { expect } from 'vitest'
import { subscriptionsDefaults } from '../../mocks/core.ts'
import type { OpenMock } from '../mock/open.ts'
import { errorOf as failure } from '../support/clients.ts'
import type { Seen } from '../support/raw-requests.ts'
import { burst, ORDER, test } from './set-up.ts'

const PAYMENTS = 25

/** A subscription with 25 payments. */
const withPayments = async (open: () => Promise<OpenMock>) => {
  const opened = await open()
  const { subscriptionId } = await opened.subscription({ cycle: 'DAILY' })
  await opened.mock.clock.advance({ days: PAYMENTS })
  const page = async (query: string) => {
    const { json } = await opened.s(`/api/v1.0/subscription/${subscriptionId}/payments${query}`)
    const list: { paymentId: number }[] = json.subscriptionPayments
    return list.map(({ paymentId }) => paymentId)
  }
  return { ...opened, subscriptionId, page }
}

test('row 38: success is 00, and refusals have the listed codes or those of the option', async (open) => {
  const { subscribe, s, subscription, login } = await open({
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
  const named = await open({ subscriptions: { errorCodes } })
  expect((await named.subscribe()).json.errorCode).toBe('0000')
  expect((await named.s('/api/v1.0/subscription/unknown')).json.errorCode).toBe('E404')
  expect((await named.subscribe({ cycle: 'x' })).json.errorCode).toBe('01')
})

test('row 39: a refused field is 422 or the status of the option, also 200 with its code', async (open) => {
  const { subscribe: refused, mock } = await open()
  for (const [field, value] of [
    ['clientID', undefined],
    ['requestID', 7],
    ['requestID', ' '],
    ['start', '2026-02-30'],
    ['start', '28.11.2026'],
    ['end', '2026-11-27'],
    ['userReturnURL', 'shop.test/return'],
    ['userReturnURL', 'javascript://shop.test/%0aalert(1)'],
    ['cycle', 'MONTHLY'],
    ['cycle', 'toString'],
    ['amount', 25],
  ]) {
    const { status, json } = await refused({ [String(field)]: value })
    expect([field, value, status, json.errorCode]).toEqual([field, value, 422, '01'])
    expect(mock.explain('subscriptions.subscribe')).toContain(String(field))
  }
  expect(mock.state.subscriptions()).toEqual([])
  for (const validationStatus of [200, 400, 409] as const) {
    const { subscribe } = await open({ subscriptions: { validationStatus } })
    expect((await subscribe({ cycle: 'MONTHLY' })).status).toBe(validationStatus)
  }
  const disguised = await open({ subscriptions: { errorsAs200: true } })
  const answer = await disguised.subscribe({ cycle: 'MONTHLY' })
  expect([answer.status, answer.json.errorCode]).toEqual([200, '01'])
  // What the specification states stays as it is.
  expect((await disguised.login({ password: 'x' })).status).toBe(401)
})

test('row 40: an unknown id is 404 or the status of the option, and so is another merchant’s id', async (open) => {
  for (const status of [200, 400, 404] as const) {
    const { subscriptions } = await open({ subscriptions: { notFoundStatus: status } })
    const error = await failure(subscriptions.details('unknown'))
    expect(error).toMatchObject({ status, errorCode: '02', outcome: 'rejected' })
  }
  const { s: ask } = await open()
  for (const id of ['0', '1', '-1', 'abc', '1e9', '9007199254740993']) {
    expect((await ask(`/api/v1.0/subscription/payment/${id}`)).status).toBe(404)
  }
  const merchant = (clientId: string) => ({
    name: clientId,
    clientId,
    clientSecret: 'secret',
    users: [{ username: clientId, password: 'password' }],
  })
  const { mock, subscription, s, login } = await open({
    subscriptions: { merchants: [merchant('one'), merchant('two')] },
  })
  const { invoiceId, subscriptionId: id } = await subscription({ clientID: 'one', cycle: 'DAILY' })
  await mock.clock.advance({ days: 1 })
  const subscriptionPath = `/api/v1.0/subscription/${id}`
  for (const [name, status] of [
    ['two', 404],
    ['one', 200],
  ] as const) {
    const grant = { client_id: name, client_secret: 'secret', username: name, password: 'password' }
    const { access_token: token } = (await login(grant)).json
    for (const path of [
      `/api/v1.0/subscribe/${invoiceId}/status`,
      subscriptionPath,
      `${subscriptionPath}/payments`,
      `/api/v1.0/subscription/payment/${mock.state.payments()[0]?.paymentId}`,
      `${subscriptionPath}/cancel`,
      `/api/v1.0/subscription/cancel/${id}`,
    ]) {
      expect([path, (await s(path, { token })).status]).toEqual([path, status])
    }
  }
})

test('row 41: payments are listed ten a page, oldest first, and an unreadable page is read as the first', async (open) => {
  const { page, mock, subscriptionId, subscriptions } = await withPayments(open)
  const all = mock.state.payments(subscriptionId).map(({ paymentId }) => paymentId)
  expect(await page('')).toEqual(all.slice(0, 10))
  expect(await page('?page=3')).toEqual(all.slice(20))
  expect(await page('?page=4')).toEqual([])
  for (const odd of ['0', '-1', 'x', '1.5', '']) expect(await page(`?page=${odd}`)).toEqual(all.slice(0, 10))
  expect(await page('?per_page=7&page=2')).toEqual(all.slice(7, 14))
  expect(await page('?per_page=1000')).toEqual(all)
  expect(await page(`?per_page=${'9'.repeat(30)}`)).toEqual(all)
  expect(await page(`?page=${'9'.repeat(30)}`)).toEqual([])
  const small = await withPayments(() =>
    open({ subscriptions: { paging: { defaultSize: 3, maxSize: 4, ignore: [] } } }),
  )
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
    const other = await withPayments(() => open({ subscriptions: { paging } }))
    expect(await collect(other.subscriptions, other.subscriptionId)).toHaveLength(expected)
  }
})

test('row 42: 600 calls a minute pass for each client_id, refused calls do not count, and every response has the three headers', async (open) => {
  // With a fixed clock, a server has no limits but those of the options.
  const { rateLimit } = subscriptionsDefaults
  const { s, mock, login } = await open({ subscriptions: { rateLimit } })
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

  const tight = await open({ subscriptions: { rateLimit: { limit: 1, windowMs: 1_000 } } })
  expect([(await tight.subscribe()).status, (await tight.subscribe()).status]).toEqual([200, 429])
  const free = await open({ subscriptions: { rateLimit: false } })
  const answer = await free.subscribe()
  expect(standing(answer)).toEqual(['1000000000', '999999999', expect.stringMatching(/^\d{10}$/)])
})

test('row 43: a 429 has no Retry-After unless the option sends it, and clients then wait for the end of the window', async (open) => {
  for (const [sendRetryAfter, expected] of [
    [false, null],
    [true, '60'],
  ] as const) {
    const { subscribe, mock, subscriptions } = await open({
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

test('row 44: responses follow the tables, and clients read every variant as the same result', async (open) => {
  const run = async (variant: readonly string[]) => {
    const { subscriptions, subscription, subscribe, mock } = await open({
      subscriptions: { variant: variant as [] },
    })
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
  const own = await open({
    subscriptions: { variant: (_operation, body) => ({ ...(body as object), extra: 1 }) },
  })
  expect((await own.subscribe()).json.extra).toBe(1)
  const late = await open({ subscriptions: { variant: (_operation, body) => Promise.resolve(body) } })
  expect((await late.subscribe()).status).toBe(500)
})
