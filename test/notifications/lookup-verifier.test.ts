import { expect, test, vi } from 'vitest'
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  LockedOutError,
  RateLimitError,
  TimeoutError,
} from '../../src/errors.ts'
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
const notFound = new ApiError('not found', { ...facts, status: 404, errorCode: '02' })

test('a payment that the API knows with this subscription and status passes', async () => {
  const read = vi.fn(known.payment)
  expect(await statusOf(payment(), { payment: read })).toBe(200)
  expect(read).toHaveBeenCalledExactlyOnceWith('42')
})

test.each<[string, unknown, Partial<LookupClient>]>([
  ['a payment of another subscription', payment({ subscriptionId: 'sub-2' }), {}],
  ['a payment with another status', payment({ status: 'FAILED_PAYMENT' }), {}],
  ['a payment the API does not know', payment(), { payment: () => Promise.reject(notFound) }],
  ['a subscription the API does not know', subscription(), { details: () => Promise.reject(notFound) }],
  ['a cancellation the API does not know', subscription(), { cancellation: () => Promise.reject(notFound) }],
  [
    'not found as a 200 with a code',
    payment(),
    { payment: () => Promise.reject(new ApiError('x', { ...facts, status: 200, errorCode: '02' })) },
  ],
])('%s is refused with 401', async (_what, message, client) => {
  expect(await statusOf(message, client)).toBe(401)
})

test('an API that refuses the look-up itself leaves the question open: 503', async () => {
  for (const status of [405, 409, 415]) {
    const refusal = new ApiError('no', { ...facts, status, errorCode: 'no' })
    expect(await statusOf(payment(), { payment: () => Promise.reject(refusal) })).toBe(503)
  }
})

test('a payment whose status the API writes in another case passes', async () => {
  const read = async () => ({ subscriptionId: 'sub-1', status: 'succeeded_payment' })
  expect(await statusOf(payment(), { payment: read })).toBe(200)
})

test('an API that never answers is waited for no longer than the handler allows: 503', async () => {
  const { deliver, kinds } = openReceiver({
    verify: lookupVerifier({ ...known, payment: () => new Promise(() => undefined) }),
    timeouts: { verify: 20 },
  })
  expect(await deliver(payment())).toBe(503)
  expect(kinds()).toEqual(['verification-failed'])
})

test('a subscription passes when it exists, a cancelled one when its cancellation does', async () => {
  const cancellation = vi.fn(known.cancellation)
  expect(await statusOf(subscription({ status: 'SUCCEEDED' }), { cancellation })).toBe(200)
  expect(cancellation).not.toHaveBeenCalled()
  expect(await statusOf(subscription({ status: 'CANCELED' }), { cancellation })).toBe(200)
  expect(cancellation).toHaveBeenCalledOnce()
})

test.each<[string, Error]>([
  ['unreachable', new ConnectionError('x', { ...facts, outcome: 'not-sent' })],
  ['too slow', new TimeoutError('x', { ...facts, outcome: 'unknown', timeoutMs: 1 })],
  ['failing', new ApiError('x', { ...facts, outcome: 'unknown', status: 500, errorCode: '99' })],
  ['limited', new RateLimitError('x', { ...facts, status: 429, errorCode: '429' })],
  ['refusing our credentials', new AuthenticationError('x', { ...facts, status: 401, errorCode: '401' })],
  ['locking us out', new LockedOutError('x', { ...facts, phase: 'login', status: 403, errorCode: '403' })],
  ['not the API at all: a bare 404 of a proxy', new ApiError('x', { ...facts, status: 404 })],
  ['broken in a way nobody foresaw', new Error('x')],
])('an API that is %s leaves the question open: 503', async (_what, error) => {
  const { deliver, kinds } = openReceiver({
    verify: lookupVerifier({ ...known, payment: () => Promise.reject(error) }),
  })
  expect(await deliver(payment())).toBe(503)
  expect(kinds()).toEqual(['verification-failed'])
})
