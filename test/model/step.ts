import type * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Model } from './model.ts'
import { PAUSED } from './model.ts'
import type { Outcome, Pair } from './world.ts'

/** Does one thing to both worlds and holds them to the model. */
export type Perform<Input> = (model: Model, pair: Pair, input: Input) => Promise<void>

/** One step of a run. */
export class Step<Input> implements fc.AsyncCommand<Model, Pair> {
  readonly #name: string
  readonly #input: Input
  readonly #perform: Perform<Input>

  constructor(name: string, input: Input, perform: Perform<Input>) {
    this.#name = name
    this.#input = input
    this.#perform = perform
  }

  check(): boolean {
    return true
  }

  run(model: Model, pair: Pair): Promise<void> {
    return this.#perform(model, pair, this.#input)
  }

  toString(): string {
    return this.#input === undefined ? this.#name : `${this.#name}(${JSON.stringify(this.#input)})`
  }
}

/** Steps of one kind. */
export const steps = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  perform: Perform<Input>,
): fc.Arbitrary<fc.AsyncCommand<Model, Pair>> => input.map((value) => new Step(name, value, perform))

const ERROR_OF: Readonly<Record<number, string>> = { 401: 'AuthenticationError', 429: 'RateLimitError' }

/**
 * The statuses are those foreseen, and the client made of the last one what its errors promise: a 4xx says that
 * nothing was executed. Whether the call succeeded is given back.
 */
export const expectStatuses = ({ statuses, error, value }: Outcome, expected: readonly number[]): boolean => {
  expect(statuses).toEqual(expected.filter((status) => status !== PAUSED))
  const last = expected.at(-1) ?? PAUSED
  if (last === PAUSED) {
    const outcome = statuses.length === 0 ? 'not-sent' : 'rejected'
    expect(error).toEqual({ name: 'RateLimitError', status: undefined, outcome })
    return false
  }
  if (last < 300) {
    expect(error).toBeUndefined()
    expect(value).toBeDefined()
    return true
  }
  // A login that fails leaves its call unsent.
  const outcome = expect.stringMatching(/^(rejected|not-sent)$/)
  expect(error).toEqual({ name: ERROR_OF[last] ?? 'ApiError', status: last, outcome })
  return false
}

/** A payer's action was refused or done as foreseen. */
export const expectAction = ({ error }: Outcome, isLegal: boolean): boolean => {
  expect(error?.name).toBe(isLegal ? undefined : 'MockRefusedError')
  return isLegal
}
