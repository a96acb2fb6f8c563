import { expect, test } from 'vitest'
import { CANCELLED, CHARGE, CHARGE_REQUEST, SUBSCRIBED } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { type Call, calls, failureOf, openClients } from '../support/open-clients.ts'

const inUse = { error: { code: 'idempotency_key_in_use', message: 'running' } }
const charged = { status: 202, body: CHARGE }

test.each([409, 425])('case 51: a charge retries after a %i with the same key', async (status) => {
  const { gateway, requests } = await openClients([{ status, body: inUse }, charged])
  expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
  expect(requests).toHaveLength(2)
  expect(requests[1]?.headers['idempotency-key']).toBe(requests[0]?.headers['idempotency-key'])
})

test.each<[string, Call]>([
  ['charge', ({ gateway }) => gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'k1' })],
  ['renew', ({ gateway }) => gateway.renew('ch_1', { idempotencyKey: 'k1' })],
])(
  'case 51: %s that stays 409 is unknown and retryable, and names both meanings and the code',
  async (_, call) => {
    const error = await failureOf({ status: 409, body: inUse }, call)
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true, attempts: 3, status: 409 })
    expect(error.message).toMatch(/still runs, or a state forbids it.*idempotency_key_in_use.*"k1"/)
  },
)

test.each<[string, Call]>([
  ['confirm', calls.confirm],
  ['reset', calls.reset],
  ['subscribe', calls.subscribe],
])('case 51: %s has no key, so a 409 is a rejection', async (_, call) => {
  expect(await failureOf({ status: 409, body: inUse }, call)).toMatchObject({
    outcome: 'rejected',
    attempts: 1,
  })
})

test.each<[string, Call, object]>([
  ['charge', calls.charge, CHARGE],
  ['renew', calls.renew, CHARGE],
  ['confirm', calls.confirm, CHARGE],
  ['subscribe', calls.subscribe, { ...SUBSCRIBED, errorCode: '02' }],
  ['cancel', calls.cancel, { ...CANCELLED, errorCode: undefined }],
])('case 52: a 4xx with the object that %s creates leaves the outcome unknown', async (_, call, body) => {
  for (const status of [400, 401, 404, 422, 429]) {
    expect(await failureOf({ status, body }, call)).toMatchObject({ outcome: 'unknown', attempts: 1, status })
  }
})

test('case 52: a 4xx with an id and a status of its own is a rejection', async () => {
  const body = { id: 'err-1', status: 'error', error: { code: 'no', message: '' } }
  expect(await failureOf({ status: 400, body }, calls.charge)).toMatchObject({ outcome: 'rejected' })
})

test.each([520, 522, 530, 599])('case 53: a %i is a lost response', async (status) => {
  const { gateway, subscriptions, requests } = await openClients([{ status }, charged, { status }])
  expect(await gateway.charge(CHARGE_REQUEST)).toMatchObject({ id: 'ch_1' })
  expect(await errorOf(gateway.reset())).toMatchObject({ status, outcome: 'unknown', attempts: 1 })
  expect(requests).toHaveLength(3)
  expect(await errorOf(calls.subscribe({ gateway, subscriptions } as never))).toMatchObject({
    outcome: 'unknown',
  })
})

test.each([1, 100, 499])(
  'case 76: a maxWait of %i ms shortens the backoff instead of ending the call',
  async (maxWait) => {
    const { gateway, clock } = await openClients([{ status: 503 }, { status: 503 }, charged], {
      retry: { maxWait },
    })
    const began = clock.now()
    expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
    expect(clock.now() - began).toBeLessThanOrEqual(2 * maxWait)
  },
)

test.each([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/116',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE.42',
  'EPROTO-x',
])('case 77: the error names the code %s', async (code) => {
  const fetch = () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) }))
  expect(await failureOf({}, calls.charge, { retry: false, fetch })).toMatchObject({ reason: code })
})
