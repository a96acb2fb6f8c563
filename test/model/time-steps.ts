import * as fc from 'fast-check'
import { expect } from 'vitest'
import { gatewayAgrees, subscriptionsAgree } from './agree.ts'
import type { Model } from './model.ts'
import { steps } from './step.ts'
import { both, historyOf, type Pair, startOver } from './world.ts'

const modelAgrees = (model: Model, [{ mock }]: Pair): void => {
  expect(mock.clock.now()).toBe(model.now)
  subscriptionsAgree(model, mock)
  gatewayAgrees(model, mock)
}

/** Everything that a world shows is what the model says, and both worlds show the same bytes. */
export const expectAgreement = (model: Model, pair: Pair): void => {
  modelAgrees(model, pair)
  expect(historyOf(pair[1]), 'the same seed gives the same history').toBe(historyOf(pair[0]))
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const length = fc.oneof(
  fc.integer({ min: 1, max: 90 * SECOND }),
  fc.integer({ min: 1, max: 20 }).map((minutes) => minutes * MINUTE),
  fc.integer({ min: 1, max: 30 }).map((hours) => hours * HOUR),
  fc.integer({ min: 1, max: 25 }).map((days) => days * DAY),
  fc.constantFrom(DAY - 1, DAY, HOUR, 15 * MINUTE),
)

const advance = steps('advance', length, async (model, pair, milliseconds) => {
  await both(pair, ({ mock }) => mock.clock.advance(milliseconds))
  model.moveTo(model.now + milliseconds)
  modelAgrees(model, pair)
})

const setToTimeOfDay = steps(
  'clock.set',
  fc.constantFrom('12:00:00', '11:59:59', '23:30:00', '23:30:01', '23:59:59'),
  async (model, pair, time) => {
    const today = new Date(model.now).toISOString().slice(0, 10)
    const at = Date.parse(`${today}T${time}Z`)
    const target = at >= model.now ? at : at + DAY
    await both(pair, ({ mock }) => mock.clock.set(target))
    model.moveTo(target)
  },
)

const reset = steps('reset', fc.constant(undefined), async (model, pair) => {
  expectAgreement(model, pair)
  for (const world of pair) startOver(world, 'reset')
  model.reset()
})

const endTokens = steps('tokens end', fc.constantFrom('expire', 'revoke'), async (model, pair, kind) => {
  // A client gives up when it has to renew more than three times a minute after a 401.
  await both(pair, ({ mock }) => mock.clock.advance(25 * SECOND))
  model.moveTo(model.now + 25 * SECOND)
  await both(pair, ({ mock }) => (kind === 'expire' ? mock.tokens.expire() : mock.tokens.revoke()))
  model.endTokens(kind === 'revoke')
})

const snapshot = steps('snapshot', fc.constant(undefined), async (model, pair) => {
  for (const world of pair) world.snapshot = structuredClone(world.mock.snapshot())
  model.save()
})

const restore = steps('restore', fc.constant(undefined), async (model, pair) => {
  if (model.saved === undefined) return
  for (const world of pair) startOver(world, 'restore')
  model.saved()
  expectAgreement(model, pair)
})

/** Steps of time, and of the test that holds the mock. */
export const timeSteps = [
  { weight: 14, arbitrary: advance },
  { weight: 3, arbitrary: setToTimeOfDay },
  { weight: 1, arbitrary: reset },
  { weight: 1, arbitrary: endTokens },
  { weight: 2, arbitrary: snapshot },
  { weight: 2, arbitrary: restore },
]
