import type { Input } from '../../src/contract/fields.ts'
import { filledText, INT64, input, oneOf, optional, wholeNumber } from '../../src/contract/fields.ts'
import {
  absoluteUrl,
  accepts,
  code,
  defaultsOf,
  flag,
  headerText,
  listOf,
  type OptionsOf,
  option,
  orFalse,
  rule,
  strict,
  strictOf,
  tableOf,
} from '../base/fields.ts'
import { duration, pointInTime } from '../time/duration.ts'
import { behaviorNames, testNumberTable } from './behaviors.ts'

const text = filledText()

const identifier = (prefix: string) => {
  const pattern = `^${prefix}[\\w-]+$`
  return input(`an identifier that begins with ${prefix}`, (value) => new RegExp(pattern).test(value), {
    pattern,
  })
}

/** The default outcome of a seeded charge, by status. */
export const DEFAULT_OUTCOMES = {
  pending_confirmation: 'PENDING',
  pending_retry: 'RETRYING',
  succeeded: 'SUCCEEDED',
  failed: 'INSUFFICIENT_FUNDS',
  expired: 'EXPIRED',
} as const

const seedCharge = {
  /** Identifier of the charge, which begins with `ch_`. Default: a new identifier. */
  id: optional(identifier('ch_')),
  /** Identifier of the confirmation, which begins with `conf_`. Default: a new identifier. */
  confirmation_id: optional(identifier('conf_')),
  /** The payer's mobile number, as a string. */
  msisdn: text,
  /** The amount, a whole number. The mock never multiplies or divides the amount (row 60). */
  amount: rule<number>('a whole number', Number.isSafeInteger, INT64),
  /** Currency code such as `BDT`. */
  currency: text,
  /** Absolute URL to which the payer returns. Default: `https://merchant.example/return`. */
  redirect_uri: optional(absoluteUrl),
  /** Status of the charge. Default: `succeeded`. */
  status: optional(oneOf(['pending_confirmation', 'pending_retry', 'succeeded', 'failed', 'expired'])),
  /** Outcome. The default depends on `status`: for `failed`, it is `INSUFFICIENT_FUNDS`. */
  outcome: optional(
    oneOf(['PENDING', 'SUCCEEDED', 'INSUFFICIENT_FUNDS', 'WALLET_BLOCKED', 'RETRYING', 'EXPIRED']),
  ),
  /** Creation time: ISO 8601 with a time zone, such as `2026-11-28T12:00:00Z`. Default: now. */
  created_at: optional(input('ISO 8601 text with its zone', (value) => accepts(pointInTime, value))),
  /** Only for a renewal: identifier of the renewed charge. */
  mandate_id: optional(text),
}
/** A charge that exists when a mock starts. By default, the charge has just succeeded. */
export interface SeedCharge extends Input<typeof seedCharge> {}

const rollingLimit = {
  /** How many calls are accepted in a window (row 78). Default: 120. */
  limit: wholeNumber(0),
  /** Length of the window, in milliseconds (row 78). Default: 60 000. */
  windowMs: wholeNumber(1),
}
/** A rolling rate limit: at most `limit` calls are accepted in any period of `windowMs` milliseconds. */
export interface RollingLimit extends Input<typeof rollingLimit> {}

const behavior = oneOf(behaviorNames)

/** The gateway's options (area G). Row numbers refer to the tables of docs/unknowns.md. */
export const gatewayTable = {
  /** The API keys that are accepted (Authentication, area G). Default: `mock-api-key`. */
  apiKeys: option(listOf(headerText, 1), ['mock-api-key']),
  /** The correct one-time code of every charge (G confirm). Default: `123456`. */
  otp: option(code, '123456'),
  /** Maps phone numbers, with or without a leading plus, to behaviors (row 61). Default: `testNumbers`. */
  testNumbers: option(tableOf(behavior), testNumberTable),
  /** Behavior of each number that is not in the option `testNumbers` (row 61). Default: `succeeds`. */
  defaultBehavior: option(behavior, 'succeeds'),
  /** Whether a number outside `testNumbers` may be charged (row 61). Default: `accept`; strict rules: `refuse`. */
  unlistedNumbers: option(oneOf(['accept', 'refuse']), 'accept', { strict: 'refuse' }),
  /** How long a charge stays in pending_retry (row 63); `false`: forever. Default: 24 hours. */
  retryDelay: option(orFalse(duration), { hours: 24 }),
  /** How long a charge waits for its confirmation before it expires (row 64); `false`: forever. Default: 24 hours. */
  confirmationTtl: option(orFalse(duration), { hours: 24 }),
  /** Response to a correct code: the charge, only its id and status, or an empty 204 (row 66). Default: `charge`. */
  confirmResponse: option(oneOf(['charge', 'status', 'empty']), 'charge'),
  /** Response of the operation `status`: the whole charge, or only its status (row 67). Default: `charge`. */
  statusResponse: option(oneOf(['charge', 'status']), 'charge'),
  /**
   * Allowed redirect addresses (row 69). An empty list (default) allows every address. An address is allowed if
   * an entry has the same scheme and host, and the same path or a parent path.
   */
  redirectAllowlist: option(listOf(absoluteUrl), []),
  /** Response if a used idempotency key comes with another body (row 72). Default: `replay`; strict rules: `reject`. */
  keyReuse: option(oneOf(['replay', 'reject']), 'replay', { strict: 'reject' }),
  /**
   * Response while an earlier request with the same idempotency key still runs (row 73a). `wait` (default): the
   * response of the earlier request, as soon as it ends. `conflict`: 409 with `idempotency_key_in_use`.
   */
  keyInFlight: option(oneOf(['wait', 'conflict']), 'wait'),
  /** How long the mock stores an idempotency key (row 73); `false`: until a reset. Default: `false`. */
  keyTtl: option(orFalse(duration), false),
  /** Whether `renew` accepts the id of a succeeded renewal (row 75). Default: `true`; under strict rules: `false`. */
  renewalsAsMandates: option(flag, true, { strict: false }),
  /** The number of wrong codes after which a charge expires (row 77); `false`: no limit. Default: `false`. */
  maxOtpAttempts: option(orFalse(wholeNumber(1)), false),
  /** The rate limit for all routes and callers together (row 78); `false`: no limit. */
  rateLimit: option(orFalse<RollingLimit>(strict(rollingLimit, 'option')), { limit: 120, windowMs: 60_000 }),
  /**
   * Input checks of a charge (row 82). `formats` also requires a phone number of at least 7 digits, an amount above
   * zero and an ISO 4217 currency. Default: `types`; strict rules: `formats`.
   */
  inputRules: option(oneOf(['types', 'formats']), 'types', { strict: 'formats' }),
  /**
   * Name of a query parameter, such as `charge_id`, in which the mock adds the charge's id to `redirect_uri` when the
   * payer returns (row 83). `false` (default): the mock adds nothing.
   */
  returnParameter: option(orFalse(text), false),
  /**
   * Whether an API key can read, confirm, renew and reset all charges, or only its own charges (row 84). The charges
   * of the option `charges` belong to the first key in `apiKeys`. Default: `all`.
   */
  apiKeyScope: option(oneOf(['all', 'own']), 'all'),
  /** Whether the mock ignores or refuses unknown fields (row 4). Default: `ignore`; strict rules: `refuse`. */
  unknownFields: option(oneOf(['ignore', 'refuse']), 'ignore', { strict: 'refuse' }),
  /** Initial charges, which the API's `reset` deletes and `mock.reset()` restores. Default: none. */
  charges: option(listOf<SeedCharge>(strict(seedCharge)), []),
}

/** The mock's options for the gateway (area G). Row numbers refer to the tables of docs/unknowns.md. */
export interface GatewayOptions extends OptionsOf<typeof gatewayTable> {}

/** The defaults under `rules: 'spec'`. */
export const gatewayDefaults = defaultsOf(gatewayTable)

/** The defaults under `rules: 'strict'`, where they differ from those under `rules: 'spec'`. */
export const strictGatewayDefaults = strictOf(gatewayTable)
