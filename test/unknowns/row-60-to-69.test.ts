import { expect } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import type { Duration } from '../../mocks/time/duration.ts'
import { GatewayClient } from '../../src/index.ts'
import type { OpenMock } from '../mock/open.ts'
import { errorOf as failure } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, G, statusesOf, strictOr, test, testCases } from './set-up.ts'

const states = ({ mock }: OpenMock) => mock.state.charges().map(({ status }) => status)

test('row 60: an amount is an integer that is never scaled, and clients send safe integers only', async (open) => {
  const { charge, gateway, mock } = await open()
  for (const amount of [1, 250, Number.MAX_SAFE_INTEGER, 0, -5])
    expect((await charge(`key ${amount}`, { amount })).json.amount).toBe(amount)
  for (const amount of ['250', 2.5, null, 9_007_199_254_740_992, 1e21])
    expect((await charge('odd', { amount })).status).toBe(400)
  mock.requests.clear()
  for (const amount of [2.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(await failure(gateway.charge({ ...CHARGE, amount }))).toMatchObject({ code: 'invalid_request' })
  expect(mock.requests.all()).toEqual([])
})

/** Charges these numbers; returns the statuses, and those of a renewal of the first. */
const charging =
  (...numbers: readonly string[]) =>
  async (opened: OpenMock) => {
    for (const msisdn of numbers) await opened.paid({ msisdn })
    return states(opened)
  }

testCases('row 61: each test number behaves as the reference lists it, and any other succeeds', [
  [
    {},
    async (opened) => {
      const { json } = await opened.g('/api/v1/reference', { method: 'GET', anonymous: true })
      expect(await opened.gateway.reference()).toEqual(json)
      const table: { msisdn: string; behavior: string }[] = json.test_numbers
      return [json.otp, Object.fromEntries(table.map(({ behavior, msisdn }) => [behavior, msisdn]))]
    },
    ['123456', testNumbers],
  ],
  [
    {},
    charging(...Object.values(testNumbers), '+99912345678', testNumbers.wallet_blocked.slice(1)),
    [
      ...['succeeded', 'failed', 'failed', 'pending_retry', 'pending_retry', 'pending_retry', 'expired'],
      ...['succeeded', 'succeeded', 'failed'],
    ],
  ],
  [
    G({ testNumbers: { '123': 'wallet_blocked' }, defaultBehavior: 'expires' }),
    charging('123', testNumbers.succeeds),
    ['failed', 'expired'],
  ],
  [
    strictOr(G({ unlistedNumbers: 'refuse' })),
    async ({ charge, mock }) => {
      const responses = [await charge('a'), await charge('b', { msisdn: '+8801700000000' })]
      mock.payer.setBehavior('8801700000000', 'succeeds')
      return statusesOf([...responses, await charge('b', { msisdn: '+8801700000000' })])
    },
    [202, 400, 202],
  ],
])

test('row 61: a payer’s behavior joins the reference, and renewals use it at once', async (open) => {
  const { g, paid, renew, mock } = await open()
  const { id } = await paid({ msisdn: '+99977777777' })
  mock.payer.setBehavior('99977777777', 'retry_then_succeeds')
  expect((await g('/api/v1/reference', { method: 'GET' })).json.test_numbers).toHaveLength(9)
  const { status, json } = await renew(id, 'cycle-1')
  expect([status, json.status]).toEqual([201, 'pending_retry'])
})

test('row 62: outcomes are those of the table of behaviors', async (open) => {
  const { paid, mock } = await open()
  for (const msisdn of Object.values(testNumbers)) await paid({ msisdn })
  expect(mock.state.charges().map(({ outcome }) => outcome)).toEqual([
    ...['SUCCEEDED', 'INSUFFICIENT_FUNDS', 'WALLET_BLOCKED', 'RETRYING', 'RETRYING', 'RETRYING'],
    ...['EXPIRED', 'SUCCEEDED'],
  ])
})

const { retry_then_succeeds, retry_then_fails, stays_pending_retry } = testNumbers
const retrying = (duration: Duration) => async (opened: OpenMock) => {
  await charging(retry_then_succeeds, retry_then_fails, stays_pending_retry)(opened)
  await opened.mock.clock.advance(duration)
  return states(opened)
}

testCases(
  'row 63: pending_retry resolves after a day or the time of the option, and waiting has a deadline',
  [
    [{}, retrying({ hours: 23 }), Array(3).fill('pending_retry')],
    [{}, retrying({ hours: 24 }), ['succeeded', 'failed', 'pending_retry']],
    [G({ retryDelay: { hours: 1 } }), retrying({ hours: 1 }), ['succeeded', 'failed', 'pending_retry']],
    [G({ retryDelay: false }), retrying({ days: 40 }), Array(3).fill('pending_retry')],
    [
      {},
      async ({ paid, gateway }) => {
        const { id } = await paid({ msisdn: stays_pending_retry })
        return failure(gateway.waitForCharge(id, { timeout: 60_000 }))
      },
      expect.objectContaining({
        code: 'timeout',
        lastState: expect.objectContaining({ status: 'pending_retry' }),
      }),
    ],
  ],
)

const unconfirmed = (duration: Duration) => async (opened: OpenMock) => {
  await opened.charge('a')
  await opened.mock.clock.advance(duration)
  return states(opened)
}

testCases('row 64: an unconfirmed charge expires after a day or the time of the option', [
  [{}, unconfirmed({ hours: 23 }), ['pending_confirmation']],
  [{}, unconfirmed({ hours: 24 }), ['expired']],
  [G({ confirmationTtl: { minutes: 10 } }), unconfirmed({ minutes: 10 }), ['expired']],
  [G({ confirmationTtl: false }), unconfirmed({ days: 400 }), ['pending_confirmation']],
  // A charge that is created after the clock went back expires at its own time.
  [
    G({ confirmationTtl: { hours: 1 } }),
    async (opened) => {
      await opened.charge('later')
      await opened.mock.clock.set('2026-12-01T05:00:00Z')
      await opened.charge('earlier')
      await opened.mock.clock.advance({ hours: 1 })
      return states(opened)
    },
    ['pending_confirmation', 'expired'],
  ],
])

test('row 65: GET reads and POST writes, a reset is POST or DELETE, and clients send either', async (open) => {
  const { g, mock } = await open()
  for (const path of [`${CHARGES}/ch_1`, '/api/v1/reference', '/health'])
    expect((await g(path)).headers.get('allow')).toContain('GET')
  for (const path of [CHARGES, '/api/v1/mfs/confirm/conf_1', `${CHARGES}/ch_1/renew`])
    expect((await g(path, { method: 'GET' })).headers.get('allow')).toContain('POST')
  for (const resetMethod of ['POST', 'DELETE'] as const) {
    const client = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, resetMethod })
    expect(await client.reset()).toEqual({ reset: true })
    expect(mock.requests.all().at(-1)?.method).toBe(resetMethod)
  }
  expect((await g('/api/v1/reset', { method: 'PUT' })).status).toBe(405)
})

/** Status and number of fields of a confirmation's response, and the status that a client finds. */
const confirming = async ({ charge, confirm, gateway }: OpenMock) => {
  const { status, json } = await confirm((await charge('a')).json.confirmation_id)
  const { id: chargeId, confirmation_id } = (await charge('b')).json
  const confirmed = await gateway.confirm(confirmation_id, { otp: '123456', chargeId })
  return [status, Object.keys(json).length, confirmed.status]
}

testCases(
  'row 66: a correct code returns the charge, its status, or nothing, and the client reads the rest',
  [
    [{}, confirming, [200, 9, 'succeeded']],
    [G({ confirmResponse: 'status' }), confirming, [200, 2, 'succeeded']],
    [G({ confirmResponse: 'empty' }), confirming, [204, 0, 'succeeded']],
  ],
)

/** Whether a read returns the charge as it was created, its fields, and the status that a client finds. */
const reading = async ({ charge, read, gateway }: OpenMock) => {
  const { json, text } = await charge('a')
  const response = await read(json.id)
  return [response.text === text, Object.keys(response.json).length, (await gateway.status(json.id)).status]
}

testCases('row 67: a read returns the whole charge or its status alone, and clients accept both', [
  [{}, reading, [true, 9, 'pending_confirmation']],
  [G({ statusResponse: 'status' }), reading, [false, 1, 'pending_confirmation']],
])

test('row 68: a reset returns { reset: true }, clears charges, events and keys, and keeps limiter and allowlist', async (open) => {
  const redirectAllowlist = ['https://shop.example/']
  const { charge, g, mock, gateway } = await open(
    G({ rateLimit: { limit: 6, windowMs: 60_000 }, redirectAllowlist }),
  )
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

const returningTo =
  (...addresses: readonly string[]) =>
  async ({ charge, mock }: OpenMock) => {
    const codes: unknown[] = []
    for (const redirect_uri of addresses) {
      const { status, json } = await charge(redirect_uri, { redirect_uri })
      codes.push(json.error?.code ?? status)
    }
    return [...codes, mock.state.events().length]
  }
const allowing = G({ redirectAllowlist: ['https://shop.example/paid'] })

testCases('row 69: an empty allowlist allows every redirect_uri, and another one refuses, storing nothing', [
  [{}, returningTo('https://anywhere.example/x'), [202, 1]],
  [allowing, returningTo('https://shop.example/paid', 'https://shop.example/paid/now?x=1'), [202, 202, 2]],
  [
    allowing,
    returningTo(
      'https://evil.example/paid',
      'https://shop.example/other',
      'https://shop.example/paid2',
      'http://shop.example/paid',
      'https://shop.example.evil.example/paid',
      'https://shop.example/paid/../other',
      'https://shop.example@evil.example/paid',
    ),
    [...Array(7).fill('redirect_uri_not_allowed'), 0],
  ],
])
