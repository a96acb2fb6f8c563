import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FaultStep } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { isMandateKitError, SubscriptionsClient } from '../../src/index.ts'
import { SUBSCRIPTION } from '../support/bodies.ts'

// What a call does to the payer under faults is the campaign's matter; this is what it does to the account.

const RUNS = 500

const step = fc.constantFrom<FaultStep>(
  'succeed',
  ...[400, 401, 403, 500, 503].map((status) => ({ kind: 'status', status }) as const),
  ...['ECONNREFUSED', 'ENOTFOUND'].map((code) => ({ kind: 'reset', code }) as const),
  { kind: 'reset' },
  { kind: 'lost-response' },
  { kind: 'html' },
  { kind: 'truncated' },
  { kind: 'rate-limit', retryAfter: 1 },
  { kind: 'rate-limit', retryAfter: 'soon' },
)
const unsent: FaultStep = { kind: 'reset', code: 'ECONNREFUSED' }
const sequence = fc.array(step, { minLength: 1, maxLength: 6 })
const logins = fc.array(fc.oneof(fc.constant(unsent), step), { minLength: 1, maxLength: 8 })

it(`one call logs in twice at most, and repeats a login within its limit, in ${RUNS} schedules`, {
  timeout: 60_000,
}, async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(logins, sequence, fc.integer({ min: 0, max: 3 }), async (login, call, limit) => {
      const mock = createMock({
        clock: new Date('2026-11-28T12:00:00Z'),
        subscriptions: { rateLimit: false },
      })
      mock.faults.add({ operation: 'subscriptions.login', sequence: login })
      mock.faults.add({ operation: 'subscriptions.subscribe', sequence: call })
      const client = new SubscriptionsClient({
        ...mock.clientOptions.subscriptions,
        fetch: mock.fetch,
        retry: { limit },
      })
      await client.subscribe(SUBSCRIPTION).catch((error: unknown) => {
        if (!isMandateKitError(error)) throw error
      })
      const made = mock.requests.of('subscriptions.login').length
      most = Math.max(most, made)
      expect(made).toBeLessThanOrEqual(2 * (1 + limit))
    }),
    { numRuns: RUNS },
  )
  // A bound that no schedule comes near proves nothing.
  expect(most).toBeGreaterThan(3)
})
