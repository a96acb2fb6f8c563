import type { InputIssue } from '../errors.ts'
import type { ClientSettings, RetryOptions } from './client-options.ts'
import { durationIssues, retryIssues } from './client-options.ts'
import { headerIssues, lowerCaseNames } from './header-rules.ts'
import { isFields, unknownNames, unless } from './input-issues.ts'

/** Options of one call; every method takes them last. */
export interface CallOptions {
  /** Ends the call: it rejects with `AbortedError`, whose `outcome` tells what may have happened. */
  readonly signal?: AbortSignal | undefined
  /** Limit of one attempt, reading the answer included, in milliseconds. */
  readonly timeout?: number | undefined
  /** Limit of the call with all its attempts and waits, in milliseconds. */
  readonly totalTimeout?: number | undefined
  /** Sent besides the client's headers. Authorization, Content-Type and Idempotency-Key are the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Narrows what is repeated: `false` for nothing, or limits below the client's. */
  readonly retry?: RetryOptions | false | undefined
}

/** Limits of one call: the client's, narrowed by the call's options. */
export interface CallLimits {
  readonly signal: AbortSignal | undefined
  readonly timeout: number
  readonly totalTimeout: number
  readonly limit: number
  readonly maxWait: number
  readonly headers: Readonly<Record<string, string>>
}

// A signal that cannot be let go of would turn a call that succeeded into an error.
const isSignal = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'aborted' in value &&
  ['addEventListener', 'removeEventListener'].every((name) => typeof Reflect.get(value, name) === 'function')

/** The options that every call takes. */
export const CALL_OPTIONS: readonly string[] = Object.keys({
  signal: true,
  timeout: true,
  totalTimeout: true,
  headers: true,
  retry: true,
} satisfies Record<keyof CallOptions, true>)

/**
 * The issues of a call's options. A name that is no option is one too: a misspelt idempotency key would be another
 * charge. `of` names the method.
 */
export const callOptionIssues = (
  options: unknown,
  names: readonly string[] = CALL_OPTIONS,
  of = 'this call',
): InputIssue[] => {
  if (options === undefined) return []
  if (!isFields(options)) return unless(false, 'options', 'an object such as { timeout: 10_000 }', options)
  const { signal, headers, retry } = options
  return [
    ...unknownNames(options, names, `option of ${of}`),
    ...unless(signal === undefined || isSignal(signal), 'signal', 'an AbortSignal', signal),
    ...durationIssues(options),
    ...retryIssues(retry),
    ...headerIssues('headers', headers),
  ]
}

/** What holds for one call. */
export const callLimits = (settings: ClientSettings, options: CallOptions | undefined): CallLimits => {
  const narrowed = options?.retry === false ? { limit: 0 } : options?.retry
  return {
    signal: options?.signal,
    timeout: options?.timeout ?? settings.timeout,
    totalTimeout: options?.totalTimeout ?? settings.totalTimeout,
    limit: Math.min(settings.retry.limit, narrowed?.limit ?? settings.retry.limit),
    maxWait: Math.min(settings.retry.maxWait, narrowed?.maxWait ?? settings.retry.maxWait),
    headers:
      options?.headers === undefined
        ? settings.headers
        : { ...settings.headers, ...lowerCaseNames(options.headers) },
  }
}
