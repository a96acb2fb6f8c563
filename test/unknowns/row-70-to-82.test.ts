import { expect } from 'vitest'
import { gatewayDefaults, testNumbers } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { burst, CHARGES, openStrict, test } from './set-up.ts'

test('row 70: refusals have the listed codes', async (open) => {
  const { charge, confirm, renew, g, mock } = await open({
    gateway: {
      keyReuse: 'reject',
      redirectAllowlist: ['https://shop.example/'],
      rateLimit: { limit: 13, windowMs: 60_000 },
    },
  })
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
  expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual([
    [400, 'invalid_request'],
    [400, 'redirect_uri_not_allowed'],
    [401, 'unauthorized'],
    [400, 'incorrect_code'],
    [400, 'missing_idempotency_key'],
    [422, 'idempotency_key_reused'],
    [404, 'not_found'],
    [422, 'mandate_mismatch'],
    [422, 'mandate_not_active'],
    [409, 'already_confirmed'],
    [409, 'charge_expired'],
    [429, 'rate_limited'],
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

test('row 72: a used key with another body returns the original response, or 422 under strict rules', async (open) => {
  const { charge, mock } = await open()
  const first = await charge('a')
  const again = await charge('a', { amount: 1, msisdn: testNumbers.insufficient_funds })
  expect([again.status, again.text]).toEqual([202, first.text])
  expect(mock.state.charges()).toHaveLength(1)
  for (const strict of await openStrict(open, { gateway: { keyReuse: 'reject' } })) {
    const original = await strict.charge('a')
    expect((await strict.charge('a', { amount: 1 })).status).toBe(422)
    expect((await strict.charge('a')).text).toBe(original.text)
    expect(strict.mock.state.charges()).toHaveLength(1)
  }
})

test('row 73: a key counts for one API key, route and path id, and one of parallel calls with a key executes', async (open) => {
  const { mock, fetch, charge, renew, paid, confirm } = await open({ gateway: { apiKeys: ['one', 'two'] } })
  const parallel = await Promise.all(Array.from({ length: 10 }, () => charge('same')))
  expect(new Set(parallel.map(({ text }) => text)).size).toBe(1)
  expect(mock.state.charges()).toHaveLength(1)
  // The first answer again, byte by byte, whatever became of the charge since.
  const [first] = parallel
  await confirm(first?.json.confirmation_id)
  await mock.clock.advance({ days: 1_000 })
  expect((await charge('same')).text).toBe(first?.text)

  const other = new GatewayClient({ ...mock.clientOptions.gateway, apiKey: 'two', fetch })
  expect((await other.charge(CHARGE, { idempotencyKey: 'same' })).id).not.toBe(first?.json.id)
  const mandates = [await paid(), await paid()]
  for (const { id } of mandates) expect((await renew(id, 'same')).status).toBe(201)
  expect(mock.state.charges()).toHaveLength(6)

  // What was refused left no trace.
  expect((await charge('fresh', { amount: 'x' })).status).toBe(400)
  expect((await charge('fresh')).status).toBe(202)

  const forgetful = await open({ gateway: { keyTtl: { hours: 1 } } })
  const { json } = await forgetful.charge('a')
  await forgetful.mock.clock.advance({ minutes: 59 })
  expect((await forgetful.charge('a')).json.id).toBe(json.id)
  await forgetful.mock.clock.advance({ minutes: 1 })
  expect((await forgetful.charge('a')).json.id).not.toBe(json.id)
})

test('row 74: a mandate_id that differs from the path is 422', async (open) => {
  const { paid, renew, mock } = await open()
  const [one, two] = [await paid(), await paid()]
  const answer = await renew(one.id, 'k', { mandate_id: two.id })
  expect([answer.status, answer.json.error.code]).toEqual([422, 'mandate_mismatch'])
  expect(mock.state.charges()).toHaveLength(2)
})

test('row 75: only a succeeded charge can be renewed, and strict rules refuse to renew a renewal', async (open) => {
  const { charge, paid, renew, mock } = await open()
  const { json: pending } = await charge('pending')
  const failed = await paid({ msisdn: testNumbers.insufficient_funds })
  const expired = await paid({ msisdn: testNumbers.expires })
  const retrying = await paid({ msisdn: testNumbers.stays_pending_retry })
  expect((await renew('ch_unknown', 'k')).status).toBe(404)
  expect((await renew(pending.id, 'k', {})).json.error.code).toBe('invalid_request')
  for (const { id } of [pending, failed, expired, retrying]) {
    expect((await renew(id, 'k')).json.error.code).toBe('mandate_not_active')
  }
  expect(mock.state.charges()).toHaveLength(4)
  const { id } = await paid()
  const { json: renewal } = await renew(id, 'k')
  expect((await renew(renewal.id, 'k')).status).toBe(201)
  for (const strict of await openStrict(open, { gateway: { renewalsAsMandates: false } })) {
    const mandate = await strict.paid()
    const { json } = await strict.renew(mandate.id, 'k')
    expect((await strict.renew(json.id, 'k')).status).toBe(422)
    expect((await strict.renew(mandate.id, 'l')).status).toBe(201)
  }
})

test('row 76: a failed renewal is 201 with status failed, and its key returns it until a new key tries again', async (open) => {
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

test('row 77: a wrong code is always the same 400, and a correct one is 409, 409 or 404 for a charge that is not open', async (open) => {
  const { charge, confirm, mock } = await open()
  const { json: late } = await charge('late')
  await mock.clock.advance({ days: 1 })
  const { json: done } = await charge('done')
  await confirm(done.confirmation_id)
  const { json: open1 } = await charge('open')
  const ids = [late.confirmation_id, done.confirmation_id, open1.confirmation_id, 'conf_none']
  const wrong = []
  const before = mock.state.charges()
  for (const id of ids) {
    for (const otp of ['0', '654321', '', '1234567', ' 123456', '１２３４５６'])
      wrong.push(await confirm(id, otp))
  }
  expect(mock.state.charges()).toEqual(before)
  expect(new Set(wrong.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(wrong[0]?.status).toBe(400)
  expect(wrong[0]?.text).not.toMatch(/123456|fixed|dummy|test|always/i)
  expect((await confirm(ids[2], 123456)).json.error.code).toBe('invalid_request')
  const right = [await confirm(ids[0]), await confirm(ids[1]), await confirm('conf_none')]
  expect(right.map(({ status, json }) => [status, json.error.code])).toEqual([
    [409, 'charge_expired'],
    [409, 'already_confirmed'],
    [404, 'not_found'],
  ])
  for (let count = 0; count < 50; count += 1) await confirm(open1.confirmation_id, 'x')
  expect((await confirm(open1.confirmation_id)).json.status).toBe('succeeded')

  const limited = await open({ gateway: { maxOtpAttempts: 3 } })
  const { json } = await limited.charge('a')
  for (let count = 0; count < 3; count += 1)
    expect((await limited.confirm(json.confirmation_id, 'x')).status).toBe(400)
  expect(limited.mock.state.charges()[0]?.status).toBe('expired')
  expect((await limited.confirm(json.confirmation_id)).status).toBe(409)
})

test('row 78: 120 calls pass in any 60 seconds over all routes and callers, and Retry-After is in whole seconds', async (open) => {
  // With a fixed clock, a server has no limits but those of the options.
  const { rateLimit } = gatewayDefaults
  const { g, mock } = await open({ gateway: { rateLimit } })
  const ask = async (count: number) => {
    const answers = await burst(count, (call) => {
      const path = ['/health', '/api/v1/reference', '/api/v1/mfs/charges/x'][call % 3] ?? ''
      return g(path, { method: 'GET', anonymous: call % 3 === 0 })
    })
    return [...new Set(answers.map(({ status }) => status))].sort()
  }
  expect((await g('/api/v1/reset', { anonymous: true })).status).toBe(401)
  expect(await ask(59)).toEqual([200, 404])
  await mock.clock.advance({ seconds: 30 })
  expect(await ask(60)).toEqual([200, 404])
  const refused = await g('/health', { method: 'GET' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  // Refused calls do not prolong it, and the window rolls.
  expect(await ask(50)).toEqual([429])
  await mock.clock.advance({ milliseconds: 29_500 })
  expect((await g('/health', { method: 'GET' })).headers.get('retry-after')).toBe('1')
  await mock.clock.advance({ milliseconds: 500 })
  expect(await ask(60)).toEqual([200, 404])
  expect(await ask(1)).toEqual([429])

  const free = await open({ gateway: { rateLimit: false } })
  expect(new Set(await burst(200, free.health))).toEqual(new Set([200]))
  const tight = await open({ gateway: { rateLimit: { limit: 1, windowMs: 5_000 } } })
  await tight.charge('a')
  expect((await tight.charge('a')).headers.get('retry-after')).toBe('5')
})

test('row 79: health is ok, or 503 in an outage like every other route', async (open) => {
  const { g, gateway, mock, charge } = await open()
  const healthy = await g('/health', { method: 'GET', anonymous: true })
  expect([healthy.status, healthy.json]).toEqual([200, { status: 'ok' }])
  mock.outage.start()
  expect(await gateway.health()).toMatchObject({ ok: false, status: 503 })
  expect((await charge('a')).status).toBe(503)
  mock.outage.end()
  expect([await gateway.health(), mock.state.charges()]).toEqual([{ ok: true, status: 200 }, []])
})

test('row 80: every step of a charge is an event with id, type, created_at and the charge at that time', async (open) => {
  const { mock, charge, paid, renew } = await open()
  await charge('unconfirmed')
  const { id } = await paid()
  await renew(id, 'k')
  await paid({ msisdn: testNumbers.retry_then_fails })
  await mock.clock.advance({ days: 1 })
  const events = mock.state.events()
  expect(events.map(({ type, data }) => [type, data.status])).toEqual([
    ['charge.created', 'pending_confirmation'],
    ['charge.created', 'pending_confirmation'],
    ['charge.confirmed', 'pending_confirmation'],
    ['charge.succeeded', 'succeeded'],
    ['charge.renewed', 'succeeded'],
    ['charge.succeeded', 'succeeded'],
    ['charge.created', 'pending_confirmation'],
    ['charge.confirmed', 'pending_confirmation'],
    ['charge.pending_retry', 'pending_retry'],
    ['charge.expired', 'expired'],
    ['charge.failed', 'failed'],
  ])
  expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
  expect(events.at(-1)?.created_at).toBe('2026-12-02T06:00:00.000Z')
})

test('row 81: created_at is ISO 8601 in UTC', async (open) => {
  expect((await (await open()).charge('a')).json.created_at).toBe('2026-12-01T06:00:00.000Z')
})

test('row 82: a charge is checked for its types alone, and for its formats under strict rules', async (open) => {
  const spec = await open()
  for (const fields of [{ msisdn: '017' }, { amount: 0 }, { currency: 'taka' }]) {
    expect((await spec.charge(JSON.stringify(fields), fields)).status).toBe(202)
  }
  for (const fields of [{ msisdn: 17 }, { amount: '1' }, { currency: null }, { redirect_uri: '/paid' }]) {
    expect((await spec.charge(JSON.stringify(fields), fields)).status).toBe(400)
  }
  for (const strict of await openStrict(open, { gateway: { inputRules: 'formats' } })) {
    for (const fields of [
      { msisdn: '017' },
      { amount: 0 },
      { amount: -1 },
      { currency: 'taka' },
      { currency: 'bdt' },
      { currency: 'ZZZ' },
    ]) {
      expect((await strict.charge('a', fields)).status).toBe(400)
    }
    expect((await strict.charge('a')).status).toBe(202)
  }
})
