import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClientOptions, FetchFunction, MandateKitError } from '../../src/index.ts'
import { GatewayClient, isMandateKitError, nextStep, SubscriptionsClient } from '../../src/index.ts'
import {
  CANCELLED,
  CHARGE,
  CHARGE_REQUEST,
  DETAILS,
  OK,
  SUBSCRIBED,
  SUBSCRIPTION,
} from '../support/bodies.ts'
import { API_KEY, CREDENTIALS, TOKEN } from '../support/clients.ts'
import { FOREIGN_REFUSALS } from '../support/foreign-refusals.ts'
import { skippingClock } from '../support/skipping-clock.ts'

interface Clients {
  readonly s: SubscriptionsClient
  readonly g: GatewayClient
}
type Call = (clients: Clients, signal: AbortSignal) => Promise<unknown>

const RAW = { path: '/api/v1/refunds' } as const
const RENEWAL = { dueDate: '2026-12-01' }
const first = async (list: AsyncIterable<unknown>) => {
  for await (const one of list) return one
  return undefined
}
/** Every operation of both clients, with and without a key, and input that breaks a rule. */
const CALLS: readonly Call[] = [
  ({ s }, signal) => s.login({ signal }),
  ({ s }, signal) => s.subscribe(SUBSCRIPTION, { signal }),
  ({ s }, signal) => s.status('inv-1', { signal }),
  ({ s }, signal) => s.details('sub-1', { signal }),
  ({ s }, signal) => s.cancel('sub-1', { signal }),
  ({ s }, signal) => s.cancellation('sub-1', { signal }),
  ({ s }, signal) => s.payments('sub-1', {}, { signal }),
  ({ s }, signal) => first(s.allPayments('sub-1', {}, { signal })),
  ({ s }, signal) => s.payment(1, { signal }),
  ({ s }, signal) => s.waitForStatus('inv-1', { signal, timeout: 5000 }),
  ({ s }, signal) => s.request({ method: 'POST', ...RAW }, { signal }),
  ({ s }) => s.cancel('..'),
  ({ g }, signal) => g.health({ signal }),
  ({ g }, signal) => g.reference({ signal }),
  ({ g }, signal) => g.charge(CHARGE_REQUEST, { signal }),
  ({ g }, signal) => g.charge(CHARGE_REQUEST, { signal, idempotencyKey: 'order-1' }),
  ({ g }, signal) => g.charge({ ...CHARGE_REQUEST, amount: 1 }, { signal, idempotencyKey: 'order-1' }),
  ({ g }, signal) => g.confirm('conf_1', { otp: '123456' }, { signal }),
  ({ g }, signal) => g.status('ch_1', { signal }),
  ({ g }, signal) => g.renew('ch_1', RENEWAL, { signal }),
  ({ g }, signal) => g.reset({ signal }),
  ({ g }, signal) => g.waitForCharge('ch_1', { signal, timeout: 5000 }),
  ...(['GET', 'POST', 'DELETE'] as const).flatMap((method): Call[] => [
    ({ g }, signal) => g.request({ method, ...RAW }, { signal }),
    ({ g }, signal) => g.request({ method, ...RAW, retry: 'always' }, { signal }),
    ({ g }, signal) => g.request({ method, ...RAW, idempotencyKey: 'r-1' }, { signal }),
  ]),
]

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}
type Behavior = Reply | 'silent' | 'abort' | `E${string}` | 'CERT_HAS_EXPIRED' | 'unknown'

const refusal = (code: string) => ({ errorCode: code, errorMessage: code, error: { code, message: code } })
const BODIES: readonly unknown[] = [
  ...[SUBSCRIBED, DETAILS, CANCELLED, CHARGE, OK, { ...OK, status: 'INITIALIZED' }],
  ...['not_found', 'no', '503', '0', 'token'].map(refusal),
  ...['invalid_grant', 'temporarily_unavailable'].map((error) => ({ error })),
  ...['', '<h1>Hello</h1>', '{"id":"ch_1","amount":NaN}', '{"id":"ch_1"'],
  ...FOREIGN_REFUSALS.map(([, , body]) => body),
]
const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))
const reply: fc.Arbitrary<Behavior> = fc.record({
  status: fc.constantFrom(
    ...[200, 201, 302, 400, 401, 403, 404, 405, 407, 408, 409, 410, 422, 425, 429, 451, 500, 501, 503, 505],
  ),
  body: fc.constantFrom(...BODIES).map(textOf),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    ...['0', '0.4', '7', '60000', '179603280'].map((wait) => ({ 'retry-after': wait })),
    { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795867290' },
  ),
})
const failure = fc.constantFrom<Behavior>(
  'silent',
  'abort',
  'ECONNREFUSED',
  'ECONNRESET',
  'CERT_HAS_EXPIRED',
  'unknown',
)
const behavior = fc.oneof({ weight: 4, arbitrary: reply }, { weight: 1, arbitrary: failure })

/** A `fetch` that behaves like this, one behavior a request. `granted`: whether logins succeed. */
const fetchOf = (behaviors: readonly Behavior[], granted: boolean, abort: () => void): FetchFunction => {
  let index = -1
  return async (url, { signal }) => {
    if (granted && url.endsWith('/oauth/token'))
      return Response.json({ token_type: 'Bearer', expires_in: 3600, access_token: TOKEN })
    index += 1
    const next = behaviors[index % behaviors.length] ?? 'unknown'
    if (typeof next === 'object') {
      const { status, body, headers } = next
      return new Response(body, { status, headers })
    }
    if (next === 'abort') abort()
    if (next !== 'silent' && next !== 'abort')
      throw new TypeError(
        'fetch failed',
        next === 'unknown' ? {} : { cause: Object.assign(new Error(next), { code: next }) },
      )
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
}

const check = (error: MandateKitError): string => {
  const next = nextStep(error)
  const { retryable, outcome, idempotencyKey, acts } = error
  const said = `${JSON.stringify(next)} after ${error.message}`
  if (retryable) expect(['retry', 'pause-queue'], said).toContain(next.step)
  if (next.step === 'fail') expect(retryable, said).toBe(false)
  const hasLostKey = idempotencyKey !== undefined && outcome === 'unknown'
  if (next.step === 'retry') expect(retryable || hasLostKey, said).toBe(true)
  // What may have acted is never sent again without its key.
  if (acts && outcome === 'unknown' && idempotencyKey === undefined) expect(next.step, said).toBe('find-out')
  if ('afterMs' in next) {
    expect(Number.isInteger(next.afterMs) && next.afterMs >= 1000 && next.afterMs <= 3_600_000, said).toBe(
      true,
    )
    expect(next.idempotencyKey, said).toBe(idempotencyKey)
  }
  expect(next.step, said).not.toBe('unknown-error')
  expect(nextStep(JSON.parse(JSON.stringify(error)))).toEqual(next)
  expect(nextStep(new Error('The job failed.', { cause: error }))).toEqual(next)
  return next.step
}

test('nextStep and retryable agree for every error of both clients', { timeout: 60_000 }, async () => {
  const steps = new Set<string>()
  const schedule = fc.record({
    call: fc.constantFrom(...CALLS),
    behaviors: fc.array(behavior, { minLength: 1, maxLength: 3 }),
    granted: fc.boolean(),
    rateLimit: fc.constantFrom<'wait' | 'throw'>('wait', 'throw'),
    retry: fc.constantFrom<ClientOptions['retry']>(false, { limit: 2 }, { limit: 1, maxWait: 1 }),
  })
  await fc.assert(
    fc.asyncProperty(schedule, async ({ call, behaviors, granted, rateLimit, retry }) => {
      const aborting = new AbortController()
      const fetch = fetchOf(behaviors, granted, () => aborting.abort())
      const options = { fetch, clock: skippingClock(), timeout: 4, totalTimeout: 60, rateLimit, retry }
      const clients = {
        s: new SubscriptionsClient({ ...options, baseUrl: 'https://s.example', credentials: CREDENTIALS }),
        g: new GatewayClient({ ...options, baseUrl: 'https://g.example', apiKey: API_KEY }),
      }
      // The second call may be delayed by the rate limit or by a pause after a login.
      for (let time = 0; time < 2; time += 1) {
        const error = await call(clients, aborting.signal).catch((reason: unknown) => reason)
        if (error instanceof Error) {
          expect(isMandateKitError(error), String(error)).toBe(true)
          steps.add(check(error as MandateKitError))
        }
      }
    }),
    { numRuns: 1500 },
  )
  expect([...steps].sort()).toEqual(['fail', 'find-out', 'pause-queue', 'retry'])
})
