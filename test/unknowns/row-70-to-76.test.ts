import { expect } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import type { OpenMock } from '../mock/open.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, G, statusesOf, strictOr, test, testCases } from './set-up.ts'

test('row 70: refusals have the listed codes', async (open) => {
  const limits = { redirectAllowlist: ['https://shop.example/'], rateLimit: { limit: 13, windowMs: 60_000 } }
  const { charge, confirm, renew, g, mock } = await open(G({ keyReuse: 'reject', ...limits }))
  const { json: expired } = await charge('first')
  await mock.clock.advance({ days: 1 })
  const { json: one } = await charge('a')
  const { json: two } = await charge('b', { msisdn: testNumbers.wallet_blocked })
  mock.payer.confirm(two.confirmation_id)
  const answers = [
    await charge('c', { amount: 'x' }),
    await charge('c', { redirect_uri: 'https://elsewhere.example/' }),
    await g('/api/v1/mfs/charges/x', { method: 'GET', anonymous: true }),
    await confirm(one.confirmation_id, '0'),
    await g(CHARGES, { body: CHARGE }),
    await charge('a', { amount: 1 }),
    await g('/api/v1/mfs/charges/ch_none', { method: 'GET' }),
    await renew(one.id, 'k', { mandate_id: 'ch_other' }),
    await renew(two.id, 'k'),
    await confirm(two.confirmation_id),
    await confirm(expired.confirmation_id),
    await charge('d'),
  ]
  expect(answers.map(({ status, json }) => `${status} ${json.error.code}`)).toEqual([
    '400 invalid_request',
    '400 redirect_uri_not_allowed',
    '401 unauthorized',
    '400 incorrect_code',
    '400 missing_idempotency_key',
    '422 idempotency_key_reused',
    '404 not_found',
    '422 mandate_mismatch',
    '422 mandate_not_active',
    '409 already_confirmed',
    '409 charge_expired',
    '429 rate_limited',
  ])
  mock.faults.add({ operation: 'gateway.charge', kind: 'status' })
  await mock.clock.advance({ minutes: 1 })
  expect((await charge('e')).json.error.code).toBe('internal_error')
})

test('row 71: a missing or blank Idempotency-Key is a 400, for charges and renewals', async (open) => {
  const { g, mock, paid } = await open()
  const { id } = await paid()
  for (const headers of [{}, { 'idempotency-key': '' }, { 'idempotency-key': '   ' }]) {
    const charge = await g(CHARGES, { headers, body: CHARGE })
    const renewal = await g(`/api/v1/mfs/charges/${id}/renew`, { headers, body: { mandate_id: id } })
    for (const { status, json } of [charge, renewal]) {
      expect([status, json.error.code]).toEqual([400, 'missing_idempotency_key'])
    }
  }
  expect(mock.state.charges()).toHaveLength(1)
})

/** The texts of the first response, and of later ones whose body differs, and the number of charges. */
const reusing = async ({ charge, g, mock, paid, renew }: OpenMock) => {
  const { id } = await paid()
  const renewal = await renew(id, 'a')
  const again = await g(`${CHARGES}/${id}/renew`, { key: 'a', body: '{"mandate_id":' })
  const first = await charge('a')
  const seen: unknown[] = []
  for (const asking of [
    { body: { ...CHARGE, amount: 1 } },
    { body: { ...CHARGE, amount: 'x' } },
    { body: {} },
    { body: '{' },
    { body: CHARGE, headers: { 'content-type': 'text/plain' } },
    { body: CHARGE },
  ]) {
    const { status, text } = await g(CHARGES, { key: 'a', ...asking })
    seen.push(text === first.text ? 'original' : status)
  }
  return [again.text === renewal.text || again.status, ...seen, mock.state.charges().length]
}

testCases('row 72: a used key returns the original response for any body, or strictly 422 (cases 33, 84)', [
  [{}, reusing, [true, ...Array(6).fill('original'), 3]],
  [strictOr(G({ keyReuse: 'reject' })), reusing, [422, 422, 422, 422, 422, 'original', 'original', 3]],
])

test('row 73: a key counts for one API key, route and path id, and one of parallel calls with a key executes (case 33)', async (open) => {
  const { mock, g, charge, renew, paid } = await open(G({ apiKeys: ['one', 'two'] }))
  const parallel = await Promise.all(Array.from({ length: 10 }, () => charge('same')))
  expect(new Set(parallel.map(({ text }) => text)).size).toBe(1)
  expect(mock.state.charges()).toHaveLength(1)
  // The first response again, byte by byte, whatever became of the charge since.
  await mock.clock.advance({ days: 1_000 })
  expect((await charge('same')).text).toBe(parallel[0]?.text)
  expect((await g(CHARGES, { key: 'same', body: CHARGE, token: 'two' })).status).toBe(202)
  for (const { id } of [await paid(), await paid()]) expect((await renew(id, 'same')).status).toBe(201)
  expect(mock.state.charges()).toHaveLength(6)
  // What was refused left no trace.
  expect(statusesOf([await charge('fresh', { amount: 'x' }), await charge('fresh')])).toEqual([400, 202])
})

const chargesAfter =
  (...minutes: readonly number[]) =>
  async ({ charge, mock }: OpenMock) => {
    await charge('a')
    for (const each of minutes) {
      await mock.clock.advance({ minutes: each })
      await charge('a')
    }
    return mock.state.charges().length
  }

testCases('row 73: a key is kept until a reset, or for the time of the option', [
  [{}, chargesAfter(60 * 24 * 400), 1],
  [G({ keyTtl: { hours: 1 } }), chargesAfter(59), 1],
  [G({ keyTtl: { hours: 1 } }), chargesAfter(59, 1), 2],
])

test('row 73a: a key whose first request still runs waits for its response, or is 409', async (open) => {
  const held = { operation: 'gateway.charge', kind: 'latency', latencyMs: 150 } as const
  for (const executed of [true, false]) {
    const waiting = await open()
    waiting.mock.faults.add({ ...held, executed })
    const [first, second] = await Promise.all([waiting.charge('a'), waiting.charge('a')])
    expect([second.status, second.text]).toEqual([202, first.text])
    expect(waiting.mock.state.charges()).toHaveLength(1)

    const refusing = await open({ gateway: { keyInFlight: 'conflict' } })
    refusing.mock.faults.add({ ...held, executed })
    const answers = await Promise.all(['a', 'a', 'b'].map((key) => refusing.charge(key)))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.json.error.code).toBe('idempotency_key_in_use')
    const again = await refusing.charge('a')
    expect([again.status, refusing.mock.state.charges().length]).toEqual([202, 2])
  }
})

test('row 74: a mandate_id that differs from the path is 422', async (open) => {
  const { paid, renew, mock } = await open()
  const [one, two] = [await paid(), await paid()]
  const { status, json } = await renew(one.id, 'k', { mandate_id: two.id })
  expect([status, json.error.code, mock.state.charges().length]).toEqual([422, 'mandate_mismatch', 2])
})

/** The results of renewals: of an unknown charge, of those that have not succeeded, of one that has, and of its renewal. */
const renewing = async ({ charge, paid, renew }: OpenMock) => {
  const ids = ['ch_unknown', (await charge('pending')).json.id]
  for (const name of ['insufficient_funds', 'expires', 'stays_pending_retry', 'succeeds'] as const)
    ids.push((await paid({ msisdn: testNumbers[name] })).id)
  const results: unknown[] = []
  for (const id of ids) {
    const { status, json } = await renew(id, 'k')
    results.push(json.error?.code ?? status)
    if (status === 201) results.push((await renew(json.id, 'k')).status, (await renew(id, 'l')).status)
  }
  return results
}
const inactive = ['not_found', ...Array(4).fill('mandate_not_active')]

testCases('row 75: only a succeeded charge can be renewed, and strict rules refuse to renew a renewal', [
  [{}, renewing, [...inactive, 201, 201, 201]],
  [G({ renewalsAsMandates: false }), renewing, [...inactive, 201, 422, 201]],
  [{ rules: 'strict' }, renewing, [...inactive, 201, 422, 201]],
  [{}, async ({ renew }) => (await renew('ch_1', 'k', {})).json.error.code, 'invalid_request'],
])

test('row 76: a failed renewal is 201 with status failed, and its key returns it until a new key tries again (case 34)', async (open) => {
  const { paid, renew, gateway, mock } = await open()
  const { id } = await paid({ msisdn: testNumbers.succeeds_once })
  const { data, response } = await gateway.renew(id, { dueDate: '2026-12-01' }).withResponse()
  expect([response.status, data.status, data.outcome]).toEqual([201, 'failed', 'INSUFFICIENT_FUNDS'])
  mock.payer.setBehavior(testNumbers.succeeds_once, 'succeeds')
  await mock.clock.advance({ days: 15 })
  expect(await gateway.renew(id, { dueDate: '2026-12-01' })).toEqual(data)
  expect((await renew(id, 'attempt-2')).json.status).toBe('succeeded')
  expect(mock.state.charges().map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded'])
})
