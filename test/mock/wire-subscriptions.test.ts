import { describe, expect, test } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import type { Seen } from '../support/raw-requests.ts'
import type { OpenMerchant } from './merchant.ts'
import { openMerchant, REQUEST } from './merchant.ts'
import { transports } from './transports.ts'

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/
const ISO_MICROSECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/

/** The tables S2 to S7 of the specification: each field, and the form of its value. */
const text = expect.any(String)
const integer = expect.toSatisfy(Number.isInteger, 'an integer')
const envelope = { errorCode: '00', errorMessage: expect.stringMatching(/succe/i) }
const tables = {
  S2: { url: expect.toSatisfy(URL.canParse, 'a URL'), invoiceID: text, ...envelope },
  S3: {
    invoiceId: text,
    status: text,
    subscriptionId: text,
    createdAt: expect.stringMatching(DATE_TIME),
    ...envelope,
  },
  S4: {
    id: text,
    amount: expect.any(Number),
    cycle: 'DAILY',
    enabled: integer,
    createdDate: expect.stringMatching(ISO_MICROSECONDS),
    startDate: expect.stringMatching(DATE),
    endDate: expect.stringMatching(DATE),
    nextPaymentDate: expect.stringMatching(DATE_TIME),
    requestID: text,
    ...envelope,
  },
  S5: { id: integer, subscriptionID: text, requestID: integer, status: 'PROCESSED', ...envelope },
  S6: {
    paymentId: integer,
    cycle: 'DAILY',
    dueDate: expect.stringMatching(DATE),
    reverseTransactionAmount: null,
    reverseTransactionDate: null,
    reverseTransactionId: null,
    status: expect.stringMatching(/^(?:SUCCEEDED|FAILED)_PAYMENT$/),
    subscriptionId: text,
    transactionDate: expect.stringMatching(DATE_TIME),
    transactionId: text,
    nextPaymentDate: expect.stringMatching(DATE),
  },
  S7: { token_type: 'Bearer', expires_in: integer, access_token: text, refresh_token: text },
}

describe.each(transports)('area S through $name', (transport) => {
  let merchant: OpenMerchant
  const open = async (options?: MockOptions) => {
    merchant = await openMerchant(transport, options)
    return merchant
  }

  const expectJson = (answer: Seen, status: number, body: Record<string, unknown>) => {
    expect([answer.status, answer.json]).toEqual([status, body])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
    expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
    expect(answer.headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/)
  }

  test('S-a answers 200 with the fields of S7', async () => {
    const { login } = await open()
    expectJson(await login(), 200, { ...tables.S7, ...envelope })
  })

  test('S-a answers without the envelope when the option says so', async () => {
    const { login } = await open({ subscriptions: { tokenEnvelope: false } })
    expectJson(await login(), 200, tables.S7)
  })

  test('S-a reads a form as well', async () => {
    const { s, credentials } = await open()
    const body = new URLSearchParams(credentials()).toString()
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expectJson(await s('/oauth/token', { body, headers }), 200, { ...tables.S7, ...envelope })
  })

  test('S-b answers 200 with the fields of S2', async () => {
    const { s, bearer } = await open()
    const answer = await s('/api/v1.0/subscribe', { headers: await bearer(), body: REQUEST })
    expectJson(answer, 200, tables.S2)
  })

  test('S-c answers 200 with the fields of S3, INITIALIZED before the payer acts', async () => {
    const { s, bearer } = await open()
    const headers = await bearer()
    const { json } = await s('/api/v1.0/subscribe', { headers, body: REQUEST })
    const answer = await s(`/api/v1.0/subscribe/${String(json.invoiceID)}/status`, { headers })
    expectJson(answer, 200, { ...tables.S3, status: 'INITIALIZED', invoiceId: json.invoiceID })
  })

  test('S-d answers 200 with the fields of S4', async () => {
    const { s, subscription } = await open()
    const { headers, subscriptionId } = await subscription()
    const answer = await s(`/api/v1.0/subscription/${subscriptionId}`, { headers, body: {} })
    expectJson(answer, 200, { ...tables.S4, id: subscriptionId, requestID: 'order-1', amount: 25 })
  })

  test('S-e and S-f answer 200 with the same record of S5', async () => {
    const { s, subscription } = await open()
    const { headers, subscriptionId } = await subscription()
    const cancelled = await s(`/api/v1.0/subscription/${subscriptionId}/cancel`, { headers })
    expectJson(cancelled, 200, { ...tables.S5, subscriptionID: subscriptionId })
    const read = await s(`/api/v1.0/subscription/cancel/${subscriptionId}`, { headers })
    expectJson(read, 200, cancelled.json)
    const again = await s(`/api/v1.0/subscription/${subscriptionId}/cancel`, { headers })
    expectJson(again, 200, cancelled.json)
  })

  test('S-g lists records of S6, ten a page by default and per_page up to 100', async () => {
    const { mock, s, subscription } = await open()
    const { headers, subscriptionId } = await subscription(['succeed', 'fail'])
    await mock.clock.advance({ days: 24 })
    const page = async (query: string) => {
      const answer = await s(`/api/v1.0/subscription/${subscriptionId}/payments${query}`, {
        headers: await merchant.bearer(),
      })
      expectJson(answer, 200, { subscriptionPayments: expect.any(Array), ...envelope })
      return answer.json.subscriptionPayments as Record<string, unknown>[]
    }
    expect(headers.Authorization).toMatch(/^Bearer /)
    const first = await page('')
    expect(first).toEqual(Array.from({ length: 10 }, () => tables.S6))
    expect(first.slice(0, 3).map(({ status }) => status)).toEqual([
      'SUCCEEDED_PAYMENT',
      'FAILED_PAYMENT',
      'SUCCEEDED_PAYMENT',
    ])
    expect(await page('?page=3')).toHaveLength(4)
    expect(await page('?page=1&per_page=100')).toHaveLength(24)
    expect(await page('?page=9')).toEqual([])
  })

  test('S-h answers 200 with the fields of S6 and the envelope', async () => {
    const { mock, s, subscription, bearer } = await open()
    await subscription()
    await mock.clock.advance({ days: 1 })
    const [payment] = mock.state.payments()
    const answer = await s(`/api/v1.0/subscription/payment/${String(payment?.paymentId)}`, {
      headers: await bearer(),
    })
    expectJson(answer, 200, { ...tables.S6, ...envelope, paymentId: payment?.paymentId })
  })

  test('a reversed payment shows amount, time and identifier of the reversal', async () => {
    const { mock, s, subscription, bearer } = await open()
    await subscription()
    await mock.clock.advance({ days: 1 })
    const [payment] = mock.state.payments()
    mock.payer.reverse(payment?.paymentId ?? 0)
    const answer = await s(`/api/v1.0/subscription/payment/${String(payment?.paymentId)}`, {
      headers: await bearer(),
    })
    expect(answer.json).toMatchObject({
      reverseTransactionAmount: '25.00',
      reverseTransactionDate: expect.stringMatching(DATE_TIME),
      reverseTransactionId: expect.any(String),
    })
  })

  test('failed authentication is 401, a lockout 403 also for right credentials until its time has passed', async () => {
    const { mock, s, login } = await open()
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expectJson(await login({ password: 'wrong' }), 401, { errorCode: '401', errorMessage: text })
    }
    expectJson(await login(), 403, { errorCode: '403', errorMessage: text })
    await mock.clock.advance({ seconds: 899 })
    expect((await login()).status).toBe(403)
    await mock.clock.advance({ seconds: 1 })
    expect((await login()).status).toBe(200)
    expect((await s('/api/v1.0/subscribe', { body: REQUEST })).status).toBe(401)
  })

  test('over the limit is 429 without Retry-After, with the time at which the window ends', async () => {
    const { mock, s, bearer } = await open({
      subscriptions: { rateLimit: { limit: 3, windowMs: 60_000 } },
    })
    const headers = await bearer()
    const remaining = async () => {
      const answer = await s('/api/v1.0/subscription/nothing', { headers })
      return [answer.status, answer.headers.get('x-ratelimit-remaining')]
    }
    expect([await remaining(), await remaining()]).toEqual([
      [404, '1'],
      [404, '0'],
    ])
    const refused = await s('/api/v1.0/subscribe', { headers, body: REQUEST })
    expect([refused.status, refused.json.errorCode]).toEqual([429, '429'])
    expect(refused.headers.get('retry-after')).toBeNull()
    const resetAt = Number(refused.headers.get('x-ratelimit-reset')) * 1_000
    await mock.clock.set(resetAt)
    expect(await remaining()).toEqual([404, '2'])
  })

  test('a 429 carries Retry-After when the option says so', async () => {
    const { login } = await open({
      subscriptions: { rateLimit: { limit: 1, windowMs: 60_000 }, sendRetryAfter: true },
    })
    await login()
    const refused = await login()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  })
})
