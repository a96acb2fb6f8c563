import type { Input } from '../../../src/contract/fields.ts'
import { anyText, inputDate, refined, wholeNumber } from '../../../src/contract/fields.ts'
import { CYCLES, dayNumber, isAmountText } from '../../../src/contract/formats.ts'
import { parseTimeOfDay } from '../calendar.ts'
import type { OptionsOf, Rule } from '../check-options.ts'
import {
  absoluteUrl,
  also,
  defaultsOf,
  flag,
  listOf,
  number,
  oneOf,
  option,
  optional,
  orFalse,
  pattern,
  rule,
  strict,
  strictOf,
  text,
} from '../check-options.ts'
import { duration, pointInTime } from '../duration.ts'

/** Outcome of one scripted payment. */
export type PaymentScript = 'succeed' | 'fail'

/** Outcomes of payments, as a payer scripts them. */
export const paymentScripts = listOf(oneOf('succeed', 'fail'))

const seedRequest = {
  /** First day, `YYYY-MM-DD`; it may lie in the past. */
  start: inputDate,
  /** Last day, `YYYY-MM-DD`, on or after the start. */
  end: inputDate,
  /** `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  cycle: oneOf(...CYCLES),
  /** Amount per cycle: decimal text such as `25.00`. */
  amount: rule<string>(
    'decimal text above zero such as "25.00"',
    (value) => typeof value === 'string' && isAmountText(value),
  ),
  /** The merchant that it belongs to. Default: the first one. */
  clientID: optional(text),
  /** Default: a new identifier. */
  requestID: optional(text),
  /** Default: `https://merchant.example/return`. */
  userReturnURL: optional(absoluteUrl),
}
const seedSubscription = {
  /** Fields of S1. ✎ rules and the cut-off of the start are not applied. */
  request: refined(
    strict(seedRequest),
    ({ start, end }) => (dayNumber(end) ?? 0) >= (dayNumber(start) ?? 0),
    'end',
    'a date on or after start',
  ),
  /** Default: a new identifier. */
  invoiceId: optional(text),
  /** Default: a new identifier. */
  subscriptionId: optional(text),
  /** Default: now, or the time of the authorization if that is earlier. */
  createdAt: optional(pointInTime),
  /**
   * When the payer authorized it, between creation and now; `false`: not yet. Payments that were due since then have been
   * made, without notifications. Default: at its creation.
   */
  authorizedAt: optional(orFalse(pointInTime)),
  /** Outcomes of its payments from the first on; then all succeed. */
  payments: optional(paymentScripts),
}
/** A subscription that exists without a request. Only cycle, amount, start and end are required. */
export interface SeedSubscription extends Input<typeof seedSubscription> {}

const seedToken = {
  /** The access token, as calls carry it in `Authorization: Bearer …`. */
  accessToken: text,
  /** Default: a new identifier. */
  refreshToken: optional(text),
  /** Default: the first merchant. */
  clientId: optional(text),
  /** Default: the merchant's first user. */
  username: optional(text),
  /** Default: the lifetime of a new token. */
  expiresAt: optional(pointInTime),
}
/** A token that is valid without a login. */
export interface SeedToken extends Input<typeof seedToken> {}

const seeds = {
  /** Subscriptions to add. */
  subscriptions: optional(listOf<SeedSubscription>(strict(seedSubscription))),
  /** Tokens to add. */
  tokens: optional(listOf<SeedToken>(strict(seedToken))),
}
/** What `add` accepts. */
export interface Seeds extends Input<typeof seeds> {}
/** Checks what `add` is given. */
export const seedsSchema = strict(seeds)

const user = {
  /** Name of the login; failures are counted for it (row 35). `defaultMerchant` has `mock-user`. */
  username: text,
  /** Password of the login. `defaultMerchant` has `mock-password`. */
  password: text,
}
const merchant = {
  /** The name that the payer sees. */
  name: text,
  /** `client_id` of its logins. `defaultMerchant` has `mock-client`. */
  clientId: text,
  /** `client_secret` of its logins. `defaultMerchant` has `mock-client-secret`. */
  clientSecret: text,
  /** Its users. `clientOptions` contains the first user of the first merchant. */
  users: listOf(strict(user, 'option')),
}
/** A merchant that may log in. */
export interface MerchantOptions extends Input<typeof merchant> {}

/** The only merchant of a mock without the option `merchants`. Its credentials are documented: they protect nothing. */
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
  /** A field breaks a rule (row 38). Default: `01`. */
  invalid: '01',
  /** An unknown identifier, or another merchant's (row 38). Default: `02`. */
  not_found: '02',
  /** A requestID that was used before (rows 20 and 38). Default: `03`. */
  duplicate_request: '03',
  /** A call that the state does not allow, such as `cancelTwice: 'refuse'` (row 38). Default: `04`. */
  state: '04',
  /** A clientID other than the token's (rows 21 and 38). Default: `05`. */
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

/** The errorCode of each kind of response. */
export type ErrorCodes = { readonly [Kind in keyof typeof defaultErrorCodes]: string }

const errorCode = optional(anyText)
const errorCodes = Object.fromEntries(Object.keys(defaultErrorCodes).map((kind) => [kind, errorCode])) as {
  readonly [Kind in keyof typeof defaultErrorCodes]: typeof errorCode
}

const enabledValues = {
  /** While payments are expected. Default: 1. */
  active: number(),
  /** Before the authorization, and once it has ended or was canceled. Default: 0. */
  inactive: number(),
}
const maxEnd = {
  /** The day that is counted from. Default: `start`. */
  from: oneOf('start', 'today'),
  /** The number of the last day that is accepted. Default: 730. */
  days: wholeNumber(0),
}
const dunning = {
  /** The number of retries. Default: 0. */
  retries: wholeNumber(0),
  /** The number of days between two attempts, from 1. Default: 1. */
  everyDays: wholeNumber(1),
}
const lockout = {
  /** How many failures lock the username. Default: 5. */
  attempts: wholeNumber(1),
  /** The seconds within which they count together. Default: 60. */
  windowSeconds: wholeNumber(1),
  /** For how many seconds it is locked. Default: 900. */
  durationSeconds: wholeNumber(1),
}
const paging = {
  /** How many payments a page has without `per_page`. Default: 10. */
  defaultSize: wholeNumber(1),
  /** How many payments a page has at most. Default: 100. */
  maxSize: wholeNumber(1),
  /** Query parameters that are ignored, because some endpoints ignore per_page (Limits, Pagination). Default: none. */
  ignore: listOf(oneOf('page', 'per_page')),
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

const timeOfDay = rule<string>(
  'a time of day in the form HH:MM:SS',
  (value) => typeof value === 'string' && parseTimeOfDay(value) !== undefined,
)

const isTimeZone = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && new Intl.DateTimeFormat('en-US', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}

/** The options of area S. Rows are those of the table of things that the specification does not show. */
export const subscriptionsTable = {
  /** The merchants; each sees only its own requests and subscriptions. Default: `defaultMerchant`. */
  merchants: option(merchants, [defaultMerchant]),
  /** Fields that the specification does not name (row 4 ✎). Default: `ignore`; under strict rules: `refuse`. */
  unknownFields: option(oneOf('ignore', 'refuse'), 'ignore', { strict: 'refuse' }),
  /** How long a request waits for the payer's decision before it expires (row 10); `false`: forever. Default: 24 hours. */
  requestTtl: option(orFalse(duration), { hours: 24 }),
  /** The subscriptionId of the status response before the payer has authorized (row 11). Default: `issued`. */
  pendingSubscriptionId: option(oneOf('issued', 'NA', '', 'omit'), 'issued'),
  /** The values of `enabled` (row 12). */
  enabledValues: option(strict(enabledValues, 'option'), { active: 1, inactive: 0 }),
  /** IANA time zone for days, the cut-off, and times that name no zone (row 14). Default: `UTC`. */
  timeZone: option(rule<string>('an IANA time zone such as Asia/Dhaka', isTimeZone), 'UTC'),
  /**
   * Time of day, `HH:MM:SS`, after which today is refused as start (row 15); `false`: never. Default: `23:30:00`.
   */
  startCutoff: option(orFalse(timeOfDay), '23:30:00'),
  /** A start before today (row 16 ✎). Default: `accept`; under strict rules: `refuse`. */
  pastStart: option(oneOf('accept', 'refuse'), 'accept', { strict: 'refuse' }),
  /** How many days after the start, or after today, the end may lie (row 18); `false`: any number. */
  maxEnd: option(orFalse(strict(maxEnd, 'option')), { from: 'start', days: 730 }),
  /** Pattern of an amount above zero (row 19 ✎). Default: `/^\d+(\.\d+)?$/`; strict: `/^\d+(\.\d{1,2})?$/`. */
  amountPattern: option(pattern, /^\d+(\.\d+)?$/, { strict: /^\d+(\.\d{1,2})?$/ }),
  /** A requestID that the merchant has used before (row 20 ✎). Default: `accept`; under strict rules: `refuse`. */
  duplicateRequest: option(oneOf('accept', 'refuse'), 'accept', { strict: 'refuse' }),
  /** A clientID other than the token's (row 21 ✎). Default: `accept`; under strict rules: `refuse`. */
  clientMismatch: option(oneOf('accept', 'refuse'), 'accept', { strict: 'refuse' }),
  /** Time of day, `HH:MM:SS`, at which payments are made (row 23). Default: `12:00:00`. */
  debitTime: option(timeOfDay, '12:00:00'),
  /** How often, and how many days apart, a failed payment is retried (row 24), but not after the end. */
  dunning: option(strict(dunning, 'option'), { retries: 0, everyDays: 1 }),
  /** nextPaymentDate when none follows: the date that would have been next, or null (row 25). Default: `date`. */
  nextPaymentDateAfterEnd: option(oneOf('date', 'null'), 'date'),
  /** How long a cancellation is PROCESSING (row 27). Payments due by then are made. Default: 0 seconds. */
  cancelDelay: option(duration, { seconds: 0 }),
  /** Canceling again, or after the end: the same record, or an error (row 28). Default: `same`. */
  cancelTwice: option(oneOf('same', 'refuse'), 'same'),
  /** Lifetime of an access token (row 33). Default: 3600 seconds. */
  tokenTtl: option(duration, { seconds: 3600 }),
  /** Result of the refresh grant: a new refresh token, the same one, or an error (row 34). Default: `rotate`. */
  refresh: option(oneOf('rotate', 'reuse', 'reject'), 'rotate'),
  /**
   * How many failures of one username within how long lock it, and for how long (row 35); `false`: never. The failure
   * that completes the count still gets 401.
   */
  lockout: option(orFalse(strict(lockout, 'option')), {
    attempts: 5,
    windowSeconds: 60,
    durationSeconds: 900,
  }),
  /** The errorCodes (row 38). An omitted one keeps its default. */
  errorCodes: option(strict(errorCodes, 'option') as Rule<Partial<ErrorCodes>>, defaultErrorCodes),
  /** HTTP status for a field that breaks a rule (row 39). Default: `422`. */
  validationStatus: option(oneOf(200, 400, 409, 422), 422),
  /** Whether errors other than 401, 403 and 429 have HTTP status 200 and their errorCode (row 39). Default: `false`. */
  errorsAs200: option(flag, false),
  /** HTTP status for an unknown identifier (row 40). Default: `404`. */
  notFoundStatus: option(oneOf(200, 400, 404), 404),
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
  /** The calls that one client_id may make in a window (row 42); `false`: any number. */
  rateLimit: option(orFalse(strict(rateLimit, 'option')), { limit: 600, windowMs: 60_000 }),
  /** Whether a 429 carries Retry-After (row 43). Default: `false`. */
  sendRetryAfter: option(flag, false),
  /** Whether the response to a login carries errorCode and errorMessage (row 50). Default: `true`. */
  tokenEnvelope: option(flag, true),
  /** Subscriptions that exist from the start, and again after a reset. Default: none. */
  existing: option(listOf<SeedSubscription>(strict(seedSubscription)), []),
  /** Tokens that are valid from the start, and again after a reset. Default: none. */
  tokens: option(listOf<SeedToken>(strict(seedToken)), []),
}

/** The options of the mock of area S. Rows are those of the table of things that the specification does not show. */
export interface SubscriptionsOptions extends OptionsOf<typeof subscriptionsTable> {}

/** The defaults under `rules: 'spec'`. */
export const subscriptionsDefaults = defaultsOf(subscriptionsTable)

/** The defaults that `rules: 'strict'` changes. A given option counts before both. */
export const strictSubscriptionsDefaults = strictOf(subscriptionsTable)
