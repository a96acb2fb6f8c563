import { createServer } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { gatewayContract, subscriptionsContract } from '../../src/contract/index.ts'
import { nextStep } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, SUBSCRIBED } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { type Call, calls, failureOf, openClients } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { closedPort, open } from '../support/serve.ts'

// The matrix of outcomes: what a call of each kind reports after each failure, and what a job does next.

const ownKey = { idempotencyKey: 'order-1' }
const RAW = { method: 'POST', path: '/api/v1/refunds', retry: 'always', ...ownKey } as const

/** Calls by what a second execution would do. */
const KINDS = {
  read: {
    'subscriptions.status': ({ subscriptions }) => subscriptions.status('inv-1'),
    'subscriptions.details': calls.details,
    'subscriptions.cancellation': ({ subscriptions }) => subscriptions.cancellation('sub-1'),
    'subscriptions.payments': ({ subscriptions }) => subscriptions.payments('sub-1'),
    'subscriptions.payment': ({ subscriptions }) => subscriptions.payment(1),
    'gateway.reference': ({ gateway }) => gateway.reference(),
    'gateway.status': calls.status,
  },
  'call with the caller’s key': {
    'gateway.charge': ({ gateway }) => gateway.charge(CHARGE_REQUEST, ownKey),
    'gateway.renew': calls.renew,
    'gateway.request': ({ gateway }) => gateway.request(RAW),
  },
  'charge whose key the client made': { 'gateway.charge': calls.charge },
  'call without a key that acts': {
    'subscriptions.subscribe': calls.subscribe,
    'subscriptions.cancel': calls.cancel,
    'gateway.confirm': calls.confirm,
    'gateway.reset': calls.reset,
  },
} as const satisfies Record<string, Readonly<Record<string, Call>>>
type Kind = keyof typeof KINDS

/** A cell: outcome, attempts, `+` if the error is retryable, and the next step. */
type Row = readonly [read: string, key: string, made: string, acts: string]

const all = (cell: string): Row => [cell, cell, cell, cell]
const LOST: Row = ['unknown 3+ retry', 'unknown 3+ retry', 'unknown 3 retry', 'unknown 1 find-out']
const FINAL: Row = ['unknown 1 fail', 'unknown 1+ retry', 'unknown 1 retry', 'unknown 1 find-out']
const PAGE: Row = ['unknown 1+ retry', 'unknown 1+ retry', 'unknown 1 retry', 'unknown 1 find-out']
const AWAY = 'unknown 1 pause-queue not-available'
const REDIRECT: Row = [AWAY, 'unknown 1+ pause-queue not-available', AWAY, 'unknown 1 find-out']
const IN_USE: Row = ['rejected 1 fail', 'unknown 3+ retry', 'unknown 3 retry', 'rejected 1 find-out']

type Failure = Script | 'refused' | 'certificate'

const page = { body: '<h1>Hello</h1>' }
const refusal = { errorCode: '17', errorMessage: 'no', error: { code: 'no', message: 'no' } }

const MATRIX: readonly (readonly [string, Failure, Row])[] = [
  ['the connection is refused', 'refused', all('not-sent 3+ retry')],
  ['the server’s certificate is refused', 'certificate', all('not-sent 1 pause-queue not-available')],
  ['no response comes in time', { fault: 'silent' }, LOST],
  ['the connection closes without a response', { fault: 'close' }, LOST],
  ['the connection breaks in the response', { body: CHARGE, fault: 'cut' }, LOST],
  ['the response is JSON without an end', { body: '{"id":"ch_1","status":"INIT' }, LOST],
  ...[408, 499, 500, 502, 503, 504, 520, 522, 530, 599].map(
    (status) => [`the response is ${status}`, { status }, LOST] as const,
  ),
  ['the response is 502 with a page', { status: 502, ...page }, LOST],
  ['the response is a page', page, PAGE],
  ['the response is no JSON', { body: '{"id":NaN}' }, FINAL],
  ['the response is a redirect', { status: 302, headers: { location: '/login' } }, REDIRECT],
  ...[409, 425].map((status) => [`the response is ${status}`, { status, body: refusal }, IN_USE] as const),
  ['the response is 429', { status: 429 }, all('rejected 3+ pause-queue rate-limited')],
  ...[403, 404, 405].map(
    (status) =>
      [
        `the response is a page with ${status}`,
        { status },
        all('rejected 1 pause-queue not-available'),
      ] as const,
  ),
  ...[501, 505].map((status) => [`the response is ${status}`, { status }, FINAL] as const),
  ...[400, 403, 404, 422].map(
    (status) =>
      [`the response is ${status} with a code`, { status, body: refusal }, all('rejected 1 fail')] as const,
  ),
]

/** Makes a call that fails so, and describes its error. */
const cellOf = async (call: Call, failure: Failure): Promise<string> => {
  const { clock, ...clients } = await openClients(typeof failure === 'string' ? {} : failure)
  let { subscriptions, gateway } = clients
  if (typeof failure === 'string') {
    const certificate = async () => `https://127.0.0.1:${await open(createServer(localhostCertificate))}`
    const url = failure === 'refused' ? await closedPort() : await certificate()
    subscriptions = subscriptionsClient(url, { clock })
    gateway = gatewayClient(url, { clock })
  } else if (failure.fault === 'silent') {
    // A login in advance has time enough on a busy machine.
    await subscriptions.login()
    subscriptions = subscriptions.withOptions({ timeout: 50 })
    gateway = gateway.withOptions({ timeout: 50 })
  }
  const error = await errorOf(call({ ...clients, clock, subscriptions, gateway }))
  const next = nextStep(error)
  const reason = 'reason' in next ? ` ${next.reason}` : ''
  const attempts = error.outcome === 'not-sent' ? clock.waits.length + 1 : error.attempts
  return `${error.outcome} ${attempts}${error.retryable ? '+' : ''} ${next.step}${reason}`
}

describe.each(MATRIX)('cases 51 and 53: when %s', (_, failure, row) => {
  it.each(Object.keys(KINDS) as Kind[])('a %s has its outcome, attempts and next step', async (kind) => {
    const expected = row[Object.keys(KINDS).indexOf(kind)]
    for (const [operation, call] of Object.entries<Call>(KINDS[kind]))
      expect(`${operation} ${await cellOf(call, failure)}`).toBe(`${operation} ${expected}`)
  })
})

it('every operation is in the matrix, but the login and the health check', () => {
  const operations = [...Object.values(subscriptionsContract), ...Object.values(gatewayContract)]
  const named = new Set(Object.values(KINDS).flatMap((kind) => Object.keys(kind)))
  const missing = operations.map(({ operation }) => operation).filter((operation) => !named.has(operation))
  expect(missing).toEqual(['subscriptions.login', 'gateway.health'])
})

it.each<[string, Call, object]>([
  ['charge', calls.charge, CHARGE],
  ['renew', calls.renew, CHARGE],
  ['confirm', calls.confirm, CHARGE],
  ['subscribe', calls.subscribe, { ...SUBSCRIBED, errorCode: '02' }],
  ['cancel', calls.cancel, { ...CANCELLED, errorCode: undefined }],
])('case 52: a 4xx with the object that %s creates leaves the outcome unknown', async (_, call, body) => {
  for (const status of [400, 401, 404, 422, 429])
    expect(await failureOf({ status, body }, call)).toMatchObject({ outcome: 'unknown', attempts: 1, status })
})

it('case 52: a 4xx with an id and a status of its own is a rejection', async () => {
  const body = { id: 'err-1', status: 'error', error: { code: 'no', message: '' } }
  expect(await failureOf({ status: 400, body }, calls.charge)).toMatchObject({ outcome: 'rejected' })
})

it.each<[string, Call]>([
  ['charge', ({ gateway }) => gateway.charge(CHARGE_REQUEST, ownKey)],
  ['renew', ({ gateway }) => gateway.renew('ch_1', ownKey)],
])('case 51: %s that stays 409 names both meanings, the code and the key', async (_, call) => {
  const body = { error: { code: 'idempotency_key_in_use', message: 'running' } }
  const { message } = await failureOf({ status: 409, body }, call)
  expect(message).toMatch(/still runs, or the charge is not allowed.*idempotency_key_in_use.*"order-1"/)
})
