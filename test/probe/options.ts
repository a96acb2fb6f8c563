import fc from 'fast-check'
import { behaviorNames } from '../../mocks/gateway/behaviors.ts'
import type { MockOptions } from '../../mocks/options.ts'
import { defaultErrorCodes } from '../../mocks/subscriptions/options.ts'
import { SANDBOX } from './set-up.ts'

const of = <const Value>(...values: readonly Value[]) => fc.constantFrom(...values)
const seconds = (min: number, max: number) => fc.record({ seconds: fc.integer({ min, max }) })
const orFalse = <Value>(other: fc.Arbitrary<Value>) => fc.oneof(fc.constant<false>(false), other)

const rateLimit = orFalse(
  fc.record({
    limit: fc.integer({ min: 20, max: 300 }),
    windowMs: fc.integer({ min: 1, max: 120 }).map((length) => length * 1_000),
  }),
)
const timeOfDay = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
// A number with leading zeros loses them under the variant `number-codes`, so no response shows it.
const errorCode = fc.stringMatching(/^(?:[1-9]\d{0,3}|[A-Z]{1,3}\d?)$/)
const paging = fc
  .tuple(
    fc.integer({ min: 2, max: 40 }),
    fc.integer({ min: 0, max: 80 }),
    fc.subarray(['page', 'per_page'] as const),
  )
  .map(([defaultSize, more, ignore]) => ({ defaultSize, maxSize: defaultSize + more, ignore }))
/** At most one form for each field. */
const variant = fc
  .tuple(
    fc.subarray(['id-casing', 'text-amounts', 'iso-dates', 'number-codes'] as const),
    of([], ['number-ids'] as const, ['text-ids'] as const),
    of([], ['text-flags'] as const, ['boolean-flags'] as const),
    of([], ['empty-reversals'] as const, ['zero-reversals'] as const),
  )
  .map((parts) => parts.flat())

const subscriptions = {
  contentType: of('json', 'any'),
  unknownFields: of('ignore', 'refuse'),
  requestTtl: orFalse(fc.record({ hours: fc.integer({ min: 24, max: 96 }) })),
  pendingSubscriptionId: of('issued', 'NA', '', 'omit'),
  enabledValues: fc.record({
    active: fc.integer({ min: -3, max: 9 }),
    inactive: fc.integer({ min: -3, max: 9 }),
  }),
  // One distance from UTC does not tell a zone with summer time from one without.
  timeZone: of(
    'UTC',
    'Asia/Dhaka',
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'Etc/GMT+5',
    'Pacific/Kiritimati',
    'Etc/GMT+11',
  ),
  startCutoff: orFalse(timeOfDay),
  pastStart: of('accept', 'refuse'),
  maxEnd: orFalse(fc.record({ from: of('start', 'today'), days: fc.integer({ min: 5, max: 1_500 }) })),
  amountPattern: of(/^\d+(\.\d+)?$/, /^\d+(\.\d{1,2})?$/, /^\d+$/, /^\d+\.\d{2}$/, /^\d+(\.\d{2})?$/),
  duplicateRequest: of('accept', 'refuse'),
  clientMismatch: of('accept', 'refuse'),
  debitTime: timeOfDay,
  dunning: fc.record({ retries: fc.integer({ min: 0, max: 3 }), everyDays: fc.integer({ min: 1, max: 5 }) }),
  nextPaymentDateAfterEnd: of('date', 'null'),
  cancelDelay: seconds(0, 90),
  cancelTwice: of('same', 'refuse'),
  tokenTtl: seconds(30, 7_200),
  refresh: of('rotate', 'reuse', 'reject'),
  lockout: orFalse(
    fc.record({
      attempts: fc.integer({ min: 1, max: 10 }),
      windowSeconds: fc.integer({ min: 30, max: 120 }),
      durationSeconds: fc.integer({ min: 60, max: 1_800 }),
    }),
  ),
  errorCodes: fc.record(Object.fromEntries(Object.keys(defaultErrorCodes).map((kind) => [kind, errorCode])), {
    requiredKeys: [],
  }),
  validationStatus: of(200, 400, 409, 422),
  errorsAs200: of(true, false),
  notFoundStatus: of(200, 400, 404),
  paging,
  rateLimit,
  sendRetryAfter: of(true, false),
  tokenEnvelope: of(true, false),
  variant,
}

const number = fc.stringMatching(/^\+999000000\d{2}$/)
const behavior = fc.constantFrom(...behaviorNames)
const hours = fc.record({ hours: fc.integer({ min: 24, max: 96 }) })

const gateway = {
  contentType: of('json', 'any'),
  otp: fc.stringMatching(/^\d{4,6}$/),
  testNumbers: fc
    .dictionary(number, behavior, { maxKeys: 6 })
    .map((others) => ({ ...others, [SANDBOX.gateway.testNumbers[0]]: 'succeeds' as const })),
  defaultBehavior: behavior,
  unlistedNumbers: of('accept', 'refuse'),
  retryDelay: orFalse(hours),
  confirmationTtl: orFalse(hours),
  confirmResponse: of('charge', 'status', 'empty'),
  statusResponse: of('charge', 'status'),
  redirectAllowlist: of([], [SANDBOX.gateway.redirectUri]),
  keyReuse: of('replay', 'reject'),
  keyInFlight: of('wait', 'conflict'),
  keyTtl: orFalse(hours),
  renewalsAsMandates: of(true, false),
  maxOtpAttempts: orFalse(fc.integer({ min: 1, max: 12 })),
  rateLimit,
  inputRules: of('types', 'formats'),
  returnParameter: orFalse(fc.constant('charge_id')),
  apiKeyScope: of('all', 'own'),
  unknownFields: of('ignore', 'refuse'),
}

/** Options of both areas, each of them set or left at its default. */
export const mockOptions = fc
  .tuple(
    fc.record(subscriptions, { requiredKeys: [] }),
    fc.record(gateway, { requiredKeys: ['testNumbers'] }),
  )
  .map(
    ([ofSubscriptions, ofGateway]) => ({ subscriptions: ofSubscriptions, gateway: ofGateway }) as MockOptions,
  )

/** The names of the options that vary, by area. */
export const varied = { subscriptions: Object.keys(subscriptions), gateway: Object.keys(gateway) }
