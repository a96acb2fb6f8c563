import type * as fc from 'fast-check'
import { expect } from 'vitest'
import { type Model, PAUSED, PAUSED_WITHOUT_TIME } from './model.ts'
import type { Outcome, Pair } from './world.ts'

/** A step of a run: it does one thing in both worlds and compares them with the model. */
export type Step = fc.AsyncCommand<Model, Pair>

/** The steps of one kind. */
export const steps = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  perform: (model: Model, pair: Pair, input: Input) => Promise<void>,
): fc.Arbitrary<Step> =>
  input.map((value) => ({
    check: () => true,
    run: (model, pair) => perform(model, pair, value),
    toString: () => (value === undefined ? name : `${name}(${JSON.stringify(value)})`),
  }))

const ERROR_OF: Readonly<Record<number, string>> = { 401: 'AuthenticationError', 429: 'RateLimitError' }

/**
 * Compares the statuses, and the error that the client made of the last one: a 4xx says that nothing was executed.
 * Returns whether the call succeeded.
 */
export const expectStatuses = ({ statuses, error, value }: Outcome, expected: readonly number[]): boolean => {
  expect(statuses).toEqual(expected.filter((status) => status > PAUSED_WITHOUT_TIME))
  const last = expected.at(-1) ?? PAUSED
  if (last > PAUSED_WITHOUT_TIME && last < 300) {
    expect([error, value === undefined]).toEqual([undefined, false])
    return true
  }
  const isPaused = last <= PAUSED_WITHOUT_TIME
  // A login that fails leaves its call unsent.
  const outcome = isPaused
    ? statuses.length === 0
      ? 'not-sent'
      : 'rejected'
    : expect.stringMatching(/^(rejected|not-sent)$/)
  const name = isPaused ? 'RateLimitError' : (ERROR_OF[last] ?? 'ApiError')
  const status = isPaused ? undefined : last
  expect(error).toEqual({ name, status: last === PAUSED_WITHOUT_TIME ? 429 : status, outcome })
  return false
}

/** Compares whether a payer's action was possible. */
export const expectAction = ({ error }: Outcome, isLegal: boolean): boolean => {
  expect(error?.name).toBe(isLegal ? undefined : 'MockRefusedError')
  return isLegal
}
