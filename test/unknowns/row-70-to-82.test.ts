import { expect, test } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import { errorOf as failure } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { answered, open } from './set-up.ts'

test('row 70: refusals have listed codes, and clients take any code and any body', async () => {
  const { charge, confirm, renew, g, mock } = open({
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
    await g('/api/v1/mfs/charges', { body: CHARGE }),
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
    [409, 'mandate_not_active'],
    [409, 'already_confirmed'],
    [409, 'charge_expired'],
    [429, 'rate_limited'],
  ])
  mock.faults.add({ operation: 'gateway.charge', kind: 'status' })
  await mock.clock.advance({ minutes: 1 })
  expect((await charge('e')).json.error.code).toBe('internal_error')

  for (const body of ['', '<html></html>', { code: 'x' }, { error: 'text' }, { error: { code: 7 } }]) {
    expect(await failure(answered({ status: 418, body }).gateway.charge(CHARGE))).toMatchObject({
      code: 'api_error',
      status: 418,
      outcome: 'rejected',
    })
  }
})

test('row 71: a missing or blank Idempotency-Key is a 400, for charges and renewals', async () => {
  const { g, mock, paid } = open()
  const { id } = await paid()
  for (const headers of [{}, { 'idempotency-key': '' }, { 'idempotency-key': '   ' }]) {
    const charge = await g('/api/v1/mfs/charges', { headers, body: CHARGE })
    const renewal = await g(`/api/v1/mfs/charges/${id}/renew`, { headers, body: { mandate_id: id } })
    for (const { status, json } of [charge, renewal]) {
      expect([status, json.error.code]).toEqual([400, 'missing_idempotency_key'])
    }
  }
  expect(mock.state.charges()).toHaveLength(1)
})

test('row 72: a used key with another body gets the original answer, and 422 under strict rules', async () => {
  const { charge, mock } = open()
  const first = await charge('a')
  const again = await charge('a', { amount: 1, msisdn: testNumbers.insufficient_funds })
  expect([again.status, again.text]).toEqual([202, first.text])
  expect(mock.state.charges()).toHaveLength(1)
  for (const strict of [open({ rules: 'strict' }), open({ gateway: { keyReuse: 'reject' } })]) {
    const original = await strict.charge('a')
    expect((await strict.charge('a', { amount: 1 })).status).toBe(422)
    expect((await strict.charge('a')).text).toBe(original.text)
    expect(strict.mock.state.charges()).toHaveLength(1)
  }
  for (const status of [409, 422]) {
    const { gateway } = answered({ status, body: { error: { code: 'key', message: 'x' } } })
    expect(await failure(gateway.charge(CHARGE))).toMatchObject({ status, outcome: 'rejected' })
  }
})

test('row 73: a key counts for one API key, route and path id, for ever or as told, and one of parallel calls executes', async () => {
  const { mock, charge, renew, paid, confirm } = open({ gateway: { apiKeys: ['one', 'two'] } })
  const parallel = await Promise.all(Array.from({ length: 10 }, () => charge('same')))
  expect(new Set(parallel.map(({ text }) => text)).size).toBe(1)
  expect(mock.state.charges()).toHaveLength(1)
  // The first answer again, byte by byte, whatever became of the charge since.
  const [first] = parallel
  await confirm(first?.json.confirmation_id)
  await mock.clock.advance({ days: 1_000 })
  expect((await charge('same')).text).toBe(first?.text)

  const other = new GatewayClient({ ...mock.clientOptions.gateway, apiKey: 'two', fetch: mock.fetch })
  expect((await other.charge(CHARGE, { idempotencyKey: 'same' })).id).not.toBe(first?.json.id)
  const mandates = [await paid(), await paid()]
  for (const { id } of mandates) expect((await renew(id, 'same')).status).toBe(201)
  expect(mock.state.charges()).toHaveLength(6)

  // What was refused left no trace.
  expect((await charge('fresh', { amount: 'x' })).status).toBe(400)
  expect((await charge('fresh')).status).toBe(202)

  const forgetful = open({ gateway: { keyTtl: { hours: 1 } } })
  const { json } = await forgetful.charge('a')
  await forgetful.mock.clock.advance({ minutes: 59 })
  expect((await forgetful.charge('a')).json.id).toBe(json.id)
  await forgetful.mock.clock.advance({ minutes: 1 })
  expect((await forgetful.charge('a')).json.id).not.toBe(json.id)
})

test('row 74: a mandate_id that differs from the path is 422, and clients take other refusals alike', async () => {
  const { paid, renew, mock } = open()
  const [one, two] = [await paid(), await paid()]
  const answer = await renew(one.id, 'k', { mandate_id: two.id })
  expect([answer.status, answer.json.error.code]).toEqual([422, 'mandate_mismatch'])
  expect(mock.state.charges()).toHaveLength(2)
  for (const status of [400, 409, 422]) {
    const { gateway } = answered({ status, body: { error: { code: 'mandate', message: 'x' } } })
    const error = await failure(gateway.renew('ch_1', { dueDate: '2026-12-01' }))
    expect(error).toMatchObject({ status, outcome: 'rejected', idempotencyKey: 'renewal_ch_1_2026-12-01_1' })
  }
})

test('row 75: what has not succeeded is not renewed; a renewal is, but not under strict rules', async () => {
  const { charge, paid, renew, mock } = open()
  const { json: pending } = await charge('pending')
  const failed = await paid({ msisdn: testNumbers.insufficient_funds })
  const expired = await paid({ msisdn: testNumbers.expires })
  const retrying = await paid({ msisdn: testNumbers.stays_pending_retry })
  for (const { id } of [pending, failed, expired, retrying]) {
    expect((await renew(id, 'k')).json.error.code).toBe('mandate_not_active')
  }
  expect(mock.state.charges()).toHaveLength(4)
  const { id } = await paid()
  const { json: renewal } = await renew(id, 'k')
  expect((await renew(renewal.id, 'k')).status).toBe(201)
  for (const strict of [open({ rules: 'strict' }), open({ gateway: { renewalsAsMandates: false } })]) {
    const mandate = await strict.paid()
    const { json } = await strict.renew(mandate.id, 'k')
    expect((await strict.renew(json.id, 'k')).status).toBe(409)
    expect((await strict.renew(mandate.id, 'l')).status).toBe(201)
  }
  for (const status of [400, 404, 409, 422]) {
    const { gateway } = answered({ status })
    expect(await failure(gateway.renew('ch_1', { idempotencyKey: 'k' }))).toMatchObject({
      status,
      outcome: 'rejected',
    })
  }
})

test('row 76: a renewal that fails is answered 201 with status failed, and the client does not take it for paid', async () => {
  const { paid, gateway, mock } = open()
  const { id } = await paid({ msisdn: testNumbers.succeeds_once })
  const { data, response } = await gateway.renew(id, { dueDate: '2026-12-01' }).withResponse()
  expect([response.status, data.status, data.outcome]).toEqual([201, 'failed', 'INSUFFICIENT_FUNDS'])
  expect(mock.state.charges().map(({ status }) => status)).toEqual(['succeeded', 'failed'])
})

test('row 77: a wrong code is always the same 400; then 409, 409 and 404; as often as one likes, or as told', async () => {
  const { charge, confirm, mock } = open()
  const { json: late } = await charge('late')
  await mock.clock.advance({ days: 1 })
  const { json: done } = await charge('done')
  await confirm(done.confirmation_id)
  const { json: open1 } = await charge('open')
  const ids = [late.confirmation_id, done.confirmation_id, open1.confirmation_id, 'conf_none']
  const wrong = []
  for (const id of ids) for (const otp of ['0', '654321', '', '1234567']) wrong.push(await confirm(id, otp))
  expect(new Set(wrong.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(wrong[0]?.status).toBe(400)
  expect(wrong[0]?.text).not.toMatch(/123456|fixed|dummy/)
  const right = [await confirm(ids[0]), await confirm(ids[1]), await confirm('conf_none')]
  expect(right.map(({ status, json }) => [status, json.error.code])).toEqual([
    [409, 'charge_expired'],
    [409, 'already_confirmed'],
    [404, 'not_found'],
  ])
  for (let count = 0; count < 50; count += 1) await confirm(open1.confirmation_id, 'x')
  expect((await confirm(open1.confirmation_id)).json.status).toBe('succeeded')

  const limited = open({ gateway: { maxOtpAttempts: 3 } })
  const { json } = await limited.charge('a')
  for (let count = 0; count < 3; count += 1)
    expect((await limited.confirm(json.confirmation_id, 'x')).status).toBe(400)
  expect(limited.mock.state.charges()[0]?.status).toBe('expired')
  expect((await limited.confirm(json.confirmation_id)).status).toBe(409)
})

test('row 78: 120 calls in any 60 seconds over all routes and callers, with Retry-After in whole seconds', async () => {
  const { g, mock } = open()
  const ask = async (count: number) => {
    const statuses = new Set<number>()
    for (let call = 0; call < count; call += 1) {
      const anonymous = call % 3 === 0
      const path = ['/health', '/api/v1/reference', '/api/v1/mfs/charges/x'][call % 3] ?? ''
      statuses.add((await g(path, { method: 'GET', anonymous })).status)
    }
    return [...statuses].sort()
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

  const free = open({ gateway: { rateLimit: false } })
  for (let count = 0; count < 200; count += 1)
    expect((await free.g('/health', { method: 'GET' })).status).toBe(200)
  const tight = open({ gateway: { rateLimit: { limit: 1, windowMs: 5_000 } } })
  await tight.charge('a')
  expect((await tight.charge('a')).headers.get('retry-after')).toBe('5')

  const now = Date.parse('2026-12-01T06:00:00Z')
  const clock = { now: () => now, sleep: async () => undefined }
  for (const [value, retryAfterMs] of [
    ['Tue, 01 Dec 2026 06:00:07 GMT', 7_000],
    ['7', 7_000],
    ['0', 0],
    ['soon', undefined],
    [undefined, undefined],
    ['86400', 86_400_000],
  ] as const) {
    const headers: Record<string, string> = value === undefined ? {} : { 'retry-after': value }
    const { gateway } = answered({ status: 429, headers }, { clock })
    expect(await failure(gateway.charge(CHARGE))).toMatchObject({ code: 'rate_limited', retryAfterMs })
  }
})

test('row 79: health is ok, or 503 in an outage with every other route, and clients look at the status alone', async () => {
  const { g, gateway, mock, charge } = open()
  const healthy = await g('/health', { method: 'GET', anonymous: true })
  expect([healthy.status, healthy.json]).toEqual([200, { status: 'ok' }])
  mock.outage.start()
  expect(await gateway.health()).toMatchObject({ ok: false, status: 503 })
  expect((await charge('a')).status).toBe(503)
  mock.outage.end()
  expect([await gateway.health(), mock.state.charges()]).toEqual([{ ok: true, status: 200 }, []])
  for (const body of ['', 'OK', '<html></html>', { status: 'down' }]) {
    expect(await answered({ body }).gateway.health()).toEqual({ ok: true, status: 200 })
    expect(await answered({ status: 204, body }).gateway.health()).toMatchObject({ ok: false, status: 204 })
  }
})

test('row 80: every step of a charge is an event with id, type, created_at and the charge as it then was', async () => {
  const { mock, charge, paid, renew } = open()
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

test('row 81: created_at is ISO 8601 in UTC, and clients take any text', async () => {
  expect((await open().charge('a')).json.created_at).toBe('2026-12-01T06:00:00.000Z')
  for (const created_at of ['01/12/2026', '1780000000', 1_780_000_000]) {
    const { gateway } = answered({ body: { status: 'succeeded', created_at } })
    expect((await gateway.status('ch_1')).created_at).toBe(String(created_at))
  }
})

test('row 82: a charge is checked for its types alone, and for its formats under strict rules', async () => {
  const spec = open()
  for (const fields of [{ msisdn: '017' }, { amount: 0 }, { currency: 'taka' }]) {
    expect((await spec.charge(JSON.stringify(fields), fields)).status).toBe(202)
  }
  for (const fields of [{ msisdn: 17 }, { amount: '1' }, { currency: null }, { redirect_uri: '/paid' }]) {
    expect((await spec.charge(JSON.stringify(fields), fields)).status).toBe(400)
  }
  for (const strict of [open({ rules: 'strict' }), open({ gateway: { inputRules: 'formats' } })]) {
    for (const fields of [
      { msisdn: '017' },
      { amount: 0 },
      { amount: -1 },
      { currency: 'taka' },
      { currency: 'bdt' },
    ]) {
      expect((await strict.charge('a', fields)).status).toBe(400)
    }
    expect((await strict.charge('a')).status).toBe(202)
  }
})
