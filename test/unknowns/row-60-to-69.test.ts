import { expect, test } from 'vitest'
import { behaviors, testNumbers } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import { errorOf as failure } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { answered, open } from './set-up.ts'

test('row 60: an amount is an integer that nobody scales, and clients send safe integers only', async () => {
  const { charge, gateway, mock } = open()
  for (const amount of [1, 250, Number.MAX_SAFE_INTEGER, 0, -5]) {
    expect((await charge(`key ${amount}`, { amount })).json.amount).toBe(amount)
  }
  for (const amount of ['250', 2.5, null]) expect((await charge('odd', { amount })).status).toBe(400)
  const before = mock.requests.all().length
  for (const amount of [2.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(await failure(gateway.charge({ ...CHARGE, amount }))).toMatchObject({ code: 'invalid_request' })
  }
  expect(mock.requests.all()).toHaveLength(before)
})

test('row 61: each test number behaves as the reference says, any other succeeds, and renewals ask the same table', async () => {
  const { g, paid, renew, mock, gateway } = open()
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
  const once = await paid({ msisdn: '+99977777777' })
  mock.payer.setBehavior('+99977777777', 'retry_then_succeeds')
  const renewal = await renew(once.id, 'cycle-1')
  expect([renewal.status, renewal.json.status]).toEqual([201, 'pending_retry'])

  const own = open({ gateway: { testNumbers: { '123': 'wallet_blocked' }, defaultBehavior: 'expires' } })
  await own.paid({ msisdn: '123' })
  await own.paid({ msisdn: testNumbers.succeeds })
  expect(own.mock.state.charges().map(({ status }) => status)).toEqual(['failed', 'expired'])
  for (const strict of [open({ rules: 'strict' }), open({ gateway: { unlistedNumbers: 'refuse' } })]) {
    expect((await strict.charge('a', { msisdn: '+8801700000000' })).status).toBe(400)
    expect((await strict.charge('a')).status).toBe(202)
  }
  for (const body of [[], 'x', 7, null, { numbers: {} }]) {
    const headers = { 'content-type': 'application/json' }
    expect(await answered({ body: JSON.stringify(body), headers }).gateway.reference()).toEqual(body)
  }
})

test('row 62: outcomes are those of the table of behaviors, and any other reaches the caller', async () => {
  const { paid, mock } = open()
  for (const msisdn of Object.values(testNumbers)) await paid({ msisdn })
  expect(mock.state.charges().map(({ outcome }) => outcome)).toEqual(
    Object.keys(testNumbers).map((name) => behaviors[name as keyof typeof behaviors].resolution.outcome),
  )
  expect(new Set(mock.state.charges().map(({ outcome }) => outcome))).toEqual(
    new Set(['SUCCEEDED', 'INSUFFICIENT_FUNDS', 'WALLET_BLOCKED', 'RETRYING', 'EXPIRED']),
  )
  const { gateway } = answered({ body: { status: 'reversed', outcome: 'LIMIT_REACHED' } })
  expect(await gateway.status('ch_1')).toEqual({ status: 'reversed', outcome: 'LIMIT_REACHED' })
})

test('row 63: pending_retry resolves after a day or as told, and waiting for it has a deadline', async () => {
  const statuses = async (retryDelay: { hours: number } | false | undefined, hours: number) => {
    const { paid, mock } = open(retryDelay === undefined ? {} : { gateway: { retryDelay } })
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

  const { paid, gateway } = open()
  const { id } = await paid({ msisdn: testNumbers.stays_pending_retry })
  const error = await failure(gateway.waitForCharge(id, { timeout: 60_000 }))
  expect(error).toMatchObject({ code: 'timeout', lastState: { status: 'pending_retry' } })
})

test('row 64: a charge that nobody confirms expires after a day, or as told', async () => {
  const statusAfter = async (hours: number, gateway = {}) => {
    const { charge, mock } = open({ gateway })
    await charge('a')
    await mock.clock.advance({ hours })
    return mock.state.charges()[0]?.status
  }
  expect(await statusAfter(23)).toBe('pending_confirmation')
  expect(await statusAfter(24)).toBe('expired')
  expect(await statusAfter(1, { confirmationTtl: { minutes: 10 } })).toBe('expired')
  expect(await statusAfter(10_000, { confirmationTtl: false })).toBe('pending_confirmation')
})

test('row 65: GET reads and POST does; a reset is POST or DELETE, and clients send either', async () => {
  const { g, mock } = open()
  for (const path of ['/api/v1/mfs/charges/ch_1', '/api/v1/reference', '/health']) {
    expect((await g(path)).headers.get('allow')).toContain('GET')
  }
  for (const path of [
    '/api/v1/mfs/charges',
    '/api/v1/mfs/confirm/conf_1',
    '/api/v1/mfs/charges/ch_1/renew',
  ]) {
    expect((await g(path, { method: 'GET' })).headers.get('allow')).toContain('POST')
  }
  for (const resetMethod of ['POST', 'DELETE'] as const) {
    const client = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, resetMethod })
    expect(await client.reset()).toEqual({ reset: true })
    expect(mock.requests.all().at(-1)?.method).toBe(resetMethod)
  }
  expect((await g('/api/v1/reset', { method: 'PUT' })).status).toBe(405)
})

test('row 66: a right code is answered with the charge, with its status, or with nothing, and the client fills the gap', async () => {
  for (const [confirmAnswer, status, keys] of [
    ['charge', 200, 9],
    ['status', 200, 2],
    ['empty', 204, 0],
  ] as const) {
    const { charge, confirm, gateway } = open({ gateway: { confirmAnswer } })
    const { json } = await charge('a')
    const answer = await confirm(json.confirmation_id)
    expect([answer.status, Object.keys(answer.json).length]).toEqual([status, keys])
    const { json: second } = await charge('b')
    const confirmed = await gateway.confirm(second.confirmation_id, { otp: '123456', chargeId: second.id })
    expect(confirmed.status).toBe('succeeded')
  }
  for (const status of [200, 201, 202, 204]) {
    const { gateway } = answered((request) => (request.method === 'GET' ? { status: 503 } : { status }))
    expect(await gateway.confirm('conf_1', { otp: '1', chargeId: 'ch_1' })).toEqual({})
  }
})

test('row 67: the status of a charge is the whole charge, or its status alone, and both are enough', async () => {
  const whole = open()
  const { json } = await whole.charge('a')
  expect(await whole.gateway.status(json.id)).toEqual(json)
  const bare = open({ gateway: { statusAnswer: 'status' } })
  const { json: other } = await bare.charge('a')
  expect((await bare.g(`/api/v1/mfs/charges/${other.id}`, { method: 'GET' })).json).toEqual({
    status: 'pending_confirmation',
  })
  expect((await bare.gateway.status(other.id)).status).toBe('pending_confirmation')
})

test('row 68: a reset answers { reset: true }, clears charges, events and keys, and keeps limiter and allowlist', async () => {
  const { charge, g, mock, gateway } = open({
    gateway: { rateLimit: { limit: 6, windowMs: 60_000 }, redirectAllowlist: ['https://shop.example/'] },
  })
  const { json: first } = await charge('a')
  const reset = await g('/api/v1/reset')
  expect([reset.status, reset.json]).toEqual([200, { reset: true }])
  expect([mock.state.charges(), mock.state.events()]).toEqual([[], []])
  expect((await charge('a')).json.id).not.toBe(first.id)
  expect((await charge('b', { redirect_uri: 'https://elsewhere.example/' })).status).toBe(400)
  await gateway.reset()
  await gateway.reset()
  expect((await charge('c')).status).toBe(429)
  for (const answer of [{ status: 204 }, { body: '' }, { body: [1] }, { body: { cleared: 3 } }]) {
    await expect(answered(answer).gateway.reset()).resolves.not.toThrow()
  }
})

test('row 69: an empty allowlist allows every redirect_uri, another refuses and stores nothing', async () => {
  expect((await open().charge('a', { redirect_uri: 'https://anywhere.example/x' })).status).toBe(202)
  const { charge, mock } = open({ gateway: { redirectAllowlist: ['https://shop.example/paid'] } })
  for (const redirect_uri of [
    'https://evil.example/paid',
    'https://shop.example/other',
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
  for (const status of [400, 403, 422]) {
    const { gateway } = answered({ status, body: { error: { code: 'redirect', message: 'x' } } })
    expect(await failure(gateway.charge(CHARGE))).toMatchObject({
      status,
      errorCode: 'redirect',
      outcome: 'rejected',
    })
  }
})
