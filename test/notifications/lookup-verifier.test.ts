import { expect, test, vi } from 'vitest'
import { ApiError, AuthenticationError, ConnectionError } from '../../src/errors.ts'
import type { LookupClient } from '../../src/notifications/index.ts'
import { lookupVerifier } from '../../src/notifications/index.ts'
import { payment, subscription } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

const known: LookupClient = {
  details: async (id) => ({ id }),
  cancellation: async (subscriptionID) => ({ subscriptionID }),
  payment: async () => ({ subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }),
}

const statusOf = (message: unknown, client: Partial<LookupClient> = {}): Promise<number> =>
  openReceiver({ verify: lookupVerifier({ ...known, ...client }) }).deliver(message)

const facts = {
  operation: 'x',
  phase: 'response',
  outcome: 'rejected',
  attempts: 1,
  retryable: false,
} as const
const apiError = (status: number, errorCode = '02') => new ApiError('x', { ...facts, status, errorCode })
const fails = (error: Error) => () => Promise.reject(error)

test('a payment that the API has with this subscription and status passes', async () => {
  const read = vi.fn(known.payment)
  expect(await statusOf(payment(), { payment: read })).toBe(200)
  expect(read).toHaveBeenCalledExactlyOnceWith('42')
})

test.each<[string, unknown, Partial<LookupClient>]>([
  ['a payment of another subscription', payment({ subscriptionId: 'sub-2' }), {}],
  ['a payment with another status', payment({ status: 'FAILED_PAYMENT' }), {}],
  [
    'the cancellation of another subscription',
    subscription(),
    { cancellation: async () => ({ subscriptionID: 'sub-2' }) },
  ],
])('%s receives 401', async (_what, message, client) => {
  expect(await statusOf(message, client)).toBe(401)
})

test.each<[string, unknown, Partial<LookupClient>]>([
  ['payment', payment(), { payment: fails(apiError(404)) }],
  ['payment, by HTTP 200', payment(), { payment: fails(apiError(200)) }],
  ['subscription', subscription(), { details: fails(apiError(404)) }],
  ['cancellation', subscription(), { cancellation: fails(apiError(404)) }],
  [
    'payment of no subscription',
    payment(),
    { payment: async () => ({ status: 'SUCCEEDED_PAYMENT' }) as never },
  ],
])('case 64: a record that the API does not know yet receives 503: %s', async (_what, message, client) => {
  expect(await statusOf(message, client)).toBe(503)
})

test('case 65: either the record or enabled 0 proves a cancellation', async () => {
  const unknown = { cancellation: fails(apiError(404)) }
  const details = (enabled: number) => async (id: string) => ({ id, enabled })
  expect(await statusOf(subscription(), { ...unknown, details: details(0) })).toBe(200)
  expect(await statusOf(subscription(), { ...unknown, details: details(1) })).toBe(503)
  expect(await statusOf(subscription(), { details: details(1) })).toBe(200)
})

test('a payment with the status in another case passes', async () => {
  const read = async () => ({ subscriptionId: 'sub-1', status: 'succeeded_payment' })
  expect(await statusOf(payment(), { payment: read })).toBe(200)
})

test('a subscription passes when it exists, and CANCELLED when the cancellation exists', async () => {
  const cancellation = vi.fn(known.cancellation)
  expect(await statusOf(subscription({ status: 'SUCCEEDED' }), { cancellation })).toBe(200)
  expect(cancellation).not.toHaveBeenCalled()
  expect(await statusOf(subscription({ status: 'CANCELED' }), { cancellation })).toBe(200)
  expect(cancellation).toHaveBeenCalledOnce()
})

test.each<[string, Error]>([
  ['unreachable', new ConnectionError('x', { ...facts, outcome: 'not-sent' })],
  ['failing', apiError(500, '99')],
  ['rejecting the credentials', new AuthenticationError('x', { ...facts, status: 401, errorCode: '401' })],
  ['a proxy without a code', new ApiError('x', { ...facts, status: 404 })],
  ['failing in another way', new Error('x')],
  ['refusing with 409', apiError(409, 'no')],
])('an API that is %s gives 503', async (_what, error) => {
  const { deliver, kinds } = openReceiver({ verify: lookupVerifier({ ...known, payment: fails(error) }) })
  expect(await deliver(payment())).toBe(503)
  expect(kinds()).toEqual(['verification-failed'])
})

test.each<[string, unknown, object]>([
  ['payment', payment(), { subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }],
  ['subscription', subscription(), { id: 'sub-1' }],
])('a listener receives the %s that was read', async (_what, message, record) => {
  const listener = vi.fn()
  const { deliver } = openReceiver({
    verify: lookupVerifier(known),
    onPayment: listener,
    onSubscription: listener,
  })
  expect(await deliver(message)).toBe(200)
  expect(listener.mock.lastCall?.[1]).toMatchObject({ lookup: record, signal: expect.any(AbortSignal) })
})

test('a verifier of your own may return a record, or true, or anything else for a 503', async () => {
  const listener = vi.fn()
  const deliver = (verify: () => unknown) =>
    openReceiver({ verify: verify as never, onPayment: listener }).deliver(payment())
  expect(await deliver(() => ({ lookup: { paymentId: 7 } }))).toBe(200)
  expect(listener.mock.lastCall?.[1]).toMatchObject({ lookup: { paymentId: 7 } })
  expect(await deliver(() => true)).toBe(200)
  expect(listener.mock.lastCall?.[1].lookup).toBeUndefined()
  expect(await deliver(() => ({ lookup: true }))).toBe(503)
  expect(await deliver(() => ({}))).toBe(503)
})
