import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'
import type { DeliveryOptions, NotificationTarget } from './delivery/types.ts'
import type { Check, Problem, Rules } from './domain/check-options.ts'
import {
  anyText,
  assertPasses,
  finiteNumber,
  isRecord,
  listOf,
  oneOf,
  pointInTime,
  present,
  shown,
  wholeNumber,
} from './domain/check-options.ts'
import type { ClockOptions } from './domain/clock.ts'
import type { GatewayOptions } from './domain/gateway/options.ts'
import { gatewayDefaults } from './domain/gateway/options.ts'
import { nearestName } from './domain/nearest-name.ts'
import type { SubscriptionsOptions } from './domain/subscriptions/options.ts'
import { subscriptionsDefaults } from './domain/subscriptions/options.ts'
import { normalizedBase } from './http/locate.ts'
import type { Variant } from './http/subscriptions-area.ts'

/** How an area is reached. */
export interface AreaHttpOptions {
  /**
   * Where the area answers, path prefix included (row 1). Default: `https://subscriptions.mandatekit.test`, and
   * `https://gateway.mandatekit.test`.
   */
  readonly baseUrl: string
  /** Replaces the version prefix of its paths (row 49). Default: `/api/v1.0` of area S, `/api/v1` of area G. */
  readonly apiPrefix: string
  /**
   * `any`: a body is read whatever its label; `json`: other labels are answered 415 (row 3 ✎). Default: `any`; under
   * strict rules: `json`.
   */
  readonly contentType: 'any' | 'json'
}

/** A receiver of notifications from the start (rows 45 to 47). */
export interface NotifyOptions extends DeliveryOptions {
  /** A handler in this process, or the absolute URL of the receiver. */
  readonly to: NotificationTarget
}

/** What area S's HTTP side can be told. */
export interface SubscriptionsHttpOptions extends AreaHttpOptions {
  /** Other forms of successful answers, for tests of a client's tolerance (row 44). Default: none. */
  readonly variant: Variant
  /** Receivers of notifications from the start (row 45). Default: none: notifications are kept in the outbox. */
  readonly notify: readonly NotifyOptions[]
}

/** What `createMock` can be told. Everything works without. */
export interface MockOptions {
  /** `'spec'` (default): what the specification states. `'strict'`: the restrictions we invented as well. */
  readonly rules?: Rules
  /** The same seed gives the same identifiers, and the same luck. Default: `mandatekit`. */
  readonly seed?: string | number
  /** `'system'` (default) follows the machine's time, or fake timers; a point in time freezes the clock there. */
  readonly clock?: Exclude<ClockOptions['clock'], undefined>
  /** What sleeping on a frozen clock does: the clock jumps to the time of waking (default), or the sleeper waits. */
  readonly sleep?: Exclude<ClockOptions['sleep'], undefined>
  /**
   * Whose minutes rate limits count: the mock's (default), or the machine's, for callers that live on the machine's time
   * while the mock's clock stands still. Retry-After and X-RateLimit-Reset follow.
   */
  readonly rateLimitTime?: 'mock' | 'machine'
  /** How many requests, and how many notifications, are kept. Default: 10 000. */
  readonly logSize?: number
  /** Options of area S; what is left out has its default. */
  readonly subscriptions?: Partial<SubscriptionsOptions & SubscriptionsHttpOptions>
  /** Options of area G; what is left out has its default. */
  readonly gateway?: Partial<GatewayOptions & AreaHttpOptions>
}

/** The defaults of area S's HTTP side. */
export const subscriptionsHttpDefaults = {
  baseUrl: 'https://subscriptions.mandatekit.test',
  apiPrefix: SUBSCRIPTIONS_API_PREFIX,
  contentType: 'any',
  variant: [],
  notify: [],
} as const satisfies SubscriptionsHttpOptions

/** The defaults of area G's HTTP side. */
export const gatewayHttpDefaults = {
  baseUrl: 'https://gateway.mandatekit.test',
  apiPrefix: GATEWAY_API_PREFIX,
  contentType: 'any',
} as const satisfies AreaHttpOptions

/** The defaults of the mock itself. */
export const mockDefaults = {
  rules: 'spec',
  seed: 'mandatekit',
  clock: 'system',
  sleep: 'jump',
  rateLimitTime: 'mock',
  logSize: 10_000,
} as const satisfies MockOptions

/** What `rules: 'strict'` changes in the HTTP side of both areas. */
export const strictHttpDefaults = { contentType: 'json' } as const satisfies Partial<AreaHttpOptions>

/** The name of every option that `createMock` takes itself. */
export const mockOptionNames: readonly string[] = [...Object.keys(mockDefaults), 'subscriptions', 'gateway']

/** The options of a mock, checked, with every default of the HTTP side filled in. */
export interface ReadOptions extends Required<Omit<MockOptions, 'subscriptions' | 'gateway'>> {
  readonly subscriptions: {
    readonly http: SubscriptionsHttpOptions
    readonly domain: Partial<SubscriptionsOptions>
  }
  readonly gateway: { readonly http: AreaHttpOptions; readonly domain: Partial<GatewayOptions> }
}

const PREFIX = /^(?:\/[\w.~-]+)*$/

const checkNames = (where: string, given: unknown, known: readonly string[]): void => {
  const what = where === '' ? 'The options' : `Option ${where.slice(0, -1)}`
  if (!isRecord(given)) {
    const example = where === '' ? 'such as { clock: new Date() }' : 'of options'
    const kind = typeof given === 'string' ? 'text' : shown(given)
    throw new TypeError(`${what} must be an object ${example}, not ${kind}.`)
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const meant = nearestName(unknown, known)
  const instead =
    meant === undefined ? `the options are ${known.join(', ')}.` : `did you mean ${where}${meant}?`
  throw new TypeError(`There is no option ${where}${unknown}; ${instead}`)
}

const seedCheck: Check = (value) =>
  typeof value === 'string' ? undefined : inOtherWords('text or a number', finiteNumber(value))

const clockCheck: Check = (value) =>
  value === 'system' ? undefined : inOtherWords('"system" or a point in time', pointInTime(value))

const inOtherWords = (must: string, found: Problem | undefined): Problem | undefined =>
  found && { ...found, must }

const prefixCheck: Check = (value) =>
  anyText(value) ??
  (PREFIX.test(String(value))
    ? undefined
    : {
        at: '',
        must: 'a path such as /api/v2, without a slash at its end',
        not: JSON.stringify(value),
        isType: false,
      })

/** What connecting it will say more about. */
const receiver: Check = (value) =>
  typeof value === 'object' && value !== null
    ? undefined
    : { at: '', must: 'an object such as { to: handler }', not: `a ${typeof value}`, isType: true }

/** Splits an area's options into those of its HTTP side and those of its domain. */
const readArea = <Http extends AreaHttpOptions, Domain extends object>(
  area: 'subscriptions' | 'gateway',
  given: Partial<Http & Domain>,
  defaults: Http,
): { readonly http: Http; readonly domain: Partial<Domain> } => {
  const entries = Object.entries(present(given))
  const own = entries.filter(([name]) => Object.hasOwn(defaults, name))
  const rest = entries.filter(([name]) => !Object.hasOwn(defaults, name))
  const http = { ...defaults, ...(Object.fromEntries(own) as Partial<Http>) }
  assertPasses(`Option ${area}.contentType`, http.contentType, oneOf('any', 'json'))
  assertPasses(`Option ${area}.apiPrefix`, http.apiPrefix, prefixCheck)
  return {
    http: { ...http, baseUrl: normalizedBase(`${area}.baseUrl`, http.baseUrl) },
    domain: Object.fromEntries(rest) as Partial<Domain>,
  }
}

/**
 * Reads the options of a mock.
 *
 * @throws TypeError or RangeError for a name that does not exist, or a value that makes no sense; the message names the
 * option.
 */
export const readOptions = (given: MockOptions): ReadOptions => {
  checkNames('', given, mockOptionNames)
  const { subscriptions = {}, gateway = {}, ...own } = given
  const options = { ...mockDefaults, ...present(own) }
  assertPasses('Option rules', options.rules, oneOf('spec', 'strict'))
  assertPasses('Option seed', options.seed, seedCheck)
  assertPasses('Option clock', options.clock, clockCheck)
  assertPasses('Option sleep', options.sleep, oneOf('jump', 'wait'))
  assertPasses('Option rateLimitTime', options.rateLimitTime, oneOf('mock', 'machine'))
  assertPasses('Option logSize', options.logSize, wholeNumber(1))
  checkNames('subscriptions.', subscriptions, [
    ...Object.keys(subscriptionsHttpDefaults),
    ...Object.keys(subscriptionsDefaults),
  ])
  checkNames('gateway.', gateway, [...Object.keys(gatewayHttpDefaults), ...Object.keys(gatewayDefaults)])
  if (subscriptions.notify !== undefined) {
    assertPasses('Option subscriptions.notify', subscriptions.notify, listOf(receiver))
  }
  const strict = options.rules === 'strict' ? strictHttpDefaults : {}
  return {
    ...options,
    subscriptions: readArea<SubscriptionsHttpOptions, SubscriptionsOptions>('subscriptions', subscriptions, {
      ...subscriptionsHttpDefaults,
      ...strict,
    }),
    gateway: readArea<AreaHttpOptions, GatewayOptions>('gateway', gateway, {
      ...gatewayHttpDefaults,
      ...strict,
    }),
  }
}
