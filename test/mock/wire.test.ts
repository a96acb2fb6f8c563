import { describe, expect, test } from 'vitest'
import { CHARGES, type OpenMock, ORDER, open, openThrough } from './open.ts'
import { transports } from './transports.ts'

const text = expect.any(String)
const integer = expect.toSatisfy(Number.isInteger, 'an integer')
const url = expect.toSatisfy(URL.canParse, 'a URL')
const date = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)
const dateTime = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
const envelope = { errorCode: '00', errorMessage: expect.stringMatching(/succe/i) }

/** The tables of the specification: each field, and the form of its value. */
const S2 = { url, invoiceID: text, ...envelope }
const S3 = { invoiceId: text, status: 'SUCCEEDED', subscriptionId: text, createdAt: dateTime, ...envelope }
const S4 = {
  id: text,
  amount: 25,
  cycle: 'DAILY',
  enabled: 1,
  createdDate: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/),
  startDate: date,
  endDate: date,
  nextPaymentDate: dateTime,
  requestID: 'order-1',
  ...envelope,
}
const S5 = { id: integer, subscriptionID: text, requestID: integer, status: 'PROCESSED', ...envelope }
const S6 = {
  paymentId: integer,
  cycle: 'DAILY',
  dueDate: date,
  reverseTransactionAmount: null,
  reverseTransactionDate: null,
  reverseTransactionId: null,
  status: 'SUCCEEDED_PAYMENT',
  subscriptionId: text,
  transactionDate: dateTime,
  transactionId: text,
  nextPaymentDate: date,
}
const S7 = { token_type: 'Bearer', expires_in: 3600, access_token: text, refresh_token: text, ...envelope }
const G1 = {
  id: expect.stringMatching(/^ch_./),
  msisdn: text,
  amount: 250,
  currency: 'BDT',
  status: 'succeeded',
  outcome: 'SUCCEEDED',
  confirmation_id: expect.stringMatching(/^conf_./),
  confirmation_url: url,
  created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
}
const pending = { status: 'pending_confirmation', outcome: 'PENDING' }

type Answered = Awaited<ReturnType<OpenMock['s']>>

const expectJson = (answer: Answered, status: number, body: unknown) => {
  expect([answer.status, answer.json]).toEqual([status, body])
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
}

describe.each(transports)('through $name', (transport) => {
  test('area S responds with the fields of S2 to S7 and the rate-limit headers', async () => {
    const { mock, s, login, subscribe, subscription } = await openThrough(transport)
    const subscribed = await subscribe()
    const { invoiceId, subscriptionId } = await subscription({ cycle: 'DAILY' })
    const id = `/api/v1.0/subscription/${subscriptionId}`
    const answers: [Answered, unknown][] = [
      [await login(), S7],
      [subscribed, S2],
      [await s(`/api/v1.0/subscribe/${invoiceId}/status`), S3],
      [await s(id, { body: {} }), S4],
    ]
    await mock.clock.advance({ days: 2 })
    const [payment] = mock.state.payments()
    answers.push(
      [await s(`${id}/payments`), { subscriptionPayments: [S6, S6], ...envelope }],
      [await s(`/api/v1.0/subscription/payment/${payment?.paymentId}`), { ...S6, ...envelope }],
      [await s(`${id}/cancel`), S5],
      [await s(`/api/v1.0/subscription/cancel/${subscriptionId}`), S5],
    )
    for (const [answer, fields] of answers) {
      expectJson(answer, 200, fields)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
      expect(answer.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
      expect(answer.headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/)
    }
  })

  test('area G responds with the fields of G1, and confirmation_url is a page that ends in the confirmation_id', async () => {
    const { mock, fetch, charge, confirm, read, renew } = await openThrough(transport)
    const created = await charge('k')
    expectJson(created, 202, { ...G1, ...pending })
    const { id, confirmation_id, confirmation_url } = created.json
    expect(new URL(confirmation_url).pathname.split('/').at(-1)).toBe(confirmation_id)
    const page = await fetch(confirmation_url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expectJson(await confirm(confirmation_id), 200, { ...G1, id })
    expectJson(await read(id), 200, { ...G1, id })
    const renewal = await renew(id, 'k')
    expectJson(renewal, 201, G1)
    expect(renewal.json.id).not.toBe(id)
    expect(mock.state.charges()[0]).toEqual((await read(id)).json)
  })
})

const refusal = {
  s: { errorCode: '401', errorMessage: text },
  g: { error: { code: 'unauthorized', message: text } },
}
test.each([
  ['s', 'POST', '/api/v1.0/subscribe'],
  ['s', 'POST', '/api/v1.0/subscription/x/payments'],
  ['g', 'POST', CHARGES],
  ['g', 'POST', '/api/v1/mfs/confirm/conf_1'],
  ['g', 'GET', `${CHARGES}/ch_1`],
  ['g', 'POST', `${CHARGES}/ch_1/renew`],
  ['g', 'POST', '/api/v1/reset'],
] as const)('area %s: %s %s without a bearer, or with a wrong one, is 401', async (area, method, path) => {
  const { [area]: ask } = await open()
  const body = method === 'GET' ? {} : { body: ORDER }
  for (const asking of [{ anonymous: true }, { token: 'wrong' }])
    expectJson(await ask(path, { method, ...body, ...asking }), 401, refusal[area])
})
