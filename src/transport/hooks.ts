import type { MandateKitErrorCode, Outcome, Phase, RateLimit } from '../errors.ts'
import type { RepeatReason } from './repeat.ts'

/** Facts of a call that every hook gets. Nothing here is secret: no header, no body, no credential. */
export interface CallFacts {
  /** The same object for everything that one logical call reports: a key for a WeakMap of spans or timers. */
  readonly call: object
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Path template, for example `/api/v1/mfs/charges/:id`: good as a span's or a metric's name. */
  readonly path: string
  /** The address, with identifiers in it. */
  readonly url: string
  /** The key that is sent, for a charge or a renewal. */
  readonly idempotencyKey: string | undefined
}

/** An attempt is about to be sent. */
export interface RequestFacts extends CallFacts {
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** An attempt was answered, with whatever status. */
export interface ResponseFacts extends RequestFacts {
  /** HTTP status of the answer. */
  readonly status: number
  /** The server's identifier of the request, when it sent one. */
  readonly requestId: string | undefined
  /** What the headers `X-RateLimit-…` said; absent when there were none. */
  readonly rateLimit: RateLimit | undefined
  /** From sending to the last byte of the body, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** An attempt failed and is going to be repeated. */
export interface RetryFacts extends RequestFacts {
  /** Why it may be sent again. */
  readonly reason: RepeatReason
  /** How long the client waits before it, in milliseconds. */
  readonly waitMs: number
  /** The status of the attempt that failed; absent when there was no answer. */
  readonly status: number | undefined
}

/** A call failed for good: once each call, whatever the phase, and also when it was ended before its first attempt. */
export interface FailureFacts extends CallFacts {
  /** The error's `code`. */
  readonly code: MandateKitErrorCode | undefined
  /** In which phase the call ended. */
  readonly phase: Phase | undefined
  /** As in the error: whether the same call, made again later, can succeed and cannot execute twice. */
  readonly retryable: boolean | undefined
  /** Whether the server may have executed the call. */
  readonly outcome: Outcome | undefined
  /** HTTP status of the last answer; absent when there was none. */
  readonly status: number | undefined
  /** The server's own code: `errorCode` of area S, `error.code` of area G. */
  readonly errorCode: string | undefined
  /** How many attempts were made. */
  readonly attempts: number
  /** The whole call, waits included, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** A token request succeeded. */
export interface TokenRenewedFacts {
  /** Always the login's operation id, `subscriptions.login`. */
  readonly operation: string
  /**
   * `first`: none was known; `expiring`: its end is near; `unauthorized`: a call was answered 401; `login-called`: by
   * `login()`.
   */
  readonly reason: string
  /** `password` or `refresh_token`. */
  readonly grant: string
}

/**
 * Functions that watch calls. What they throw, and what their promises reject with, is ignored; nothing waits for them.
 * Input that breaks a rule makes no call: the promise rejects with `InvalidRequestError`, and no hook hears of it.
 */
export interface Hooks {
  /** An attempt is about to be sent. */
  readonly onRequest?: ((facts: RequestFacts) => unknown) | undefined
  /** An attempt was answered, with whatever status. */
  readonly onResponse?: ((facts: ResponseFacts) => unknown) | undefined
  /** An attempt failed and is going to be repeated. */
  readonly onRetry?: ((facts: RetryFacts) => unknown) | undefined
  /** A call failed for good. */
  readonly onError?: ((facts: FailureFacts) => unknown) | undefined
  /** A token request succeeded. */
  readonly onTokenRenewed?: ((facts: TokenRenewedFacts) => unknown) | undefined
}

/** One thing in an answer that was not as the specification says, and did not stop the call. */
export interface UnexpectedReport {
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** What was odd, in words. */
  readonly message: string
  /** Path of the field, lists without index: `subscriptionPayments[].dueDate`. */
  readonly field?: string | undefined
  /** What the specification says it is. */
  readonly rule?: string | undefined
  /** The kind of value that came, never the value. */
  readonly received?: string | undefined
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

type Watchers<Name extends string, Fact> = {
  readonly [Key in Name]?: ((fact: Fact) => unknown) | undefined
}

/** Calls a function of the user's, as the method that it may be, so that it cannot break a call. */
export const notify = <Name extends string, Fact>(
  watchers: Watchers<Name, Fact>,
  name: Name,
  fact: Fact,
): void => {
  try {
    const result = watchers[name]?.(fact)
    if (isThenable(result)) result.then(undefined, () => undefined)
  } catch {
    // A watcher that fails is no reason to fail a payment.
  }
}
