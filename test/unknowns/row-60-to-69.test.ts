import { expect } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import { errorOf as failure } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, openStrict, test } from './set-up.ts'

test('row 60: an amount is an integer that is never scaled, and clients send safe integers only', async (open) => {
  const { charge, gateway, mock } = await open()
  for (const amount of [1, 250, Number.MAX_SAFE_INTEGER, 0, -5]) {
    expect((await charge(`key ${amount}`, { amount })).json.amount).toBe(amount)
  }
  for (const amount of ['250', 2.5, null, 9_007_199_254_740_992, 1e21])
    expect((await charge('odd', { amount })).status).toBe(400)
  const before = mock.requests.all().length
  for (const amount of [2.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(await failure(gateway.charge({ ...CHARGE, amount }))).toMatchObject({ code: 'invalid_request' })
  }
  expect(mock.requests.all()).toHaveLength(before)
})

test('row 61: each test number behaves as the reference lists it, any other succeeds, and renewals use the same table', async (open) => {
  const { g, paid, renew, mock, gateway } = await open()
  const { json } = await g('/api/v1/reference', { method: 'GET', anonymous: true })
  expect(json.otp).toBe('123456')
  const table: { msisdn: string; behavior: string }[] = json.test_numbers
  expect(Object.fromEntries(table.map(({ behavior, msisdn }) => [behavior, msisdn]))).toEqual(testNumbers)
  const ends: Record<string, string> = {}
  for (const [name, msisdn] of Object.entries({ ...testNumbers, other: '+99912345678' })) {
    const { id } = await paid({ msisdn })
    ends[name] = mock.state.charges().find((one) => one.id === id)?.status ?? ''
  }
  expect(ends).toEqual({
    succeeds: 'succeeded',
    insufficient_funds: 'failed',
    wallet_blocked: 'failed',
    retry_then_succeeds: 'pending_retry',
    retry_then_fails: 'pending_retry',
    stays_pending_retry: 'pending_retry',
    expires: 'expired',
    succeeds_once: 'succeeded',
    other: 'succeeded',
  })
  expect(await gateway.reference()).toEqual(json)
  // A plus makes no difference.
  expect((await paid({ msisdn: testNumbers.wallet_blocked.slice(1) })).status).toBe('pending_confirmation')
  expect(mock.state.charges().at(-1)?.outcome).toBe('WALLET_BLOCKED')
  const once = await paid({ msisdn: '+99977777777' })
  mock.payer.setBehavior('99977777777', 'retry_then_succeeds')
  expect((await g('/api/v1/reference', { method: 'GET' })).json.test_numbers).toHaveLength(9)
  const renewal = await renew(once.id, 'cycle-1')
  expect([renewal.status, renewal.json.status]).toEqual([201, 'pending_retry'])

  const own = await open({
    gateway: { testNumbers: { '123': 'wallet_blocked' }, defaultBehavior: 'expires' },
  })
  await own.paid({ msisdn: '123' })
  await own.paid({ msisdn: testNumbers.succeeds })
  expect(own.mock.state.charges().map(({ status }) => status)).toEqual(['failed', 'expired'])
  for (const strict of await openStrict(open, { gateway: { unlistedNumbers: 'refuse' } })) {
    expect((await strict.charge('a', { msisdn: '+8801700000000' })).status).toBe(400)
    strict.mock.payer.setBehavior('8801700000000', 'succeeds')
    expect((await strict.charge('a', { msisdn: '+8801700000000' })).status).toBe(202)
    expect((await strict.charge('b')).status).toBe(202)
  }
})

test('row 62: outcomes are those of the table of behaviors', async (open) => {
  const { paid, mock } = await open()
  for (const msisdn of Object.values(testNumbers)) await paid({ msisdn })
  expect(mock.state.charges().map(({ outcome }) => outcome)).toEqual([
    'SUCCEEDED',
    'INSUFFICIENT_FUNDS',
    'WALLET_BLOCKED',
    'RETRYING',
    'RETRYING',
    'RETRYING',
    'EXPIRED',
    'SUCCEEDED',
  ])
})

test('row 63: pending_retry resolves after a day or the time of the option, and waiting for it has a deadline', async (open) => {
  const statuses = async (retryDelay: { hours: number } | false | undefined, hours: number) => {
    const { paid, mock } = await open(retryDelay === undefined ? {} : { gateway: { retryDelay } })
    for (const name of ['retry_then_succeeds', 'retry_then_fails', 'stays_pending_retry'] as const) {
      await paid({ msisdn: testNumbers[name] })
    }
    await mock.clock.advance({ hours })
    return mock.state.charges().map(({ status }) => status)
  }
  expect(await statuses(undefined, 23)).toEqual(['pending_retry', 'pending_retry', 'pending_retry'])
  expect(await statuses(undefined, 24)).toEqual(['succeeded', 'failed', 'pending_retry'])
  expect(await statuses({ hours: 1 }, 1)).toEqual(['succeeded', 'failed', 'pending_retry'])
  expect(await statuses(false, 1_000)).toEqual(['pending_retry', 'pending_retry', 'pending_retry'])

  const { paid, gateway } = await open()
  const { id } = await paid({ msisdn: testNumbers.stays_pending_retry })
  const error = await failure(gateway.waitForCharge(id, { timeout: 60_000 }))
  expect(error).toMatchObject({ code: 'timeout', lastState: { status: 'pending_retry' } })
})

test('row 64: an unconfirmed charge expires after a day or the time of the option', async (open) => {
  const statusAfter = async (hours: number, gateway = {}) => {
    const { charge, mock } = await open({ gateway })
    await charge('a')
    await mock.clock.advance({ hours })
    return mock.state.charges()[0]?.status
  }
  expect(await statusAfter(23)).toBe('pending_confirmation')
  expect(await statusAfter(24)).toBe('expired')
  expect(await statusAfter(1, { confirmationTtl: { minutes: 10 } })).toBe('expired')
  expect(await statusAfter(10_000, { confirmationTtl: false })).toBe('pending_confirmation')
  const { charge, paid, mock } = await open({ gateway: { confirmationTtl: { hours: 1 } } })
  await charge('a')
  await mock.clock.advance({ minutes: 30 })
  await paid()
  await charge('c')
  await mock.clock.advance({ hours: 2 })
  expect(mock.state.charges().map(({ status }) => status)).toEqual(['expired', 'succeeded', 'expired'])
  const expired = mock.state.events().filter(({ type }) => type === 'charge.expired')
  expect(expired.map(({ created_at }) => created_at.slice(11, 16))).toEqual(['07:00', '07:30'])
  // A charge that is created after the clock went back expires at its own time.
  await charge('later')
  await mock.clock.set('2026-12-01T06:00:00Z')
  await charge('earlier')
  await mock.clock.advance({ hours: 1 })
  expect(
    mock.state
      .charges()
      .map(({ status }) => status)
      .slice(3),
  ).toEqual(['pending_confirmation', 'expired'])
})

test('row 65: GET reads and POST writes, a reset is POST or DELETE, and clients send either', async (open) => {
  const { g, mock } = await open()
  for (const path of ['/api/v1/mfs/charges/ch_1', '/api/v1/reference', '/health']) {
    expect((await g(path)).headers.get('allow')).toContain('GET')
  }
  for (const path of [CHARGES, '/api/v1/mfs/confirm/conf_1', '/api/v1/mfs/charges/ch_1/renew']) {
    expect((await g(path, { method: 'GET' })).headers.get('allow')).toContain('POST')
  }
  for (const resetMethod of ['POST', 'DELETE'] as const) {
    const client = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, resetMethod })
    expect(await client.reset()).toEqual({ reset: true })
    expect(mock.requests.all().at(-1)?.method).toBe(resetMethod)
  }
  expect((await g('/api/v1/reset', { method: 'PUT' })).status).toBe(405)
})

test('row 66: a correct code returns the charge, its status, or nothing, and the client reads the rest', async (open) => {
  for (const [confirmResponse, status, keys] of [
    ['charge', 200, 9],
    ['status', 200, 2],
    ['empty', 204, 0],
  ] as const) {
    const { charge, confirm, gateway } = await open({ gateway: { confirmResponse } })
    const { json } = await charge('a')
    const answer = await confirm(json.confirmation_id)
    expect([answer.status, Object.keys(answer.json).length]).toEqual([status, keys])
    const { json: second } = await charge('b')
    const confirmed = await gateway.confirm(second.confirmation_id, { otp: '123456', chargeId: second.id })
    expect(confirmed.status).toBe('succeeded')
  }
})

test('row 67: the status of a charge is the whole charge or its status alone, and clients accept both', async (open) => {
  const whole = await open()
  const { json } = await whole.charge('a')
  expect(await whole.gateway.status(json.id)).toEqual(json)
  const bare = await open({ gateway: { statusResponse: 'status' } })
  const { json: other } = await bare.charge('a')
  expect((await bare.g(`/api/v1/mfs/charges/${other.id}`, { method: 'GET' })).json).toEqual({
    status: 'pending_confirmation',
  })
  expect((await bare.gateway.status(other.id)).status).toBe('pending_confirmation')
})

test('row 68: a reset returns { reset: true }, clears charges, events and keys, and keeps limiter and allowlist', async (open) => {
  const { charge, g, mock, gateway } = await open({
    gateway: { rateLimit: { limit: 6, windowMs: 60_000 }, redirectAllowlist: ['https://shop.example/'] },
  })
  const { json: first } = await charge('a')
  mock.payer.setBehavior('+8801', 'wallet_blocked')
  const reset = await g('/api/v1/reset')
  expect([reset.status, reset.json]).toEqual([200, { reset: true }])
  expect([mock.state.charges(), mock.state.events()]).toEqual([[], []])
  const again = await charge('a', { msisdn: '+8801' })
  expect(again.json.id).not.toBe(first.id)
  expect(mock.payer.confirm(again.json.confirmation_id).outcome).toBe('WALLET_BLOCKED')
  expect((await charge('b', { redirect_uri: 'https://elsewhere.example/' })).status).toBe(400)
  await gateway.reset()
  await gateway.reset()
  expect((await charge('c')).status).toBe(429)
})

test('row 69: an empty allowlist allows every redirect_uri, and another one refuses without storing anything', async (open) => {
  expect((await (await open()).charge('a', { redirect_uri: 'https://anywhere.example/x' })).status).toBe(202)
  const { charge, mock } = await open({ gateway: { redirectAllowlist: ['https://shop.example/paid'] } })
  for (const redirect_uri of [
    'https://evil.example/paid',
    'https://shop.example/other',
    'https://shop.example/paid2',
    'http://shop.example/paid',
    'https://shop.example.evil.example/paid',
    'https://shop.example/paid/../other',
    'https://shop.example@evil.example/paid',
  ]) {
    const answer = await charge('a', { redirect_uri })
    expect([answer.status, answer.json.error?.code]).toEqual([400, 'redirect_uri_not_allowed'])
  }
  expect([mock.state.charges(), mock.state.events()]).toEqual([[], []])
  expect((await charge('a', { redirect_uri: 'https://shop.example/paid/now?x=1' })).status).toBe(202)
})
