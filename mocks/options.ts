import { anyText, wholeNumber } from '../src/contract/fields.ts'
import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'
import type { DeliveryOptions, NotificationTarget } from './delivery/types.ts'
import { deliveryOptions, target } from './delivery/types.ts'
import type { OptionsOf } from './domain/check-options.ts'
import {
  check,
  defaultsOf,
  either,
  listOf,
  number,
  oneOf,
  option,
  plainObject,
  readOptions,
  rule,
  secretRule,
  secretText,
  strict,
  strictOf,
} from './domain/check-options.ts'
import { pointInTime } from './domain/duration.ts'
import type { GatewayOptions } from './domain/gateway/options.ts'
import { gatewayTable } from './domain/gateway/options.ts'
import type { SubscriptionsOptions } from './domain/subscriptions/options.ts'
import { subscriptionsTable } from './domain/subscriptions/options.ts'
import { isBase, normalizedBase } from './http/locate.ts'
import type { Variant } from './http/subscriptions-area.ts'
import { variantForms } from './http/subscriptions-area.ts'

const PREFIX = /^(?:\/[\w.~-]+)*$/

const httpTable = <const Url extends string, const Prefix extends string>(url: Url, prefix: Prefix) => ({
  /**
   * Where the area responds, including a path prefix (row 1). Default: `https://subscriptions.mandatekit.test`, and
   * `https://gateway.mandatekit.test`.
   */
  baseUrl: option(
    secretText('an absolute http or https URL without credentials, query and fragment', isBase),
    url,
  ),
  /** Replaces the version prefix of the paths (row 49). Default: `/api/v1.0` in area S, `/api/v1` in area G. */
  apiPrefix: option(
    rule<string>(
      'a path such as /api/v2 without a slash at its end',
      (value) => typeof value === 'string' && PREFIX.test(value),
    ),
    prefix,
  ),
  /**
   * `any`: the Content-Type of a body is ignored; `json`: any other type than JSON gets 415 (row 3 ✎). Default: `any`;
   * under strict rules: `json`.
   */
  contentType: option(oneOf('any', 'json'), 'any', { strict: 'json' }),
})

/** A receiver of notifications from the start (rows 45 to 47). */
export interface NotifyOptions extends DeliveryOptions {
  /** A handler in this process, or the absolute URL of the receiver. */
  readonly to: NotificationTarget
}

const subscriptionsHttp = {
  ...httpTable('https://subscriptions.mandatekit.test', SUBSCRIPTIONS_API_PREFIX),
  /** Other forms of successful responses, for tests of a client's tolerance (row 44). Default: none. */
  variant: option(
    either(
      listOf(oneOf(...variantForms)),
      secretRule<Exclude<Variant, readonly unknown[]>>('a function', (value) => typeof value === 'function'),
    ),
    [],
  ),
  /** Receivers of notifications from the start (row 45). Default: none, and notifications stay in the outbox. */
  notify: option(listOf<NotifyOptions>(strict({ to: target, ...deliveryOptions }, 'option')), []),
}
const gatewayHttp = httpTable('https://gateway.mandatekit.test', GATEWAY_API_PREFIX)

/** How an area is reached. */
export interface AreaHttpOptions extends OptionsOf<typeof gatewayHttp> {}
/** The options of area S's HTTP side. */
export interface SubscriptionsHttpOptions extends OptionsOf<typeof subscriptionsHttp> {}

const own = {
  /** `'spec'` (default): what the specification states. `'strict'`: also the restrictions that we invented. */
  rules: option(oneOf('spec', 'strict'), 'spec'),
  /** The same seed gives the same identifiers and the same chance. Default: `mandatekit`. */
  seed: option(either(anyText, number()), 'mandatekit'),
  /** `'system'` (default) follows the machine's time, or fake timers. A point in time freezes the clock there. */
  clock: option(either(oneOf('system'), pointInTime), 'system'),
  /** Sleeping on a frozen clock: it jumps to the time of waking (default), or the sleeper waits until it is moved. */
  sleep: option(oneOf('jump', 'wait'), 'jump'),
  /**
   * The time of the rate limits: the mock's (default), or the machine's, for callers that live on the machine's time
   * while the mock's clock stands still. Retry-After and X-RateLimit-Reset follow.
   */
  rateLimitTime: option(oneOf('mock', 'machine'), 'mock'),
  /** How many requests, and how many notifications, are kept. Default: 10 000. */
  logSize: option(wholeNumber(1), 10_000),
}

/** The options of `createMock`. Everything works without. */
export interface MockOptions extends Partial<OptionsOf<typeof own>> {
  /** Options of area S. An omitted one has its default. */
  readonly subscriptions?: Partial<SubscriptionsOptions & SubscriptionsHttpOptions>
  /** Options of area G. An omitted one has its default. */
  readonly gateway?: Partial<GatewayOptions & AreaHttpOptions>
}

/** The defaults of area S's HTTP side. */
export const subscriptionsHttpDefaults = defaultsOf(subscriptionsHttp)
/** The defaults of area G's HTTP side. */
export const gatewayHttpDefaults = defaultsOf(gatewayHttp)
/** The defaults of the mock itself. */
export const mockDefaults = defaultsOf(own)
/** The defaults of the HTTP side of both areas that `rules: 'strict'` changes. */
export const strictHttpDefaults = strictOf(gatewayHttp)

const mockTable = { ...own, subscriptions: option(plainObject(), {}), gateway: option(plainObject(), {}) }

/** The name of every option that `createMock` takes itself. */
export const mockOptionNames: readonly string[] = Object.keys(mockTable)

/** The options of a mock, checked, with all defaults. */
export interface ReadOptions extends OptionsOf<typeof own> {
  readonly subscriptions: SubscriptionsOptions & SubscriptionsHttpOptions
  readonly gateway: GatewayOptions & AreaHttpOptions
}

/** Every option, by what its name begins with. */
export const optionTables = {
  '': own,
  'subscriptions.': { ...subscriptionsHttp, ...subscriptionsTable },
  'gateway.': { ...gatewayHttp, ...gatewayTable },
}

/** Reads the options of a mock. Throws a TypeError that names a wrong option, and what is allowed. */
export const readMockOptions = (given: MockOptions): ReadOptions => {
  const options = readOptions('', mockTable, 'spec', check(plainObject(), given, '', 'The options'))
  const areaOf = <Area extends 'subscriptions' | 'gateway'>(area: Area) => {
    const read = readOptions(`${area}.`, optionTables[`${area}.`], options.rules, options[area])
    return { ...read, baseUrl: normalizedBase(read.baseUrl) }
  }
  return { ...options, subscriptions: areaOf('subscriptions'), gateway: areaOf('gateway') }
}
