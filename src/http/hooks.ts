import * as z from 'zod/mini'
import type { Field } from '../contract/fields.ts'
import { isObject } from '../contract/fields.ts'
import type { MandateKitErrorCode, Outcome, Phase, RateLimit } from '../errors.ts'
import type { RetryReason } from './retry.ts'

/** What every hook receives about a call. It holds no secret: no header, no body, no credential. */
export interface CallEvent {
  /** The same object for all events of one logical call: a key for a WeakMap of spans or timers. */
  readonly call: object
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Path template, for example `/api/v1/mfs/charges/:id`: a good name for a span or a metric. */
  readonly path: string
  /** The URL, with identifiers in it. */
  readonly url: string
  /** The key that is sent, for a charge or a renewal. */
  readonly idempotencyKey: string | undefined
}

/** An attempt is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** An attempt received a response, of any status. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status. */
  readonly status: number
  /** The server's identifier of the request, if it sent one. */
  readonly serverRequestId: string | undefined
  /** Contents of the `X-RateLimit-…` headers; absent when there were none. */
  readonly rateLimit: RateLimit | undefined
  /** Time from sending to the last byte of the body, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** An attempt failed and will be retried. */
export interface RetryEvent extends RequestEvent {
  /** Why the retry is safe. */
  readonly reason: RetryReason
  /** How long the client waits before it, in milliseconds. */
  readonly waitMs: number
  /** HTTP status of the failed attempt; absent when there was no response. */
  readonly status: number | undefined
}

/** A call failed for good. Reported once for each call, also when it ended before its first attempt. */
export interface FailureEvent extends CallEvent {
  /** The error's `code`. */
  readonly code: MandateKitErrorCode | undefined
  /** Where the call failed. */
  readonly phase: Phase | undefined
  /** The error's `retryable`: whether the same call can be made again later without executing twice. */
  readonly retryable: boolean | undefined
  /** Whether the server may have executed the call. */
  readonly outcome: Outcome | undefined
  /** HTTP status of the last response; absent when there was none. */
  readonly status: number | undefined
  /** The server's code: `errorCode` of area S, `error.code` of area G. */
  readonly errorCode: string | undefined
  /** Number of attempts. */
  readonly attempts: number
  /** Duration of the whole call, waits included, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** A token request succeeded. */
export interface TokenRenewedEvent {
  /** The login's operation id, `subscriptions.login`. */
  readonly operation: string
  /** `first`, `expiring`, `unauthorized` (a call received 401) or `login-called`. */
  readonly reason: string
  /** `password` or `refresh_token`. */
  readonly grant: string
}

/**
 * Functions that observe calls. What they throw and what their promises reject with is ignored, and nothing waits for
 * them. Input that breaks a rule makes no call: the promise rejects with `InvalidRequestError`, and no hook is called.
 */
export interface Hooks {
  /** An attempt is about to be sent. */
  readonly onRequest?: ((event: RequestEvent) => unknown) | undefined
  /** An attempt received a response, of any status. */
  readonly onResponse?: ((event: ResponseEvent) => unknown) | undefined
  /** An attempt failed and will be retried. */
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined
  /** A call failed for good. */
  readonly onError?: ((event: FailureEvent) => unknown) | undefined
  /** A token request succeeded. */
  readonly onTokenRenewed?: ((event: TokenRenewedEvent) => unknown) | undefined
}

/** An unexpected or missing field of a response that did not stop the call. */
export interface UnexpectedReport {
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** A sentence about the unexpected value. */
  readonly message: string
  /** Path of the field, lists without index: `subscriptionPayments[].dueDate`. */
  readonly field?: string | undefined
  /** What the specification says it is. */
  readonly rule?: string | undefined
  /** Type of the received value, never the value. */
  readonly received?: string | undefined
}

const HOOKS = ['onRequest', 'onResponse', 'onRetry', 'onError', 'onTokenRenewed']

/** Keeps the object itself, because its functions may be methods, and accepts one that has more than hooks. */
export const hooksOption = z.transform((value: unknown, { issues }) => {
  const given = isObject(value) ? value : {}
  if (given !== value) issues.push({ code: 'custom', message: 'an object of functions', input: value })
  for (const name of new Set([...HOOKS, ...Object.keys(given).filter((key) => /^on[A-Z]/.test(key))])) {
    const input = given[name] ?? undefined
    const message = HOOKS.includes(name) ? 'a function' : `one of ${HOOKS.join(', ')}`
    const isHook = HOOKS.includes(name) && (input === undefined || typeof input === 'function')
    if (!isHook) issues.push({ code: 'custom', message, input, path: [name] })
  }
  return value
}) as Field<Hooks, Hooks>

/** Calls a user's function, as a method of its object, in a way that cannot break a call. */
export const notify = <Name extends string, Event>(
  observers: { readonly [Key in Name]?: ((event: Event) => unknown) | undefined },
  name: Name,
  event: Event,
): void => {
  try {
    Promise.resolve(observers[name]?.(event)).catch(() => undefined)
  } catch {
    // An observer that fails is no reason to fail a payment.
  }
}
