import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FaultEffect, FaultStep } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import type { MandateKitError } from '../../src/index.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION, skippingClock } from './clients.ts'

const RUNS = Number(process.env.MANDATEKIT_CAMPAIGN_RUNS ?? 2000)
const ATTEMPT = 10
const TOTAL = 150
// How late a timer may fire on a busy machine before it counts as a call that does not settle.
const SLACK = 2000

const executed = fc.boolean()
const failure = (kind: FaultEffect['kind'], more: object = {}) =>
  executed.map((acts): FaultEffect => ({ kind, executed: acts, ...more }))
const refused = fc.constantFrom<FaultEffect>(
  { kind: 'status', status: 400 },
  { kind: 'status', status: 401 },
  { kind: 'status', status: 409 },
  { kind: 'status', status: 422 },
  { kind: 'rate-limit', retryAfter: 1 },
  { kind: 'rate-limit', retryAfter: 'soon' },
  { kind: 'rate-limit', retryAfter: 86_400 },
)
const notSent = fc
  .constantFrom('ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT')
  .map((code): FaultEffect => ({ kind: 'reset', code }))
const serverError = fc
  .tuple(fc.constantFrom(408, 500, 502, 503, 504), executed)
  .map(([status, acts]): FaultEffect => ({ kind: 'status', status, executed: acts }))
const step: fc.Arbitrary<FaultStep> = fc.oneof(
  fc.constant('succeed' as const),
  refused,
  notSent,
  serverError,
  failure('reset'),
  failure('timeout'),
  failure('html'),
  failure('html', { status: 200 }),
  failure('empty'),
  failure('malformed'),
  fc.constantFrom<FaultEffect>(
    { kind: 'lost-response' },
    { kind: 'truncated' },
    { kind: 'latency', latencyMs: 1 },
  ),
)
/** Whether the client can know from a step that the server did not act. */
const provesNothingWasDone = (given: FaultStep | undefined): boolean => {
  if (typeof given !== 'object') return false
  if (given.kind === 'reset') return given.code !== undefined
  if (given.kind === 'rate-limit') return true
  return given.kind === 'status' && given.status !== undefined && given.status < 500 && given.status !== 408
}

const OPERATIONS = {
  charge: 'gateway.charge',
  renew: 'gateway.renew',
  subscribe: 'subscriptions.subscribe',
  cancel: 'subscriptions.cancel',
} as const

const schedule = fc.record({
  operation: fc.constantFrom('charge', 'renew', 'subscribe', 'cancel'),
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  login: fc.option(fc.oneof(notSent, failure('reset')), { freq: 4, nil: undefined }),
  limit: fc.integer({ min: 0, max: 3 }),
})
type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never

const prepare = async ({ operation, limit }: Schedule) => {
  const mock = createMock({
    clock: new Date('2026-11-28T12:00:00Z'),
    subscriptions: { rateLimit: false },
    gateway: { rateLimit: false },
  })
  const options = {
    fetch: mock.fetch,
    clock: skippingClock(mock.clock.now()),
    timeout: ATTEMPT,
    totalTimeout: TOTAL,
    retry: { limit },
  }
  const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...options })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...options })
  if (operation === 'charge')
    return { mock, run: (signal: AbortSignal) => gateway.charge(CHARGE_REQUEST, { signal }) }
  if (operation === 'subscribe') {
    return { mock, run: (signal: AbortSignal) => subscriptions.subscribe(SUBSCRIPTION, { signal }) }
  }
  const patient = { timeout: 20_000, totalTimeout: 20_000 }
  if (operation === 'cancel') {
    const { invoiceID } = await subscriptions.subscribe(SUBSCRIPTION, patient)
    mock.payer.authorize(invoiceID)
    const id = (await subscriptions.status(invoiceID, patient)).subscriptionId ?? ''
    return { mock, run: (signal: AbortSignal) => subscriptions.cancel(id, { signal }) }
  }
  const mandate = await gateway.charge(CHARGE_REQUEST, patient)
  await gateway.confirm(mandate.confirmation_id, { otp: '123456' }, patient)
  return {
    mock,
    run: (signal: AbortSignal) => gateway.renew(mandate.id, { cycle: '2026-12-01' }, { signal }),
  }
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** What the server did: how often the operation arrived, and how often it acted. */
const check = async (given: Schedule): Promise<void> => {
  const { mock, run } = await prepare(given)
  const keyed = given.operation === 'charge' || given.operation === 'renew'
  const operation = OPERATIONS[given.operation]
  const chargesBefore = mock.state.charges().length
  mock.requests.clear()
  mock.faults.add({ operation: operation, sequence: given.steps })
  if (given.login !== undefined) mock.faults.add({ operation: 'subscriptions.login', ...given.login })
  const { signal } = new AbortController()
  const before = timers()
  const startedAt = performance.now()
  const error = await run(signal).then(
    (): MandateKitError | undefined => undefined,
    (reason: unknown) => {
      if (isMandateKitError(reason)) return reason
      throw reason
    },
  )
  expect(performance.now() - startedAt).toBeLessThan(TOTAL + SLACK)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(timers()).toBeLessThanOrEqual(before)

  const requests = mock.requests.of(operation)
  const acted = requests.filter((request) => request.executed).length
  if (error === undefined) expect(acted).toBeGreaterThan(0)
  else if (acted > 0) expect(error.outcome).toBe('unknown')
  if (keyed) {
    expect(mock.state.charges().length - chargesBefore).toBeLessThanOrEqual(1)
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBeLessThanOrEqual(1)
  } else {
    // Only what surely did not act was followed by another attempt.
    for (const [index, request] of requests.slice(0, -1).entries()) {
      expect([request.executed, provesNothingWasDone(given.steps[index])]).toEqual([false, true])
    }
  }
  expect(mock.requests.of('subscriptions.login').length).toBeLessThanOrEqual(1 + 3 + given.limit)
}

describe('under random faults', () => {
  it(`no logical call acts twice, and no error claims too little, in ${RUNS} schedules`, {
    timeout: 300_000,
  }, async () => {
    await fc.assert(fc.asyncProperty(schedule, check), { numRuns: RUNS })
  })
})
