import { SUBSCRIPTIONS_API_PREFIX, subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { defaultErrorCodes, type ErrorCodes, type SubscriptionsOptions } from '../subscriptions/options.ts'
import type { Merchant } from '../subscriptions/state.ts'
import type { AreaRuntime, LimitContext, Operation, Resolvers } from './area.ts'
import { createRoutes } from './routes.ts'

/**
 * A change to area S's successful responses, to test whether a client accepts the variants (row 44).
 *
 * - `id-casing`: changes `Id` at the end of a name to `ID`, and `ID` to `Id`.
 * - `number-ids`: writes identifiers such as `"123"` as numbers. `text-ids`: writes numeric identifiers as text.
 * - `text-amounts`: writes amounts as text with two decimal places.
 * - `text-flags`: writes `enabled` as text, such as `"true"`. `boolean-flags`: writes `enabled` as a boolean.
 * - `empty-reversals`: writes `""` instead of null in fields of a reversal. `zero-reversals`: writes `"0.00"` instead
 *   of null in the amount of a reversal, and `""` instead of null in its other fields.
 * - `iso-dates`: writes times as `2026-11-28T12:00:00`. `number-codes`: writes an errorCode of digits as a number.
 */
export type VariantForm =
  | 'id-casing'
  | 'number-ids'
  | 'text-ids'
  | 'text-amounts'
  | 'text-flags'
  | 'boolean-flags'
  | 'empty-reversals'
  | 'zero-reversals'
  | 'iso-dates'
  | 'number-codes'

/** Changes the body of a successful response. */
type Vary = (operation: string, body: unknown) => unknown

/** A list of forms, which the mock applies in order, or a function that changes the body. */
export type Variant = readonly VariantForm[] | ((operation: Operation, body: unknown) => unknown)

type Change = (name: string, value: unknown) => readonly [string, unknown]

const IDENTIFIER = /^(?:id|.*I[dD])$/
const SPACED = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/

const whenNamed =
  (names: RegExp, change: (value: unknown) => unknown): Change =>
  (name, value) => [name, names.test(name) ? change(value) : value]

const digitsToNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value

const FORMS: Record<VariantForm, Change> = {
  'id-casing': (name, value) => {
    if (name.endsWith('ID')) return [`${name.slice(0, -2)}Id`, value]
    return [name.endsWith('Id') ? `${name.slice(0, -2)}ID` : name, value]
  },
  'number-ids': whenNamed(IDENTIFIER, digitsToNumber),
  'text-ids': whenNamed(IDENTIFIER, (value) => (typeof value === 'number' ? String(value) : value)),
  'text-amounts': whenNamed(/^amount$/, (value) => (typeof value === 'number' ? value.toFixed(2) : value)),
  'text-flags': whenNamed(/^enabled$/, (value) => String(Boolean(value))),
  'boolean-flags': whenNamed(/^enabled$/, Boolean),
  'empty-reversals': whenNamed(/^reverseTransaction/, (value) => value ?? ''),
  'zero-reversals': (name, value) => {
    if (value !== null || !name.startsWith('reverseTransaction')) return [name, value]
    return [name, name.endsWith('Amount') ? '0.00' : '']
  },
  'iso-dates': (name, value) => [name, typeof value === 'string' ? value.replace(SPACED, '$1T$2') : value],
  'number-codes': whenNamed(/^errorCode$/, digitsToNumber),
}

/** The names of all variant forms. */
export const variantForms = Object.keys(FORMS) as readonly VariantForm[]

const changed = (value: unknown, change: Change): unknown => {
  if (Array.isArray(value)) return value.map((item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => change(name, changed(inner, change))),
  )
}

const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Returns whether the mock sends invoice and subscription identifiers as numbers. */
export const hasNumberIds = (variant: Variant): boolean =>
  typeof variant !== 'function' && variant.includes('number-ids')

/** Returns the function that applies a variant to the body of a response. */
const createVary = (variant: Variant): Vary => {
  if (typeof variant === 'function') {
    return (operation, body) => {
      const changedBody = variant(operation as Operation, body)
      if (changedBody === undefined)
        throw new TypeError('subscriptions.variant: the function returned undefined.')
      if (isPromise(changedBody))
        throw new TypeError('subscriptions.variant: the function must return the body, not a promise.')
      return changedBody
    }
  }
  if (variant.length === 0) return (_operation, body) => body
  return (_operation, body) => variant.reduce((rest, form) => changed(rest, FORMS[form]), body)
}

/** The statuses that the option `errorsAs200` does not change, because the specification states them. */
const STATED = new Set([401, 403, 429])

const CODE_OF_STATUS: Readonly<Record<number, keyof ErrorCodes>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'locked_out',
  404: 'not_found',
  405: 'invalid',
  409: 'state',
  413: 'invalid',
  415: 'invalid',
  422: 'invalid',
  429: 'rate_limited',
}

/** Creates the resolvers of the eight operations of area S. */
const createResolvers = (domain: Subscriptions): Resolvers<typeof subscriptionsContract, Merchant> => ({
  login: ({ fields }) => domain.token(fields),
  subscribe: ({ caller, fields }) => domain.subscribe(caller, fields),
  status: ({ caller, parameters }) => domain.status(caller, parameters.invoiceId),
  details: ({ caller, parameters }) => domain.details(caller, parameters.subscriptionId),
  cancel: ({ caller, parameters }) => domain.cancel(caller, parameters.subscriptionId),
  cancellation: ({ caller, parameters }) => domain.cancellation(caller, parameters.subscriptionId),
  payments: ({ caller, parameters, query }) =>
    domain.payments(caller, parameters.subscriptionId, new URLSearchParams(query)),
  payment: ({ caller, parameters }) => domain.payment(caller, parameters.paymentId),
})

/** With `rateLimit: false`, responses still have rate-limit headers, with this limit (Limits, area S; row 42). */
const UNLIMITED = { limit: 1_000_000_000, windowMs: 60_000 }

/**
 * Creates a limit with fixed windows (Limits, area S). The first call of a client_id starts a window of `windowMs`
 * milliseconds, in which at most `limit` calls are accepted. Refused calls do not count. All logins and API calls with
 * the same client_id share one limit.
 */
const createWindowLimit = (
  domain: Subscriptions,
  { rateLimit, sendRetryAfter }: SubscriptionsOptions,
  { state, now, isOff }: LimitContext,
): AreaRuntime['limit'] => {
  const { limit, windowMs } = rateLimit || UNLIMITED
  // If the clock was set back to a time before the window, the next call opens a new window.
  const isOver = ({ startedAt }: { readonly startedAt: number }, time: number): boolean =>
    time >= startedAt + windowMs || time < startedAt

  const windowOf = (clientId: string, time: number) => {
    const windows = state.limits.subscriptions
    const current = windows.get(clientId)
    if (current !== undefined && !isOver(current, time)) return current
    for (const [other, window] of windows) {
      if (other !== clientId && !isOver(window, time)) break
      windows.delete(other)
    }
    const opened = { startedAt: time, count: 0 }
    windows.set(clientId, opened)
    return opened
  }

  return ({ bearer, route, fields: { client_id }, counts }) => {
    const merchant = bearer === undefined ? undefined : domain.merchant(bearer)
    const ofToken = merchant?.ok ? merchant.value.clientId : ''
    const ofLogin = typeof client_id === 'string' ? client_id : ''
    const time = now()
    const isUncounted = isOff?.() === true
    const window = isUncounted
      ? { startedAt: time, count: 0 }
      : windowOf(route?.definition.auth === 'credentials' ? ofLogin : ofToken, time)
    const allowed = isUncounted || window.count < limit
    if (allowed && counts && !isUncounted) window.count += 1
    const resetAt = window.startedAt + windowMs
    return {
      allowed,
      limit,
      // Every response has the three headers of the rate limit (Limits, area S).
      headers: {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(limit - window.count),
        'X-RateLimit-Reset': String(Math.ceil(resetAt / 1_000)),
        // A client computes its wait from this and X-RateLimit-Reset, even if a test moved the mock's clock by days.
        Date: new Date(time).toUTCString(),
      },
      retryIn: sendRetryAfter ? resetAt - time : undefined,
    }
  }
}

const routesBelow = createRoutes(subscriptionsContract, SUBSCRIPTIONS_API_PREFIX)

/** Creates the HTTP interface of area S. Only login responses can lack errorCode and errorMessage (Errors, area S). */
export const createSubscriptionsArea = (
  domain: Subscriptions,
  options: SubscriptionsOptions & AreaRuntime['options'] & { readonly variant: Variant },
  limits: LimitContext,
): AreaRuntime => {
  const vary = createVary(options.variant)
  const codes: ErrorCodes = { ...defaultErrorCodes, ...options.errorCodes }
  const refusal = (status: number, kind: keyof ErrorCodes) =>
    [options.errorsAs200 && !STATED.has(status) ? 200 : status, codes[kind]] as const
  return {
    name: 'subscriptions',
    options,
    router: routesBelow(options.apiPrefix),
    limit: createWindowLimit(domain, options, limits),
    authenticate: domain.merchant,
    resolvers: createResolvers(domain) as AreaRuntime['resolvers'],
    replays: {},
    envelope({ operation, auth }, body) {
      const isBare = auth === 'credentials' && !options.tokenEnvelope
      const envelope = { errorCode: codes.success, errorMessage: 'The operation succeeded.' }
      return vary(operation, isBare ? body : { ...Object(body), ...envelope })
    },
    refusals: {
      invalid: refusal(options.validationStatus, 'invalid'),
      client_mismatch: refusal(options.validationStatus, 'client_mismatch'),
      not_found: refusal(options.notFoundStatus, 'not_found'),
      duplicate_request: refusal(409, 'duplicate_request'),
      state: refusal(409, 'state'),
      unauthorized: refusal(401, 'unauthorized'),
      locked_out: refusal(403, 'locked_out'),
      rate_limited: refusal(429, 'rate_limited'),
    },
    codeOf: (status) => codes[CODE_OF_STATUS[status] ?? 'internal'],
    error: (errorCode, errorMessage) => ({ errorCode, errorMessage }),
    correlationFields: domain.correlationFields,
  }
}
