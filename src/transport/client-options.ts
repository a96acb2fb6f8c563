import type { Clock } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import type { FetchFunction } from './fetch-function.ts'
import { headerIssues, lowerCaseNames } from './header-rules.ts'
import type { Hooks, UnexpectedReport } from './hooks.ts'
import { kindOfValue } from './kind-of-value.ts'

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
  /** `false` is the same as `{ limit: 0 }`. */
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

export const isDuration = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const unless = (holds: boolean, field: string, rule: string, value: unknown): InputIssue[] =>
  holds ? [] : [{ field, rule, received: kindOfValue(value) }]

/** The issues of names that are no options: one that is misspelt would be ignored. `within` is the option that holds them. */
export const unknownOptionIssues = (
  given: unknown,
  names: readonly string[],
  within?: string,
): InputIssue[] =>
  Object.keys(isObject(given) ? given : {})
    .filter((name) => !names.includes(name))
    .map((name) => ({
      field: within === undefined ? name : `${within}.${name}`,
      rule: `one of the options ${names.join(', ')}`,
      received: 'an unknown option',
    }))

/** The issues of time limits, wherever they are given. */
export const durationIssues = (options: Readonly<Record<string, unknown>>): InputIssue[] =>
  ['timeout', 'totalTimeout'].flatMap((field) => {
    const value = options[field]
    return unless(value === undefined || isDuration(value), field, 'milliseconds above zero', value)
  })

/** The issues of retry options, wherever they are given. */
export const retryIssues = (retry: unknown): InputIssue[] => {
  if (retry === undefined || retry === false) return []
  if (!isObject(retry)) return unless(false, 'retry', 'an object, or false', retry)
  const { limit, maxWait } = retry
  const limitHolds = limit === undefined || (Number.isSafeInteger(limit) && Number(limit) >= 0)
  const waitHolds = maxWait === undefined || (typeof maxWait === 'number' && maxWait >= 0)
  return [
    ...unknownOptionIssues(retry, ['limit', 'maxWait'], 'retry'),
    ...unless(limitHolds, 'retry.limit', 'a whole number from 0', limit),
    ...unless(waitHolds, 'retry.maxWait', 'milliseconds from 0', maxWait),
  ]
}

const isOptionalFunction = (value: unknown): boolean => value === undefined || typeof value === 'function'

const HOOKS = ['onRequest', 'onResponse', 'onRetry', 'onError', 'onTokenRenewed']

const isHooks = (hooks: unknown): boolean =>
  hooks === undefined || (isObject(hooks) && HOOKS.every((name) => isOptionalFunction(hooks[name])))

/** Hooks may be an object that has more than them: only what looks like a hook is taken for a misspelt one. */
const unknownHookIssues = (hooks: unknown): InputIssue[] => {
  const found = Object.entries(isObject(hooks) ? hooks : {})
  const alike = found.filter(([name, value]) => /^on[A-Z]/.test(name) && typeof value === 'function')
  return unknownOptionIssues(Object.fromEntries(alike), HOOKS, 'hooks')
}

/** The issue of an option that is one of a few words. */
export const choiceIssues = (field: string, choices: readonly string[], value: unknown): InputIssue[] => {
  const holds = value === undefined || choices.some((choice) => choice === value)
  return unless(holds, field, choices.map((choice) => JSON.stringify(choice)).join(' or '), value)
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

const isClock = (value: unknown): boolean =>
  isObject(value) && typeof value.now === 'function' && typeof value.sleep === 'function'

const issuesOf = (options: Readonly<Record<string, unknown>>): InputIssue[] => {
  const { baseUrl, rateLimit, fetch, hooks, onUnexpected, clock, apiPrefix } = options
  const prefixHolds = apiPrefix === undefined || (typeof apiPrefix === 'string' && PREFIX.test(apiPrefix))
  return [
    ...unless(
      isBaseUrl(baseUrl),
      'baseUrl',
      'an absolute http or https URL without credentials, query or fragment',
      baseUrl,
    ),
    ...durationIssues(options),
    ...retryIssues(options.retry),
    ...choiceIssues('rateLimit', ['wait', 'throw'], rateLimit),
    ...unless(isOptionalFunction(fetch), 'fetch', 'a function', fetch),
    ...unless(isHooks(hooks), 'hooks', 'an object of functions', hooks),
    ...unknownHookIssues(hooks),
    ...unless(isOptionalFunction(onUnexpected), 'onUnexpected', 'a function', onUnexpected),
    ...unless(clock === undefined || isClock(clock), 'clock', 'an object with now() and sleep()', clock),
    ...unless(prefixHolds, 'apiPrefix', 'a path such as /api/v2, without a slash at its end', apiPrefix),
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
): ClientSettings => {
  const given: unknown = options
  const issues = isObject(given)
    ? [...unknownOptionIssues(given, [...NAMES, ...ownNames]), ...issuesOf(given), ...ownIssues(given)]
    : unless(false, 'options', 'an object', given)
  if (issues.length > 0) throw new InvalidRequestError(client, issues)
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
