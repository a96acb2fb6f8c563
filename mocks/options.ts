import { anyText, input, oneOf, wholeNumber } from '../src/contract/fields.ts'
import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'
import {
  check,
  defaultsOf,
  either,
  listOf,
  number,
  type OptionsOf,
  option,
  plainObject,
  readOptions,
  rule,
  strict,
} from './base/fields.ts'
import { type DeliveryOptions, deliveryOptions, type NotificationTarget, target } from './delivery/types.ts'
import { type GatewayOptions, gatewayTable } from './gateway/options.ts'
import { faultSchema } from './http/fault-schema.ts'
import { isBase, normalizedBase } from './http/routes.ts'
import { type Variant, variantForms } from './http/subscriptions-area.ts'
import { type SubscriptionsOptions, subscriptionsTable } from './subscriptions/options.ts'
import { pointInTime } from './time/duration.ts'

const PREFIX = /^(?:\/[\w.~-]+)*$/

const httpTable = <const Url extends string, const Prefix extends string>(url: Url, prefix: Prefix) => ({
  /**
   * Base URL of the area. A path prefix is allowed (row 1 of unknowns.md). Default:
   * `https://subscriptions.mandatekit.test` for area S, `https://gateway.mandatekit.test` for area G.
   */
  baseUrl: option(
    input('an absolute http or https URL without credentials, a query or a fragment', isBase),
    url,
  ),
  /** Version prefix of the paths (row 49). Default: `/api/v1.0` in area S, `/api/v1` in area G. */
  apiPrefix: option(
    input('a path such as /api/v2 without a slash at its end', (value) => PREFIX.test(value)),
    prefix,
  ),
  /**
   * With `json`, the mock responds with 415 to a body whose Content-Type is not `application/json` (row 3). With `any`,
   * the mock ignores the Content-Type. Default: `json`.
   */
  contentType: option(oneOf(['json', 'any']), 'json'),
})

/** A receiver of a mock's notifications. */
export interface NotifyOptions extends DeliveryOptions {
  /** A handler in this process, or the absolute URL of the receiver. */
  readonly to: NotificationTarget
}

const subscriptionsHttp = {
  ...httpTable('https://subscriptions.mandatekit.test', SUBSCRIPTIONS_API_PREFIX),
  /** Variants of successful responses, for example with ids as numbers (row 44). Default: none. */
  variant: option(
    either(
      listOf(oneOf(variantForms)),
      rule<Exclude<Variant, readonly unknown[]>>('a function', (value) => typeof value === 'function'),
    ),
    [],
  ),
  /** Receivers of the mock's notifications (row 45). `mock.reset` keeps them. Default: none. */
  notify: option(listOf<NotifyOptions>(strict({ to: target, ...deliveryOptions }, 'option')), []),
}
const gatewayHttp = httpTable('https://gateway.mandatekit.test', GATEWAY_API_PREFIX)

/** The HTTP options of area G. */
export interface AreaHttpOptions extends OptionsOf<typeof gatewayHttp> {}
/** The HTTP options of area S. */
export interface SubscriptionsHttpOptions extends OptionsOf<typeof subscriptionsHttp> {}

const own = {
  /** `'spec'` (default) enforces only the specification. `'strict'` adds the restrictions marked ✎ in unknowns.md. */
  rules: option(oneOf(['spec', 'strict']), 'spec'),
  /**
   * The seed for identifiers and random faults. The same seed gives the same results. Default: `mandatekit`.
   */
  seed: option(either(anyText, number()), 'mandatekit'),
  /** `'system'` (default) follows the machine's time or fake timers. Pass a time to start with a frozen clock. */
  clock: option(either(oneOf(['system']), pointInTime), 'system'),
  /** On a frozen clock, `clock.sleep` moves the clock (`'jump'`, default) or waits until a test moves it (`'wait'`). */
  sleep: option(oneOf(['jump', 'wait']), 'jump'),
  /**
   * The clock for rate limits and their headers Retry-After and X-RateLimit-Reset. Default: `'mock'`. Choose
   * `'machine'` if callers use the machine's time while the mock's clock is frozen. While a server runs with a frozen
   * clock, the default rate limits are off; limits that you set still apply.
   */
  rateLimitTime: option(oneOf(['mock', 'machine']), 'mock'),
  /** Maximum number of entries in each log: requests, notifications, deliveries. Default: 10 000. */
  logSize: option(wholeNumber(1), 10_000),
  /**
   * Faults of a new mock, such as `[{ operation: 'gateway.health', kind: 'html' }]`. `mock.reset` restores them. See
   * `faults.add`. Default: none.
   */
  faults: option(listOf(faultSchema), []),
}

/** The options of `createMock`, all of them optional. */
export interface MockOptions extends Partial<OptionsOf<typeof own>> {
  /** Options of area S. */
  readonly subscriptions?: Partial<SubscriptionsOptions & SubscriptionsHttpOptions>
  /** Options of area G. */
  readonly gateway?: Partial<GatewayOptions & AreaHttpOptions>
}

/** The defaults of area S's HTTP options. */
export const subscriptionsHttpDefaults = defaultsOf(subscriptionsHttp)
/** The defaults of area G's HTTP options. */
export const gatewayHttpDefaults = defaultsOf(gatewayHttp)
/** The defaults of the options that belong to no area. */
export const mockDefaults = defaultsOf(own)

const mockTable = { ...own, subscriptions: option(plainObject, {}), gateway: option(plainObject, {}) }

/** The names of the top-level options of `createMock`. */
export const mockOptionNames: readonly string[] = Object.keys(mockTable)

/** The checked options of a mock, with all defaults filled in. */
export interface ReadOptions extends OptionsOf<typeof own> {
  readonly subscriptions: SubscriptionsOptions & SubscriptionsHttpOptions
  readonly gateway: GatewayOptions & AreaHttpOptions
}

/** The tables of all options. The key of a table, such as `gateway.`, is the prefix of its options' names. */
export const optionTables = {
  '': own,
  'subscriptions.': { ...subscriptionsHttp, ...subscriptionsTable },
  'gateway.': { ...gatewayHttp, ...gatewayTable },
}

/** Checks options and fills in defaults. Throws a TypeError that names an invalid option and its allowed values. */
export const readMockOptions = (given: MockOptions): ReadOptions => {
  const options = readOptions(mockTable, 'spec', check(plainObject, given, '', 'options'))
  const areaOf = <Area extends 'subscriptions' | 'gateway'>(area: Area) => {
    const read = readOptions(optionTables[`${area}.`], options.rules, options[area], area)
    return { ...read, baseUrl: normalizedBase(read.baseUrl) }
  }
  return { ...options, subscriptions: areaOf('subscriptions'), gateway: areaOf('gateway') }
}
