import type { KnownCycle } from '../../../src/contract/subscriptions.ts'
import type { Check, Rules } from '../check-options.ts'
import {
  absoluteUrl,
  anyText,
  assertOptions,
  day,
  decimalText,
  fields,
  finiteNumber,
  flag,
  length,
  listOf,
  oneOf,
  orFalse,
  pattern,
  pointInTime,
  present,
  text,
  timeOfDay,
  wholeNumber,
} from '../check-options.ts'
import type { Duration } from '../duration.ts'
import { CYCLE_DAYS } from './schedule.ts'

/** Outcome of one scripted payment. */
export type PaymentScript = 'succeed' | 'fail'

/** A point in time: a Date, milliseconds since 1970, or ISO 8601 text with its zone. */
export type PointInTime = Date | number | string

/** A subscription that exists without having been asked for. Only cycle, amount, start and end are needed. */
export interface SeedSubscription {
  /** Fields of S1; ✎ rules and the cut-off of the start are not applied. */
  readonly request: {
    /** First day, `YYYY-MM-DD`; it may lie in the past. */
    readonly start: string
    /** Last day, `YYYY-MM-DD`, on or after the start. */
    readonly end: string
    /** `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
    readonly cycle: KnownCycle
    /** What is paid each cycle: decimal text such as `25.00`. */
    readonly amount: string
    /** The merchant that it belongs to; by default the first one. */
    readonly clientID?: string
    /** By default an identifier is made. */
    readonly requestID?: string
    /** By default `https://merchant.example/return`. */
    readonly userReturnURL?: string
  }
  /** By default an identifier is made. */
  readonly invoiceId?: string
  /** By default an identifier is made. */
  readonly subscriptionId?: string
  /** By default the time now, or that of the authorization when it is earlier. */
  readonly createdAt?: PointInTime
  /**
   * When the payer authorized it: between creation and now, by default at its creation; `false`: not yet. Payments that fell due since then
   * have been made, silently: no notification tells of them.
   */
  readonly authorizedAt?: PointInTime | false
  /** Outcomes of its payments from the first on; then all succeed. */
  readonly payments?: readonly PaymentScript[]
}

/** A token that is known without a login. */
export interface SeedToken {
  /** The access token, as calls carry it in `Authorization: Bearer …`. */
  readonly accessToken: string
  /** By default an identifier is made. */
  readonly refreshToken?: string
  /** By default the first merchant. */
  readonly clientId?: string
  /** By default the merchant's first user. */
  readonly username?: string
  /** By default it lives as long as a new one. */
  readonly expiresAt?: PointInTime
}

/** Checks that name every field of a type: one that is added and not checked does not compile. */
type Fields<Type> = { readonly [Name in keyof Type]-?: Check }

const merchant = fields({
  name: text,
  clientId: text,
  clientSecret: text,
  users: listOf(fields({ username: text, password: text })),
} satisfies Fields<MerchantOptions>)

const merchants: Check = (value) => {
  const found = listOf(merchant, 1)(value)
  if (found !== undefined || !Array.isArray(value)) return found
  // `clientOptions` carries the first merchant's first user.
  if (value[0].users.length === 0) {
    return { at: '[0].users', must: 'a list of at least 1', not: 'an empty one', isType: false }
  }
  const ids = value.map(({ clientId }: MerchantOptions) => clientId)
  const again = ids.findIndex((id, index) => ids.indexOf(id) < index)
  if (again === -1) return undefined
  return { at: `[${again}].clientId`, must: 'of one merchant alone', not: 'used twice', isType: false }
}

const timeZone: Check = (value) => {
  const found = text(value)
  if (found !== undefined) return { ...found, must: 'an IANA time zone such as Asia/Dhaka' }
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: String(value) })
    return undefined
  } catch {
    // The platform's words name neither the option nor what to write.
    const not = JSON.stringify(value)
    return { at: '', must: 'an IANA time zone such as Asia/Dhaka', not, isType: false }
  }
}

/** Outcomes of payments, as a payer scripts them. */
export const paymentScripts: Check = listOf(oneOf('succeed', 'fail'))

/** What `add` and the option `existing` take. */
export const seedSubscription: Check = fields(
  {
    request: fields(
      {
        start: day,
        end: day,
        cycle: oneOf(...Object.keys(CYCLE_DAYS)),
        amount: decimalText,
      },
      { clientID: text, requestID: text, userReturnURL: absoluteUrl },
    ),
  },
  {
    invoiceId: text,
    subscriptionId: text,
    createdAt: pointInTime,
    authorizedAt: orFalse(pointInTime),
    payments: paymentScripts,
  } satisfies Omit<Fields<SeedSubscription>, 'request'>,
)

const tokenFields = {
  accessToken: text,
  refreshToken: text,
  clientId: text,
  username: text,
  expiresAt: pointInTime,
} satisfies Fields<SeedToken>
const { accessToken, ...moreOfToken } = tokenFields
/** What `add` and the option `tokens` take. */
export const seedToken: Check = fields({ accessToken }, moreOfToken)

const errorCodes = {
  success: anyText,
  invalid: anyText,
  not_found: anyText,
  duplicate_request: anyText,
  state: anyText,
  client_mismatch: anyText,
  unauthorized: anyText,
  locked_out: anyText,
  rate_limited: anyText,
  internal: anyText,
} satisfies Fields<ErrorCodes>

const pagingFields = fields({
  defaultSize: wholeNumber(1),
  maxSize: wholeNumber(1),
  ignore: listOf(oneOf('page', 'per_page')),
} satisfies Fields<SubscriptionsOptions['paging']>)

const paging: Check = (value) => {
  const found = pagingFields(value)
  if (found !== undefined) return found
  const { defaultSize, maxSize } = value as SubscriptionsOptions['paging']
  if (defaultSize <= maxSize) return undefined
  return { at: '.defaultSize', must: `at most maxSize, ${maxSize}`, not: String(defaultSize), isType: false }
}

/** The check of each option of area S. */
export const subscriptionsChecks: Fields<SubscriptionsOptions> = {
  merchants,
  unknownFields: oneOf('ignore', 'refuse'),
  requestTtl: orFalse(length),
  pendingSubscriptionId: oneOf('issued', 'NA', '', 'omit'),
  enabledValues: fields({ active: finiteNumber, inactive: finiteNumber }),
  timeZone,
  startCutoff: orFalse(timeOfDay),
  pastStart: oneOf('accept', 'refuse'),
  maxEnd: orFalse(fields({ from: oneOf('start', 'today'), days: wholeNumber(0) })),
  amountPattern: pattern,
  duplicateRequest: oneOf('accept', 'refuse'),
  clientMismatch: oneOf('accept', 'refuse'),
  debitTime: timeOfDay,
  dunning: fields({ retries: wholeNumber(0), everyDays: wholeNumber(1) }),
  nextPaymentDateAfterEnd: oneOf('date', 'null'),
  cancelDelay: length,
  cancelTwice: oneOf('same', 'refuse'),
  tokenTtl: length,
  refresh: oneOf('rotate', 'reuse', 'reject'),
  lockout: orFalse(
    fields({
      attempts: wholeNumber(1),
      windowSeconds: wholeNumber(1),
      durationSeconds: wholeNumber(1),
    }),
  ),
  errorCodes: fields({}, errorCodes),
  validationStatus: oneOf(200, 400, 409, 422),
  errorsAs200: flag,
  notFoundStatus: oneOf(200, 400, 404),
  paging,
  rateLimit: orFalse(fields({ limit: wholeNumber(0), windowMs: wholeNumber(1) })),
  sendRetryAfter: flag,
  tokenEnvelope: flag,
  existing: listOf(seedSubscription),
  tokens: listOf(seedToken),
}

/** A merchant who may log in. */
export interface MerchantOptions {
  /** The name that the payer sees. */
  readonly name: string
  /** `client_id` of its logins. `defaultMerchant` has `mock-client`. */
  readonly clientId: string
  /** `client_secret` of its logins. `defaultMerchant` has `mock-client-secret`. */
  readonly clientSecret: string
  /** Who may log in for it; `clientOptions` has the first. */
  readonly users: readonly {
    /** Name of the login; failures are counted for it (row 35). `defaultMerchant` has `mock-user`. */
    readonly username: string
    /** Password of the login. `defaultMerchant` has `mock-password`. */
    readonly password: string
  }[]
}

/** The merchant of a mock that was told of no other. Its credentials are fixed and documented: they protect nothing. */
export const defaultMerchant = {
  name: 'Example Shop',
  clientId: 'mock-client',
  clientSecret: 'mock-client-secret',
  users: [{ username: 'mock-user', password: 'mock-password' }],
} as const satisfies MerchantOptions

/** The errorCode of each kind of answer (row 38); the specification shows `00` alone. */
export const defaultErrorCodes = {
  /** Everything went well (Errors, area S). Default: `00`. */
  success: '00',
  /** A field breaks a rule (row 38). Default: `01`. */
  invalid: '01',
  /** An unknown identifier, or another merchant's (row 38). Default: `02`. */
  not_found: '02',
  /** A requestID that was used before (rows 20 and 38). Default: `03`. */
  duplicate_request: '03',
  /** What the state does not allow, such as `cancelTwice: 'refuse'` (row 38). Default: `04`. */
  state: '04',
  /** A clientID other than that of the token (rows 21 and 38). Default: `05`. */
  client_mismatch: '05',
  /** Missing or wrong credentials, with HTTP status 401 (row 38). Default: `401`. */
  unauthorized: '401',
  /** Logins are locked, with HTTP status 403 (row 38). Default: `403`. */
  locked_out: '403',
  /** Too many calls, with HTTP status 429 (row 38). Default: `429`. */
  rate_limited: '429',
  /** Any other error, such as HTTP status 500 (row 38). Default: `99`. */
  internal: '99',
} as const

/** The errorCode of each kind of answer. */
export type ErrorCodes = { readonly [Kind in keyof typeof defaultErrorCodes]: string }

/** What the mock of area S can be told. Rows are those of the table of things the specification does not show. */
export interface SubscriptionsOptions {
  /** The merchants; each sees its own requests and subscriptions alone. Default: `defaultMerchant`. */
  readonly merchants: readonly MerchantOptions[]
  /** Fields that the specification does not name (row 4 ✎). Default: `ignore`; under strict rules: `refuse`. */
  readonly unknownFields: 'ignore' | 'refuse'
  /** After what time an unanswered request expires (row 10); `false`: never. Default: 24 hours. */
  readonly requestTtl: Duration | false
  /** What the status answer shows as subscriptionId before the payer has authorized (row 11). Default: `issued`. */
  readonly pendingSubscriptionId: 'issued' | 'NA' | '' | 'omit'
  /** The values of `enabled` (row 12). */
  readonly enabledValues: {
    /** While payments are to be expected. Default: 1. */
    readonly active: number
    /** Before the authorization, and once it has ended or was cancelled. Default: 0. */
    readonly inactive: number
  }
  /** IANA time zone of the times without a zone, of days, and of the cut-off (row 14). Default: `UTC`. */
  readonly timeZone: string
  /**
   * Time of day, `HH:MM:SS`, from whose next second on today is refused as start (row 15); `false`: never. Default:
   * `23:30:00`.
   */
  readonly startCutoff: string | false
  /** A start before today (row 16 ✎). Default: `accept`; under strict rules: `refuse`. */
  readonly pastStart: 'accept' | 'refuse'
  /** How many days after the start, or after today, the end may lie (row 18); `false`: any number. */
  readonly maxEnd:
    | {
        /** The day that is counted from. Default: `start`. */
        readonly from: 'start' | 'today'
        /** The number of the last day that is taken. Default: 730. */
        readonly days: number
      }
    | false
  /**
   * What the text of an amount must match, besides being above zero (row 19 ✎). Default: `/^\d+(\.\d+)?$/`; under
   * strict rules: `/^\d+(\.\d{1,2})?$/`.
   */
  readonly amountPattern: RegExp
  /** A requestID that the merchant has used before (row 20 ✎). Default: `accept`; under strict rules: `refuse`. */
  readonly duplicateRequest: 'accept' | 'refuse'
  /** A clientID other than that of the token (row 21 ✎). Default: `accept`; under strict rules: `refuse`. */
  readonly clientMismatch: 'accept' | 'refuse'
  /** Time of day, `HH:MM:SS`, at which payments are made (row 23). Default: `12:00:00`. */
  readonly debitTime: string
  /** How often, and how many days apart, a failed payment is tried again (row 24). No try is made after the end. */
  readonly dunning: {
    /** How many further tries there are. Default: 0. */
    readonly retries: number
    /** How many days lie between two tries, from 1. Default: 1. */
    readonly everyDays: number
  }
  /** nextPaymentDate when none follows: the date that would have been next, or null (row 25). Default: `date`. */
  readonly nextPaymentDateAfterEnd: 'date' | 'null'
  /**
   * How long a cancellation is PROCESSING (row 27). The subscription goes on until it is processed: a payment that
   * falls due in between is made. Default: 0 seconds.
   */
  readonly cancelDelay: Duration
  /** Cancelling again, and cancelling what has ended: the same record, or a refusal (row 28). Default: `same`. */
  readonly cancelTwice: 'same' | 'refuse'
  /** How long an access token lives (row 33). Default: 3600 seconds. */
  readonly tokenTtl: Duration
  /** What the refresh grant does: a new refresh token, the same one, or a refusal (row 34). Default: `rotate`. */
  readonly refresh: 'rotate' | 'reuse' | 'reject'
  /**
   * How many failures of one username within how long lock it, and for how long (row 35); `false`: never. The failure
   * that completes the count is still answered 401.
   */
  readonly lockout:
    | {
        /** How many failures lock the username. Default: 5. */
        readonly attempts: number
        /** Within how many seconds they must lie. Default: 60. */
        readonly windowSeconds: number
        /** For how many seconds it is locked. Default: 900. */
        readonly durationSeconds: number
      }
    | false
  /** The errorCodes (row 38); those left out keep their defaults. */
  readonly errorCodes: Partial<ErrorCodes>
  /** HTTP status of a refused field (row 39). Default: `422`. */
  readonly validationStatus: 200 | 400 | 409 | 422
  /** Whether refusals other than 401, 403 and 429 are answered 200 with their errorCode (row 39). Default: `false`. */
  readonly errorsAs200: boolean
  /** HTTP status of an unknown identifier (row 40). Default: `404`. */
  readonly notFoundStatus: 200 | 400 | 404
  /** Paging of the payment list (row 41). */
  readonly paging: {
    /** How many payments a page holds when `per_page` does not say. Default: 10. */
    readonly defaultSize: number
    /** How many payments a page holds at most. Default: 100. */
    readonly maxSize: number
    /** What of the query is not looked at: some endpoints ignore per_page (Limits, Pagination). Default: none. */
    readonly ignore: readonly ('page' | 'per_page')[]
  }
  /** Calls of one client_id in a window (row 42); `false`: any number. */
  readonly rateLimit:
    | {
        /** How many calls are accepted in a window. Default: 600. */
        readonly limit: number
        /** Length of the window, in milliseconds. Default: 60 000. */
        readonly windowMs: number
      }
    | false
  /** Whether a 429 carries Retry-After (row 43). Default: `false`. */
  readonly sendRetryAfter: boolean
  /** Whether the token answer carries errorCode and errorMessage (row 50). Default: `true`. */
  readonly tokenEnvelope: boolean
  /** Subscriptions that exist from the start, and again after a reset. Default: none. */
  readonly existing: readonly SeedSubscription[]
  /** Tokens that are known from the start, and again after a reset. Default: none. */
  readonly tokens: readonly SeedToken[]
}

/** The defaults under `rules: 'spec'`. */
export const subscriptionsDefaults = {
  merchants: [defaultMerchant],
  unknownFields: 'ignore',
  requestTtl: { hours: 24 },
  pendingSubscriptionId: 'issued',
  enabledValues: { active: 1, inactive: 0 },
  timeZone: 'UTC',
  startCutoff: '23:30:00',
  pastStart: 'accept',
  maxEnd: { from: 'start', days: 730 },
  amountPattern: /^\d+(\.\d+)?$/,
  duplicateRequest: 'accept',
  clientMismatch: 'accept',
  debitTime: '12:00:00',
  dunning: { retries: 0, everyDays: 1 },
  nextPaymentDateAfterEnd: 'date',
  cancelDelay: { seconds: 0 },
  cancelTwice: 'same',
  tokenTtl: { seconds: 3600 },
  refresh: 'rotate',
  lockout: { attempts: 5, windowSeconds: 60, durationSeconds: 900 },
  errorCodes: defaultErrorCodes,
  validationStatus: 422,
  errorsAs200: false,
  notFoundStatus: 404,
  paging: { defaultSize: 10, maxSize: 100, ignore: [] },
  rateLimit: { limit: 600, windowMs: 60_000 },
  sendRetryAfter: false,
  tokenEnvelope: true,
  existing: [],
  tokens: [],
} as const satisfies SubscriptionsOptions

/** What `rules: 'strict'` changes in the defaults; an option that is given still wins. */
export const strictSubscriptionsDefaults = {
  unknownFields: 'refuse',
  pastStart: 'refuse',
  amountPattern: /^\d+(\.\d{1,2})?$/,
  duplicateRequest: 'refuse',
  clientMismatch: 'refuse',
} as const satisfies Partial<SubscriptionsOptions>

/**
 * The options with everything that was left out filled in.
 *
 * @throws TypeError or RangeError when an option makes no sense; the message names it.
 */
export const subscriptionsOptions = (
  rules: Rules,
  given: Partial<SubscriptionsOptions> = {},
): SubscriptionsOptions => {
  assertOptions('subscriptions', given, subscriptionsChecks)
  return {
    ...subscriptionsDefaults,
    ...(rules === 'strict' ? strictSubscriptionsDefaults : {}),
    ...present(given),
    errorCodes: { ...defaultErrorCodes, ...present(given.errorCodes ?? {}) },
  }
}
