import { describe, expect, test } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import type { MockOptions } from '../../mocks/options.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import type { Seen } from '../support/raw-requests.ts'
import type { OpenMerchant } from './merchant.ts'
import { openMerchant } from './merchant.ts'
import { transports } from './transports.ts'

const text = expect.any(String)
/** The table G1 of the specification. */
const G1 = {
  id: expect.stringMatching(/^ch_./),
  msisdn: text,
  amount: expect.toSatisfy(Number.isInteger, 'an integer'),
  currency: text,
  status: expect.stringMatching(/^(?:pending_confirmation|pending_retry|succeeded|failed|expired)$/),
  outcome: text,
  confirmation_id: expect.stringMatching(/^conf_./),
  confirmation_url: expect.toSatisfy(URL.canParse, 'a URL'),
  created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
}
/** The table G2. */
const G2 = (code: string) => ({ error: { code, message: text } })

describe.each(transports)('area G through $name', (transport) => {
  let merchant: OpenMerchant
  const open = async (options?: MockOptions) => {
    merchant = await openMerchant(transport, options)
    return merchant
  }

  const expectJson = (answer: Seen, status: number, body: Record<string, unknown>) => {
    expect([answer.status, answer.json]).toEqual([status, body])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  }
  const confirm = (id: unknown, otp = '123456') =>
    merchant.g(`/api/v1/mfs/confirm/${String(id)}`, { headers: merchant.key(), body: { otp } })
  const renew = (id: unknown, idempotencyKey: string, mandateId = id) =>
    merchant.g(`/api/v1/mfs/charges/${String(id)}/renew`, {
      headers: merchant.key(idempotencyKey),
      body: { mandate_id: mandateId },
    })
  const read = (id: unknown) =>
    merchant.g(`/api/v1/mfs/charges/${String(id)}`, { method: 'GET', headers: merchant.key() })

  test('health answers 200 without a key, and 503 in an outage', async () => {
    const { mock, g } = await open()
    expectJson(await g('/health', { method: 'GET' }), 200, { status: 'ok' })
    mock.outage.start()
    expect((await g('/health', { method: 'GET' })).status).toBe(503)
    expectJson(await merchant.charge('k'), 503, G2('internal_error'))
    mock.outage.end()
    expect((await g('/health', { method: 'GET' })).status).toBe(200)
    expect(mock.state.charges()).toEqual([])
  })

  test('the reference shows the test numbers and the dummy code without a key', async () => {
    const { g } = await open()
    const answer = await g('/api/v1/reference', { method: 'GET' })
    expect([answer.status, answer.json.otp]).toEqual([200, '123456'])
    const numbers = (answer.json.test_numbers as { msisdn: string }[]).map(({ msisdn }) => msisdn)
    expect(numbers.toSorted()).toEqual(Object.values(testNumbers).toSorted())
  })

  test('a charge answers 202, pending_confirmation, with a page that ends in the confirmation id', async () => {
    const { charge } = await open()
    const answer = await charge('k')
    expectJson(answer, 202, { ...G1, ...without(CHARGE), status: 'pending_confirmation', outcome: 'PENDING' })
    const { pathname } = new URL(String(answer.json.confirmation_url))
    expect(pathname.split('/').at(-1)).toBe(answer.json.confirmation_id)
  })

  test('the page behind confirmation_url answers', async () => {
    const { charge, send } = await open()
    const { json } = await charge('k')
    const page = await send(String(json.confirmation_url), { method: 'GET' })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  })

  test('the same key gives the same bytes, and one charge', async () => {
    const { mock, charge } = await open()
    const first = await charge('k')
    const second = await charge('k', { amount: 999 })
    expect([second.status, second.text]).toEqual([202, first.text])
    expect(mock.state.charges()).toHaveLength(1)
  })

  test.each([
    [{ amount: 9_007_199_254_740_992 }, /larger than the mock can count/],
    [{ amount: 2.5 }, /must be an integer/],
  ])(
    'an amount that is no integer, or too large to count, is 400, says which and stores nothing: %j',
    async (fields, words) => {
      const { mock, g, key } = await open()
      const answer = await g('/api/v1/mfs/charges', { headers: key('k'), body: { ...CHARGE, ...fields } })
      expectJson(answer, 400, G2('invalid_request'))
      expect(answer.text).toMatch(words)
      expect(mock.state.charges()).toEqual([])
    },
  )

  test('parallel charges with one key are one charge', async () => {
    const { mock, charge } = await open()
    const answers = await Promise.all(Array.from({ length: 5 }, () => charge('k')))
    expect(new Set(answers.map(({ text: body }) => body)).size).toBe(1)
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('the right code resolves the charge by its number: 200 with the charge', async () => {
    const { charge } = await open()
    const { json } = await charge('k', { msisdn: testNumbers.insufficient_funds })
    const confirmed = await confirm(json.confirmation_id)
    expectJson(confirmed, 200, { ...G1, id: json.id, status: 'failed', outcome: 'INSUFFICIENT_FUNDS' })
    expectJson(await read(json.id), 200, confirmed.json)
  })

  test('every wrong code gets the same bytes, whatever the number and the length, and changes nothing', async () => {
    const { mock, charge } = await open()
    const one = await charge('k1')
    const other = await charge('k2', { msisdn: testNumbers.wallet_blocked })
    const answers = [
      await confirm(one.json.confirmation_id, '000000'),
      await confirm(one.json.confirmation_id, '1'),
      await confirm(other.json.confirmation_id, '12345678901234567890'),
      await confirm('conf_unknown', '654321'),
    ]
    expectJson(answers[0] as Seen, 400, G2('incorrect_code'))
    expect(new Set(answers.map(({ text: body }) => body)).size).toBe(1)
    expect(answers[0]?.text).not.toMatch(/123456|fixed|dummy|test|always/i)
    expect(mock.state.charges().map(({ status }) => status)).toEqual([
      'pending_confirmation',
      'pending_confirmation',
    ])
  })

  test('a renewal answers 201 with a new charge, resolved at once; its key gives it again', async () => {
    const { mock, charge } = await open()
    const { json } = await charge('k')
    await confirm(json.confirmation_id)
    const renewal = await renew(json.id, 'cycle-2')
    expectJson(renewal, 201, { ...G1, status: 'succeeded' })
    expect(renewal.json.id).not.toBe(json.id)
    const again = await renew(json.id, 'cycle-2')
    expect([again.status, again.text]).toEqual([201, renewal.text])
    expect(mock.state.charges()).toHaveLength(2)
  })

  test('a renewal that fails is 201 with status failed', async () => {
    const { charge } = await open()
    const { json } = await charge('k', { msisdn: testNumbers.succeeds_once })
    await confirm(json.confirmation_id)
    expectJson(await renew(json.id, 'cycle-2'), 201, {
      ...G1,
      status: 'failed',
      outcome: 'INSUFFICIENT_FUNDS',
    })
  })

  test('what may not be renewed is refused: another mandate_id, a charge that is not succeeded, an unknown one', async () => {
    const { charge } = await open()
    const { json } = await charge('k')
    expectJson(await renew(json.id, 'r'), 409, G2('mandate_not_active'))
    expectJson(await renew(json.id, 'r', 'ch_other'), 422, G2('mandate_mismatch'))
    expectJson(await renew('ch_unknown', 'r'), 404, G2('not_found'))
    expectJson(await read('ch_unknown'), 404, G2('not_found'))
  })

  test('reset clears charges and events and keeps the allowlist, by POST or DELETE', async () => {
    const { mock, g, charge, key } = await open({
      gateway: { redirectAllowlist: ['https://shop.example'] },
    })
    await charge('k')
    expectJson(await g('/api/v1/reset', { headers: key() }), 200, { reset: true })
    expect([mock.state.charges(), mock.state.events()]).toEqual([[], []])
    expectJson(await g('/api/v1/reset', { method: 'DELETE', headers: key() }), 200, { reset: true })
    const refused = await charge('k', { redirect_uri: 'https://elsewhere.example/' })
    expectJson(refused, 400, G2('redirect_uri_not_allowed'))
  })

  test.each([
    ['POST', '/api/v1/mfs/charges'],
    ['POST', '/api/v1/mfs/confirm/conf_1'],
    ['GET', '/api/v1/mfs/charges/ch_1'],
    ['POST', '/api/v1/mfs/charges/ch_1/renew'],
    ['POST', '/api/v1/reset'],
  ])('%s %s without a key, or with a wrong one, is 401', async (method, path) => {
    const { g } = await open()
    expectJson(await g(path, { method }), 401, G2('unauthorized'))
    const headers = { Authorization: 'Bearer wrong' }
    expectJson(await g(path, { method, headers }), 401, G2('unauthorized'))
  })

  test.each(['/api/v1/mfs/charges', '/api/v1/mfs/charges/ch_1/renew'])(
    '%s needs an Idempotency-Key, and a blank one is none',
    async (path) => {
      const { g, key } = await open()
      expectJson(await g(path, { headers: key(), body: CHARGE }), 400, G2('missing_idempotency_key'))
      expectJson(await g(path, { headers: key('  '), body: CHARGE }), 400, G2('missing_idempotency_key'))
    },
  )

  test('over the limit of a rolling minute is 429 with Retry-After in whole seconds', async () => {
    const { mock, g } = await open({ gateway: { rateLimit: { limit: 2, windowMs: 60_000 } } })
    const health = () => g('/health', { method: 'GET' })
    await health()
    await mock.clock.advance({ seconds: 20 })
    expect((await health()).status).toBe(200)
    const refused = await health()
    expectJson(refused, 429, G2('rate_limited'))
    expect(refused.headers.get('retry-after')).toBe('40')
    await mock.clock.advance({ seconds: 40 })
    expect((await health()).status).toBe(200)
  })

  test('the answers of a confirmation and of the status can be shorter', async () => {
    const { charge } = await open({ gateway: { confirmAnswer: 'empty', statusAnswer: 'status' } })
    const { json } = await charge('k')
    const confirmed = await confirm(json.confirmation_id)
    expect([confirmed.status, confirmed.text]).toEqual([204, ''])
    expectJson(await read(json.id), 200, { status: 'succeeded' })
  })
})

const without = ({ redirect_uri: _redirectUri, ...rest }: typeof CHARGE) => rest
