import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FaultEffect } from '../../mocks/core.ts'
import { type CallOptions, isMandateKitError, type MandateKitError } from '../../src/index.ts'
import { MOCK_CHARGE, ORDER, openMock } from '../support/mock-clients.ts'
import { sized } from '../support/sizes.ts'

const executed = fc.boolean()
const kind = <Kind extends string>(...kinds: readonly Kind[]) => fc.constantFrom(...kinds)
const retryAfter = fc.constantFrom<number | string | false>(false, 1, 'soon', 86_400)

/** Faults, during which the mock executes a call or does not. */
const effects: fc.Arbitrary<FaultEffect> = fc.oneof(
  fc.record({ kind: kind('status'), status: fc.constantFrom(408, 500, 503), executed, retryAfter }),
  fc.record({ kind: kind('status'), status: fc.constantFrom(400, 401, 403, 404, 409, 422) }),
  fc.record({ kind: kind('rate-limit'), retryAfter }),
  fc.record({ kind: kind('reset'), code: fc.constantFrom('ECONNREFUSED', 'ENOTFOUND') }),
  fc.record({ kind: kind('reset'), code: fc.constantFrom('EPIPE', 'ECONNRESET'), executed }),
  fc.record({ kind: kind('html'), status: fc.constantFrom(200, 302, 502), executed }),
  fc.record({ kind: kind('empty', 'malformed'), executed }),
  fc.record({ kind: kind('lost-response', 'truncated') }),
  fc.record({ kind: kind('latency'), latencyMs: fc.constant(1), executed }),
)

const schedules = fc.record({
  sequence: fc.array(effects, { minLength: 1, maxLength: 4 }),
  times: fc.constantFrom<number | 'always'>(1, 2, 'always'),
  isCharge: fc.boolean(),
  /** After how many microtasks the caller aborts; undefined: never. */
  turns: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
})

test('whatever faults the mock has, it executes a call once at most, and no error claims less than it did', {
  timeout: 300_000,
}, async () => {
  const property = fc.asyncProperty(schedules, async ({ sequence, times, isCharge, turns }) => {
    const { mock, subscriptions, gateway } = openMock()
    const operation = isCharge ? 'gateway.charge' : 'subscriptions.subscribe'
    const executions = () => mock.requests.of(operation).filter((request) => request.executed).length
    mock.faults.add({ operation, sequence, times })
    const controller = new AbortController()
    const call = ({ signal }: CallOptions) =>
      isCharge ? gateway.charge(MOCK_CHARGE, { signal }) : subscriptions.subscribe(ORDER, { signal })
    const ended = call(controller).then(
      () => undefined,
      (error: unknown): MandateKitError => {
        if (isMandateKitError(error)) return error
        throw error
      },
    )
    for (let turn = 0; turn < (turns ?? 0); turn += 1) await Promise.resolve()
    if (turns !== undefined) controller.abort()
    const error = await ended
    expect(executions()).toBeLessThanOrEqual(1)
    if (error === undefined) expect(executions()).toBe(1)
    else if (executions() > 0) expect(error.outcome).toBe('unknown')
    mock.faults.clear()
    if (!isCharge || !error?.idempotencyKey) return
    // The error tells the caller to repeat the call with this key: the server still acts once.
    await gateway.charge(MOCK_CHARGE, { idempotencyKey: error.idempotencyKey })
    expect(mock.state.charges()).toHaveLength(1)
  })
  await fc.assert(property, { numRuns: sized(1_000, 200) })
})
