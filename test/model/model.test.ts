import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { full, sized } from '../support/sizes.ts'
import { gatewaySteps } from './gateway-steps.ts'
import { Model } from './model.ts'
import { rawSteps } from './raw-steps.ts'
import type { Step } from './step.ts'
import { subscriptionsSteps } from './subscriptions-steps.ts'
import { expectAgreement, timeSteps } from './time-steps.ts'
import { createWorld, type Setting } from './world.ts'

const RUNS = sized(1_000, 30)
const STEPS = sized(50, 40)

const setting: fc.Arbitrary<Setting> = fc.record({
  seed: fc.nat(),
  start: fc.constantFrom(
    '2026-11-28T09:00:00Z',
    '2026-12-01T12:00:00Z',
    '2027-12-31T23:29:30Z',
    '2028-02-28T23:45:00Z',
  ),
  gatewayLimit: fc.constantFrom(4, 12, 120, 120),
  subscriptionsLimit: fc.constantFrom(6, 20, 600, 600),
})

// A run that fails shrinks by doing nothing in more and more of its steps.
const nothing: Step = { check: () => true, run: async () => undefined, toString: () => '·' }
const step = fc.oneof(...subscriptionsSteps, ...gatewaySteps, ...rawSteps, ...timeSteps)
const script = fc.array(fc.option(step, { nil: nothing, freq: 200 }), { minLength: STEPS, maxLength: STEPS })

/** Decisions of the mock; each one must occur in a full run, or the runs would prove less than they seem to. */
const DECISIONS = [
  'accepted',
  'already_confirmed',
  'charge_expired',
  'incorrect_code',
  'invalid',
  'locked_out',
  'malformed-body',
  'mandate_mismatch',
  'mandate_not_active',
  'missing_idempotency_key',
  'not_found',
  'rate_limited',
  'replayed',
  'unauthorized',
  'unknown-path',
  'wrong-method',
]

test(`${RUNS} runs of ${STEPS} random steps over both areas agree with an independent model, and repeat byte by byte`, {
  timeout: 600_000,
}, async () => {
  let performed = 0
  const decisions = new Set<string>()
  await fc.assert(
    fc.asyncProperty(setting, script, async (chosen, commands) => {
      const model = new Model(chosen)
      const real = [createWorld(chosen), createWorld(chosen)] as const
      await fc.asyncModelRun(() => ({ model, real }), commands)
      expectAgreement(model, real)
      for (const { decision } of real[0].mock.requests.all()) decisions.add(decision)
      performed += commands.length
    }),
    { numRuns: RUNS },
  )
  expect(performed).toBe(RUNS * STEPS)
  // A short run may miss a rare decision.
  expect(full ? [...decisions].sort() : DECISIONS).toEqual(
    full ? DECISIONS : expect.arrayContaining([...decisions]),
  )
})
