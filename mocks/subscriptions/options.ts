import type { Input } from '../../src/contract/fields.ts'
import {
  anyText,
  input,
  inputDate,
  oneOf,
  optional,
  refined,
  wholeNumber,
} from '../../src/contract/fields.ts'
import { CYCLES, dayNumber, isAmountText } from '../../src/contract/formats.ts'
import {
  absoluteUrl,
  also,
  defaultsOf,
  filled,
  flag,
  listOf,
  literals,
  number,
  type OptionsOf,
  option,
  orFalse,
  pattern,
  type Rule,
  strict,
  strictOf,
} from '../base/fields.ts'
import { attempt } from '../base/result.ts'
import { parseTimeOfDay } from '../time/calendar.ts'
import { duration, pointInTime } from '../time/duration.ts'

/** The outcome that a test sets for one payment. */
export type PaymentScript = 'succeed' | 'fail'

/** Accepts a list of outcomes for the next payments. */
export const paymentScripts = listOf(oneOf(['succeed', 'fail']))

const seedRequest = {
  /** First day of the subscription, `YYYY-MM-DD`. It may be in the past. */
  start: inputDate,
  /** Last day of the subscription, `YYYY-MM-DD`, on or after the start. */
  end: inputDate,
  /** Payment cycle: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  cycle: oneOf(CYCLES),
  /** Amount per cycle: decimal text such as `25.00`. */
  amount: input('decimal text above zero such as "25.00"', isAmountText, {
    pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?$',
  }),
  /** Client id of the subscription's merchant. Default: the first merchant. */
  clientID: optional(filled),
  /** Identifier that the merchant gave the request. Default: a new identifier. */
  requestID: optional(filled),
  /** URL to which the payer returns. Default: `https://merchant.example/return`. */
  userReturnURL: optional(absoluteUrl),
}
const seedSubscription = {
  /** The request's fields (S1). Options that restrict requests, such as `startCutoff` and `maxEnd`, do not apply. */
  request: refined(
    strict(seedRequest),
    ({ start, end }) => (dayNumber(end) ?? 0) >= (dayNumber(start) ?? 0),
    'end',
    'a date on or after start',
  ),
  /** Identifier of the request. Default: a new identifier. */
  invoiceId: optional(filled),
  /** Identifier of the subscription. Default: a new identifier. */
  subscriptionId: optional(filled),
  /** Creation time. Default: now or `authorizedAt`, whichever is earlier. */
  createdAt: optional(pointInTime),
  /**
   * Time at which the payer authorized the request, between `createdAt` and now; `false` if not authorized.
   * Default: `createdAt`. The mock adds the payments since the authorization, without notifications.
   */
  authorizedAt: optional(orFalse(pointInTime)),
  /** Outcomes of the first payments, in order. All later payments succeed. */
  payments: optional(paymentScripts),
}
/** A subscription that the mock adds without an API call. Only cycle, amount, start and end are required. */
export interface SeedSubscription extends Input<typeof seedSubscription> {}

const seedToken = {
  /** The access token, which clients send in the header `Authorization: Bearer …`. */
  accessToken: filled,
  /** The refresh token. Default: a new token. */
  refreshToken: optional(filled),
  /** Client id of the token's merchant. Default: the first merchant. */
  clientId: optional(filled),
  /** Username of the token's user. Default: the merchant's first user. */
  username: optional(filled),
  /** When the access token expires. Default: now plus the option `tokenTtl`. */
  expiresAt: optional(pointInTime),
}
/** An access token that is valid without a login. */
export interface SeedToken extends Input<typeof seedToken> {}

/** The fields of the argument of `add`. */
export const seedFields = {
  /** Subscriptions to add. */
  subscriptions: optional(listOf<SeedSubscription>(strict(seedSubscription))),
  /** Tokens to add. */
  tokens: optional(listOf<SeedToken>(strict(seedToken))),
}
/** The subscriptions and tokens that `add` accepts. */
export interface Seeds extends Input<typeof seedFields> {}
/** Checks the argument of `add`. */
export const seedsSchema = strict(seedFields)

const user = {
  /** Username of the login. Two merchants may have the same username. `defaultMerchant` has the user `mock-user`. */
  username: filled,
  /** Password of the login. `defaultMerchant` has the password `mock-password`. */
  password: filled,
}
const merchant = {
  /** The merchant's name, as the payer sees it. */
  name: filled,
  /** `client_id` of the merchant's logins. `defaultMerchant` has the id `mock-client`. */
  clientId: filled,
  /** `client_secret` of the merchant's logins. `defaultMerchant` has the secret `mock-client-secret`. */
  clientSecret: filled,
  /** Users of the merchant. `mock.clientOptions` contains the first merchant and its first user. */
  users: listOf(strict(user, 'option')),
}
/** A merchant that may log in. */
export interface MerchantOptions extends Input<typeof merchant> {}

/** The only merchant of a mock without the option `merchants`. Its credentials are public, so they protect nothing. */
export const defaultMerchant = {
  name: 'Example Shop',
  clientId: 'mock-client',
  clientSecret: 'mock-client-secret',
  users: [{ username: 'mock-user', password: 'mock-password' }],
} as const satisfies MerchantOptions

/** The errorCode of each kind of response (row 38). The specification shows only `00`. */
export const defaultErrorCodes = {
  /** Success (Errors, area S). Default: `00`. */
  success: '00',
  /** An invalid field (row 38). Default: `01`. */
  invalid: '01',
  /** An identifier that is unknown or belongs to another merchant (row 38). Default: `02`. */
  not_found: '02',
  /** A requestID that was used before (rows 20 and 38). Default: `03`. */
  duplicate_request: '03',
  /** A call that the subscription's state does not allow, such as a second cancellation (row 38). Default: `04`. */
  state: '04',
  /** A clientID that no merchant has, or that another merchant has (rows 21 and 38). Default: `05`. */
  client_mismatch: '05',
  /** Missing or wrong credentials, with HTTP status 401 (row 38). Default: `401`. */
  unauthorized: '401',
  /** The username is locked, with HTTP status 403 (row 38). Default: `403`. */
  locked_out: '403',
  /** Too many calls, with HTTP status 429 (row 38). Default: `429`. */
  rate_limited: '429',
  /** Any other error, such as HTTP status 500 (row 38). Default: `99`. */
  internal: '99',
} as const

/** The errorCode of each kind of response. */
export type ErrorCodes = { readonly [Kind in keyof typeof defaultErrorCodes]: string }

const errorCode = optional(anyText)
const errorCodes = Object.fromEntries(Object.keys(defaultErrorCodes).map((kind) => [kind, errorCode])) as {
  readonly [Kind in keyof typeof defaultErrorCodes]: typeof errorCode
}

const enabledValues = {
  /** The value of `enabled` while the subscription is active. Default: 1. */
  active: number(),
  /** The value of `enabled` before the authorization, after the end and after a cancellation. Default: 0. */
  inactive: number(),
}
const maxEnd = {
  /** The day from which `days` are counted: the subscription's start, or today. Default: `start`. */
  from: oneOf(['start', 'today']),
  /** The largest number of days between `from` and the end of a subscription. Default: 730. */
  days: wholeNumber(0),
}
const dunning = {
  /** How many times a failed payment is retried. Default: 0. */
  retries: wholeNumber(0),
  /** The number of days between two attempts, at least 1. Default: 1. */
  everyDays: wholeNumber(1),
}
const lockout = {
  /** How many failed logins lock a username. Default: 5. */
  attempts: wholeNumber(1),
  /** A username is locked after `attempts` failed logins within this number of seconds. Default: 60. */
  windowSeconds: wholeNumber(1),
  /** How long the username stays locked, in seconds. Default: 900. */
  durationSeconds: wholeNumber(1),
}
const paging = {
  /** Number of payments on a page if the request has no `per_page`. Default: 10. */
  defaultSize: wholeNumber(1),
  /** The largest number of payments on a page. Default: 100. */
  maxSize: wholeNumber(1),
  /** Query parameters that the mock ignores. Some endpoints ignore per_page (Limits, Pagination). Default: none. */
  ignore: listOf(oneOf(['page', 'per_page'])),
}
const rateLimit = {
  /** How many calls are accepted in a window. Default: 600. */
  limit: wholeNumber(0),
  /** Length of the window, in milliseconds. Default: 60 000. */
  windowMs: wholeNumber(1),
}

const merchants = also(
  listOf<MerchantOptions>(strict(merchant, 'option'), 1),
  'a list in which each clientId occurs once, and the first merchant has a user',
  (all) => all[0]?.users[0] !== undefined && new Set(all.map(({ clientId }) => clientId)).size === all.length,
)

const timeOfDay = input('a time of day in the form HH:MM:SS', (value) => parseTimeOfDay(value) !== undefined)

const isTimeZone = (timeZone: string): boolean =>
  attempt(() => new Intl.DateTimeFormat('en-US', { timeZone }) !== undefined, false)

/** The options of the subscriptions API (area S). Row numbers refer to the tables of docs/unknowns.md. */
export const subscriptionsTable = {
  /** The merchants, each of which can read only its own subscriptions and requests. Default: `defaultMerchant`. */
  merchants: option(merchants, [defaultMerchant]),
  /** How to treat fields that are not specified (row 4 ✎). Default: `ignore`; under strict rules: `refuse`. */
  unknownFields: option(oneOf(['ignore', 'refuse']), 'ignore', { strict: 'refuse' }),
  /** How long the payer can decide before a request expires (row 10); `false`: no limit. Default: 24 hours. */
  requestTtl: option(orFalse(duration), { hours: 24 }),
  /** The subscriptionId in a status response before the payer authorizes the request (row 11). Default: `issued`. */
  pendingSubscriptionId: option(oneOf(['issued', 'NA', '', 'omit']), 'issued'),
  /** The values of the response field `enabled` (row 12). */
  enabledValues: option(strict(enabledValues, 'option'), { active: 1, inactive: 0 }),
  /** IANA time zone of dates, of `startCutoff`, and of times without a zone (row 14). Default: `UTC`. */
  timeZone: option(input('an IANA time zone such as Asia/Dhaka', isTimeZone), 'UTC'),
  /**
   * Time of day, `HH:MM:SS`, after which a start on the same day is refused (row 15); `false`: never.
   * Default: `23:30:00`.
   */
  startCutoff: option(orFalse(timeOfDay), '23:30:00'),
  /** Whether to accept a start before today (row 16 ✎). Default: `accept`; under strict rules: `refuse`. */
  pastStart: option(oneOf(['accept', 'refuse']), 'accept', { strict: 'refuse' }),
  /** The latest allowed end of a subscription (row 18); `false`: no limit. */
  maxEnd: option(orFalse(strict(maxEnd, 'option')), { from: 'start', days: 730 }),
  /**
   * Pattern of an amount above zero, or the pattern's text (row 19 ✎). Default: `/^\d+(\.\d+)?$/`; under strict rules:
   * `/^\d+(\.\d{1,2})?$/`.
   */
  amountPattern: option(pattern, /^\d+(\.\d+)?$/, { strict: /^\d+(\.\d{1,2})?$/ }),
  /** Whether a merchant may reuse a requestID (row 20 ✎). Default: `accept`; under strict rules: `refuse`. */
  duplicateRequest: option(oneOf(['accept', 'refuse']), 'accept', { strict: 'refuse' }),
  /**
   * Whether a request may contain another merchant's clientID (row 21 ✎). A clientID that no merchant has is always
   * refused. Default: `accept`; under strict rules: `refuse`.
   */
  clientMismatch: option(oneOf(['accept', 'refuse']), 'accept', { strict: 'refuse' }),
  /** Time of day, `HH:MM:SS`, at which payments are made (row 23). Default: `12:00:00`. */
  debitTime: option(timeOfDay, '12:00:00'),
  /** The retries of a failed payment (row 24). The mock retries no payment after the subscription's end. */
  dunning: option(strict(dunning, 'option'), { retries: 0, everyDays: 1 }),
  /** Value of nextPaymentDate after the last payment: the cycle's next date, or null (row 25). Default: `date`. */
  nextPaymentDateAfterEnd: option(oneOf(['date', 'null']), 'date'),
  /** How long a cancellation has status PROCESSING, while payments continue (row 27). Default: 0 seconds. */
  cancelDelay: option(duration, { seconds: 0 }),
  /** Response to canceling a subscription that ended or was canceled (row 28): success or error. Default: `same`. */
  cancelTwice: option(oneOf(['same', 'refuse']), 'same'),
  /** Lifetime of an access token (row 33). Default: 3600 seconds. */
  tokenTtl: option(duration, { seconds: 3600 }),
  /** Result of the refresh grant: a new refresh token, the same token, or an error (row 34). Default: `rotate`. */
  refresh: option(oneOf(['rotate', 'reuse', 'reject']), 'rotate'),
  /**
   * Locks a merchant's username after too many failed logins (row 35); `false`: never. The failed login that causes
   * the lock still receives HTTP status 401.
   */
  lockout: option(orFalse(strict(lockout, 'option')), {
    attempts: 5,
    windowSeconds: 60,
    durationSeconds: 900,
  }),
  /** The errorCode of each kind of response (row 38). A kind that you omit keeps its default. */
  errorCodes: option(strict(errorCodes, 'option') as Rule<Partial<ErrorCodes>>, defaultErrorCodes),
  /** HTTP status for an invalid field (row 39). Default: `422`. */
  validationStatus: option(literals(200, 400, 409, 422), 422),
  /** Whether errors have HTTP status 200 (row 39). Errors 401, 403 and 429 keep their status. Default: `false`. */
  errorsAs200: option(flag, false),
  /** HTTP status for an unknown identifier (row 40). Default: `404`. */
  notFoundStatus: option(literals(200, 400, 404), 404),
  /** Paging of the payment list (row 41). */
  paging: option(
    refined(
      strict(paging, 'option'),
      ({ defaultSize, maxSize }) => defaultSize <= maxSize,
      'defaultSize',
      'at most maxSize',
    ),
    { defaultSize: 10, maxSize: 100, ignore: [] },
  ),
  /** Rate limit of each client_id (row 42). `false`: refuses no call, and the headers show a limit of 1 000 000 000. */
  rateLimit: option(orFalse(strict(rateLimit, 'option')), { limit: 600, windowMs: 60_000 }),
  /** Whether a 429 response has the header Retry-After (row 43). Default: `false`. */
  sendRetryAfter: option(flag, false),
  /** Whether the response to a login contains errorCode and errorMessage (row 50). Default: `true`. */
  tokenEnvelope: option(flag, true),
  /** Subscriptions of a new mock, which `mock.reset()` restores. Default: none. */
  existing: option(listOf<SeedSubscription>(strict(seedSubscription)), []),
  /** Tokens of a new mock, which `mock.reset()` restores. Default: none. */
  tokens: option(listOf<SeedToken>(strict(seedToken)), []),
}

/** The mock's options for the subscriptions API (area S). Row numbers refer to the tables of docs/unknowns.md. */
export interface SubscriptionsOptions extends OptionsOf<typeof subscriptionsTable> {}

/** The defaults under `rules: 'spec'`. */
export const subscriptionsDefaults = defaultsOf(subscriptionsTable)

/** The defaults under `rules: 'strict'`, where they differ from those under `rules: 'spec'`. */
export const strictSubscriptionsDefaults = strictOf(subscriptionsTable)
