import type { Clock } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import type { FetchFunction } from './fetch-function.ts'
import { headerIssues, lowerCaseNames } from './header-rules.ts'
import type { Hooks, UnexpectedReport } from './hooks.ts'
import {
  choiceIssues,
  clockIssues,
  countIssues,
  functionIssues,
  isFields,
  refuse,
  unknownNames,
  unless,
  whileReading,
} from './input-issues.ts'

/** Limits of what a client repeats by itself. */
export interface RetryOptions {
  /** Most repeats of a call; 0 for none. A repeat with a renewed token after a 401 is not counted. Default: 2. */
  readonly limit?: number | undefined
  /** The longest wait before a repeat, in milliseconds; a longer one fails the call at once. Default: 30 000. */
  readonly maxWait?: number | undefined
}

/** Options that both clients take. */
export interface ClientOptions {
  /** Absolute http or https URL; it may have a path prefix and a trailing slash, but no credentials, query or fragment. */
  readonly baseUrl: string
  /** Limit of one attempt, reading the answer included, in milliseconds of real time. Default: 30 000. */
  readonly timeout?: number | undefined
  /** Limit of a call with all its attempts and waits, in milliseconds of real time. Default: 120 000. */
  readonly totalTimeout?: number | undefined
  /** What is repeated by itself at most; `false` is the same as `{ limit: 0 }`. */
  readonly retry?: RetryOptions | false | undefined
  /**
   * `wait` (default): calls are held back, in the order they came and 60 s at most, while the last answer said that no
   * requests remain. `throw`: they are not, and the server's 429 speaks.
   */
  readonly rateLimit?: 'wait' | 'throw' | undefined
  /** Sends the requests. Default: the platform's `fetch`, as it is at the time of each call. */
  readonly fetch?: FetchFunction | undefined
  /** Sent with every request. Authorization, Content-Type and Idempotency-Key are the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Functions that watch calls, for logs, spans and metrics. Default: none. */
  readonly hooks?: Hooks | undefined
  /** Hears what was odd in answers that were a success all the same. What it throws is ignored. */
  readonly onUnexpected?: ((report: UnexpectedReport) => unknown) | undefined
  /** Where the client takes the time from; give the mock's clock to run on the mock's time. Timeouts stay on real time. */
  readonly clock?: Clock | undefined
  /** Replaces the version prefix of the paths: `/api/v1.0` of area S, `/api/v1` of area G. */
  readonly apiPrefix?: string | undefined
}

/** What a client does where its options say nothing. */
export const CLIENT_DEFAULTS = {
  timeout: 30_000,
  totalTimeout: 120_000,
  retry: { limit: 2, maxWait: 30_000 },
  rateLimit: 'wait',
} as const satisfies Partial<ClientOptions>

/** Checked options with every default filled in. */
export interface ClientSettings {
  /** Without trailing slashes. */
  readonly baseUrl: string
  readonly timeout: number
  readonly totalTimeout: number
  readonly retry: { readonly limit: number; readonly maxWait: number }
  readonly holdsBack: boolean
  readonly fetch: FetchFunction | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly hooks: Hooks
  readonly onUnexpected: ((report: UnexpectedReport) => unknown) | undefined
  readonly clock: Clock
  readonly apiPrefix: string | undefined
}

const BASE_URL = /^https?:\/\/[^\s\\?#/:][^\s\\?#]*$/i
const PREFIX = /^(?:\/[\w.~-]+)*$/

const isBaseUrl = (value: unknown): value is string => {
  if (typeof value !== 'string' || !BASE_URL.test(value) || !URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}

const isDuration = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

/** The issues of time limits, wherever they are given. */
export const durationIssues = (
  options: Readonly<Record<string, unknown>>,
  names: readonly string[] = ['timeout', 'totalTimeout'],
): InputIssue[] =>
  names.flatMap((field) => {
    const value = options[field]
    const holds = value === undefined || isDuration(value)
    return unless(holds, field, 'milliseconds above 0', value, { above: 0 })
  })

/** The issues of retry options, wherever they are given. */
export const retryIssues = (retry: unknown): InputIssue[] => {
  if (retry === undefined || retry === false) return []
  if (!isFields(retry)) return unless(false, 'retry', 'an object such as { limit: 2 }, or false', retry)
  const { limit, maxWait } = retry
  const waitHolds = maxWait === undefined || (typeof maxWait === 'number' && maxWait >= 0)
  return [
    ...unknownNames(retry, ['limit', 'maxWait'], 'option', 'retry'),
    ...(limit === undefined ? [] : countIssues('retry.limit', limit, 0)),
    ...unless(waitHolds, 'retry.maxWait', 'milliseconds from 0', maxWait, { from: 0 }),
  ]
}

const HOOKS = ['onRequest', 'onResponse', 'onRetry', 'onError', 'onTokenRenewed']

const hookIssues = (hooks: unknown): InputIssue[] => {
  if (hooks === undefined) return []
  if (!isFields(hooks)) return unless(false, 'hooks', 'an object of functions such as { onRetry }', hooks)
  // Hooks may be an object that has more than them: only what looks like a hook is taken for a misspelt one.
  const alike = Object.entries(hooks).filter(
    ([name, value]) => /^on[A-Z]/.test(name) && typeof value === 'function',
  )
  return [
    ...HOOKS.flatMap((name) => functionIssues(`hooks.${name}`, hooks[name])),
    ...unknownNames(Object.fromEntries(alike), HOOKS, 'hook', 'hooks'),
  ]
}

const settingsOf = (options: ClientOptions, clock: Clock): ClientSettings => {
  const { retry, timeout, totalTimeout, rateLimit, hooks, headers } = options
  const limits = retry === false ? { limit: 0 } : retry
  return {
    baseUrl: new URL(options.baseUrl).href.replace(/\/+$/, ''),
    timeout: timeout ?? CLIENT_DEFAULTS.timeout,
    totalTimeout: totalTimeout ?? CLIENT_DEFAULTS.totalTimeout,
    retry: {
      limit: limits?.limit ?? CLIENT_DEFAULTS.retry.limit,
      maxWait: limits?.maxWait ?? CLIENT_DEFAULTS.retry.maxWait,
    },
    holdsBack: (rateLimit ?? CLIENT_DEFAULTS.rateLimit) === 'wait',
    fetch: options.fetch,
    headers: lowerCaseNames(headers),
    hooks: hooks ?? {},
    onUnexpected: options.onUnexpected,
    clock: options.clock ?? clock,
    apiPrefix: options.apiPrefix,
  }
}

/** Every name, so that an option cannot be added without being known here. */
const NAMES = Object.keys({
  baseUrl: true,
  timeout: true,
  totalTimeout: true,
  retry: true,
  rateLimit: true,
  fetch: true,
  headers: true,
  hooks: true,
  onUnexpected: true,
  clock: true,
  apiPrefix: true,
} satisfies Record<keyof ClientOptions, true>)

const issuesOf = (options: Readonly<Record<string, unknown>>): InputIssue[] => {
  const { baseUrl, apiPrefix } = options
  const prefixHolds = apiPrefix === undefined || (typeof apiPrefix === 'string' && PREFIX.test(apiPrefix))
  return [
    ...unless(
      isBaseUrl(baseUrl),
      'baseUrl',
      'an absolute http or https URL as text, without credentials, query or fragment',
      baseUrl,
      'text',
    ),
    ...durationIssues(options),
    ...retryIssues(options.retry),
    ...choiceIssues('rateLimit', ['wait', 'throw'], options.rateLimit),
    ...functionIssues('fetch', options.fetch),
    ...hookIssues(options.hooks),
    ...functionIssues('onUnexpected', options.onUnexpected),
    ...clockIssues(options.clock),
    ...unless(
      prefixHolds,
      'apiPrefix',
      'a path such as /api/v2, without a slash at its end',
      apiPrefix,
      'text',
    ),
    ...headerIssues('headers', options.headers),
  ]
}

/**
 * Checks a client's options. Throws `InvalidRequestError`, which quotes no value. `client` names the class;
 * `ownNames` are the options that are its own, and `ownIssues` checks them.
 */
export const checkClientOptions = (
  client: string,
  options: ClientOptions,
  clock: Clock,
  ownNames: readonly string[],
  ownIssues: (options: Readonly<Record<string, unknown>>) => InputIssue[],
): ClientSettings =>
  whileReading(client, 'options', () => {
    const given: unknown = options
    const needed = `an object such as { baseUrl, ${ownNames[0]} }`
    refuse(
      client,
      isFields(given)
        ? [...unknownNames(given, [...NAMES, ...ownNames]), ...issuesOf(given), ...ownIssues(given)]
        : unless(false, 'options', needed, given),
    )
    return settingsOf(options, clock)
  })
