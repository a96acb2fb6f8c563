import type { Check, Rules } from '../check-options.ts'
import {
  absoluteUrl,
  assertOptions,
  code,
  fields,
  flag,
  headerText,
  length,
  listOf,
  oneOf,
  orFalse,
  present,
  tableOf,
  text,
  wholeNumber,
} from '../check-options.ts'
import type { Duration } from '../duration.ts'
import type { BehaviorName, NumberTable } from './behaviors.ts'
import { behaviors, testNumberTable } from './behaviors.ts'
import type { SeedCharge } from './seeds.ts'
import { seedCharge } from './seeds.ts'

const behavior = oneOf(...Object.keys(behaviors))

/** The check of each option of area G: one that is added and not checked does not compile. */
export const gatewayChecks: { readonly [Name in keyof GatewayOptions]-?: Check } = {
  apiKeys: listOf(headerText, 1),
  otp: code,
  testNumbers: tableOf(text, behavior),
  defaultBehavior: behavior,
  unlistedNumbers: oneOf('accept', 'refuse'),
  retryDelay: orFalse(length),
  confirmationTtl: orFalse(length),
  confirmAnswer: oneOf('charge', 'status', 'empty'),
  statusAnswer: oneOf('charge', 'status'),
  redirectAllowlist: listOf(absoluteUrl),
  keyReuse: oneOf('replay', 'reject'),
  keyTtl: orFalse(length),
  renewalsAsMandates: flag,
  maxOtpAttempts: orFalse(wholeNumber(1)),
  rateLimit: orFalse(fields({ limit: wholeNumber(0), windowMs: wholeNumber(1) })),
  inputRules: oneOf('types', 'formats'),
  unknownFields: oneOf('ignore', 'refuse'),
  charges: listOf(seedCharge),
}

/** A rolling limit: so many accepted calls in so many milliseconds. */
export interface RollingLimit {
  /** How many calls are accepted in a window (row 78). Default: 120. */
  readonly limit: number
  /** Length of the window, in milliseconds (row 78). Default: 60 000. */
  readonly windowMs: number
}

/** What the mock of area G can be told. Rows are those of the table of things the specification does not show. */
export interface GatewayOptions {
  /** The API keys that are accepted (Authentication, area G). Default: `mock-api-key`. */
  readonly apiKeys: readonly string[]
  /** The one-time code that is right for every charge (G confirm). Default: `123456`. */
  readonly otp: string
  /**
   * Number → behavior (row 61). A leading plus does not matter. Replaces the built-in table. Default: the numbers of
   * `testNumbers`.
   */
  readonly testNumbers: NumberTable
  /** Behavior of every number that is not listed (row 61). Default: `succeeds`. */
  readonly defaultBehavior: BehaviorName
  /** Whether a number that is not listed may be charged (row 61 ✎). Default: `accept`; under strict rules: `refuse`. */
  readonly unlistedNumbers: 'accept' | 'refuse'
  /** How long after a charge went to pending_retry it resolves (row 63); `false`: never. Default: 24 hours. */
  readonly retryDelay: Duration | false
  /** After what time an unconfirmed charge expires (row 64); `false`: never. Default: 24 hours. */
  readonly confirmationTtl: Duration | false
  /**
   * Answer of a correct confirmation: the whole charge, id and status, or 204 without a body (row 66). Default:
   * `charge`.
   */
  readonly confirmAnswer: 'charge' | 'status' | 'empty'
  /** Answer of the charge status: the whole charge, or its status alone (row 67). Default: `charge`. */
  readonly statusAnswer: 'charge' | 'status'
  /**
   * Redirect addresses that are allowed; empty allows all (row 69). An entry allows its own scheme and host, and paths
   * that equal its path or lie below it. Default: none.
   */
  readonly redirectAllowlist: readonly string[]
  /**
   * What a used key with another body gets: the first answer, or a refusal (row 72 ✎). Default: `replay`; under strict
   * rules: `reject`.
   */
  readonly keyReuse: 'replay' | 'reject'
  /** How long a key is remembered (row 73); `false`: until reset. Default: `false`. */
  readonly keyTtl: Duration | false
  /** Whether a succeeded renewal may itself be renewed (row 75 ✎). Default: `true`; under strict rules: `false`. */
  readonly renewalsAsMandates: boolean
  /** Wrong codes after which a charge expires (row 77); `false`: no limit. Default: `false`. */
  readonly maxOtpAttempts: number | false
  /** The limiter over all routes and callers (row 78); `false`: none. */
  readonly rateLimit: RollingLimit | false
  /**
   * Input of a charge: the stated types only, or also E.164, amount > 0 and ISO 4217 (row 82 ✎). Default: `types`;
   * under strict rules: `formats`.
   */
  readonly inputRules: 'types' | 'formats'
  /** Fields that the specification does not name (row 4 ✎). Default: `ignore`; under strict rules: `refuse`. */
  readonly unknownFields: 'ignore' | 'refuse'
  /** Charges that exist from the start; a reset clears them, a restart brings them back. Default: none. */
  readonly charges: readonly SeedCharge[]
}

/** The defaults under `rules: 'spec'`. */
export const gatewayDefaults = {
  apiKeys: ['mock-api-key'],
  otp: '123456',
  testNumbers: testNumberTable,
  defaultBehavior: 'succeeds',
  unlistedNumbers: 'accept',
  retryDelay: { hours: 24 },
  confirmationTtl: { hours: 24 },
  confirmAnswer: 'charge',
  statusAnswer: 'charge',
  redirectAllowlist: [],
  keyReuse: 'replay',
  keyTtl: false,
  renewalsAsMandates: true,
  maxOtpAttempts: false,
  rateLimit: { limit: 120, windowMs: 60_000 },
  inputRules: 'types',
  unknownFields: 'ignore',
  charges: [],
} as const satisfies GatewayOptions

/** What `rules: 'strict'` changes in the defaults; an option that is given still wins. */
export const strictGatewayDefaults = {
  unlistedNumbers: 'refuse',
  keyReuse: 'reject',
  renewalsAsMandates: false,
  inputRules: 'formats',
  unknownFields: 'refuse',
} as const satisfies Partial<GatewayOptions>

/**
 * The options with everything that was left out filled in.
 *
 * @throws TypeError or RangeError when an option makes no sense; the message names it.
 */
export const gatewayOptions = (rules: Rules, given: Partial<GatewayOptions> = {}): GatewayOptions => {
  assertOptions('gateway', given, gatewayChecks)
  return { ...gatewayDefaults, ...(rules === 'strict' ? strictGatewayDefaults : {}), ...present(given) }
}
