import type { Check } from '../checking.ts'
import {
  absoluteUrl,
  anyText,
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
  text,
  timeOfDay,
  wholeNumber,
} from '../checking.ts'
import type { ErrorCodes, MerchantOptions, SubscriptionsOptions } from './options.ts'
import { CYCLE_DAYS } from './schedule.ts'
import type { SeedSubscription, SeedToken } from './seeds.ts'

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
