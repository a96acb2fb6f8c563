import type { Refusal, RefusalReason, Result } from './domain/result.ts'

/** The mock refused what a test asked of it, for example to authorize a request that does not exist. */
export class MockRefusedError extends Error {
  /** Always `MockRefusedError`. */
  override readonly name = 'MockRefusedError'
  /** Why, in a word that a program can read. */
  readonly reason: RefusalReason
  /** The field that broke a rule. */
  readonly field: string | undefined

  constructor(action: string, { reason, message, field, explanation }: Refusal) {
    super([`${action}: ${message}`, explanation].filter(Boolean).join(' '))
    this.reason = reason
    this.field = field
  }
}

/** The value of a result; throws `MockRefusedError` for a refusal. */
export const granted = <Value>(action: string, result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new MockRefusedError(action, result.refusal)
}
