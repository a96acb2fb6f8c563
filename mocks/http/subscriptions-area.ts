import { SUBSCRIPTIONS_API_PREFIX, subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { ok, type RefusalReason, type Result } from '../base/result.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { defaultErrorCodes, type ErrorCodes, type SubscriptionsOptions } from '../subscriptions/options.ts'
import type { Merchant } from '../subscriptions/state.ts'
import {
  type AnyResolvers,
  type AreaOptions,
  type AreaRuntime,
  type Operation,
  type Resolvers,
  type Success,
  secondsUntil,
} from './area.ts'
import { jsonResponse } from './response.ts'
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

/** Returns the function that applies a variant to the body of a response. */
export const createVary = (variant: Variant): Vary => {
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

/** The options that change the responses of area S. */
type ResponseOptions = Pick<
  SubscriptionsOptions,
  'errorCodes' | 'validationStatus' | 'notFoundStatus' | 'errorsAs200' | 'tokenEnvelope'
>

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

/** Creates the responses of area S. Only login responses can lack errorCode and errorMessage (Errors, area S). */
const createResponses = (
  options: ResponseOptions,
  vary: Vary,
): Pick<AreaRuntime, 'success' | 'refusal' | 'failure'> => {
  const codes: ErrorCodes = { ...defaultErrorCodes, ...options.errorCodes }
  const codeOf: Partial<Record<RefusalReason, string>> = codes
  const statusOf: Partial<Record<RefusalReason, number>> = {
    invalid: options.validationStatus,
    client_mismatch: options.validationStatus,
    not_found: options.notFoundStatus,
    duplicate_request: 409,
    state: 409,
    unauthorized: 401,
    locked_out: 403,
    rate_limited: 429,
  }
  return {
    success({ operation, status, auth }, { body }, headers) {
      const envelope = { errorCode: codes.success, errorMessage: 'The operation succeeded.' }
      const isBare = auth === 'credentials' && !options.tokenEnvelope
      return jsonResponse(status, vary(operation, isBare ? body : { ...Object(body), ...envelope }), headers)
    },
    refusal({ reason, message }, headers) {
      const status = statusOf[reason] ?? 500
      const sent = options.errorsAs200 && status < 500 && !STATED.has(status) ? 200 : status
      return jsonResponse(
        sent,
        { errorCode: codeOf[reason] ?? codes.internal, errorMessage: message },
        headers,
      )
    },
    failure(status, message, headers) {
      const errorCode = codes[CODE_OF_STATUS[status] ?? 'internal']
      return jsonResponse(status, { errorCode, errorMessage: message }, headers)
    },
  }
}

const success = (result: Result<object>): Result<Success> => (result.ok ? ok({ body: result.value }) : result)

/** Creates the resolvers of the eight operations of area S. */
const createResolvers = (domain: Subscriptions): Resolvers<typeof subscriptionsContract, Merchant> => ({
  login: ({ fields }) => success(domain.token(fields)),
  subscribe: ({ caller, fields }) => success(domain.subscribe(caller, fields)),
  status: ({ caller, parameters }) => success(domain.status(caller, parameters.invoiceId)),
  details: ({ caller, parameters }) => success(domain.details(caller, parameters.subscriptionId)),
  cancel: ({ caller, parameters }) => success(domain.cancel(caller, parameters.subscriptionId)),
  cancellation: ({ caller, parameters }) => success(domain.cancellation(caller, parameters.subscriptionId)),
  payments({ caller, parameters, query }) {
    const asked = new URLSearchParams(query)
    const [page, perPage] = [asked.get('page'), asked.get('per_page')]
    return success(
      domain.payments(caller, parameters.subscriptionId, {
        ...(page === null ? {} : { page }),
        ...(perPage === null ? {} : { perPage }),
      }),
    )
  },
  payment: ({ caller, parameters }) => success(domain.payment(caller, parameters.paymentId)),
})

const NOBODY: Merchant = { clientId: '', username: '' }

const routesBelow = createRoutes(subscriptionsContract, SUBSCRIPTIONS_API_PREFIX)

/** Creates the HTTP interface of area S. */
export const createSubscriptionsArea = ({
  domain,
  options,
  vary,
  now,
  ...rest
}: AreaOptions & {
  readonly domain: Subscriptions
  readonly options: ResponseOptions & { readonly sendRetryAfter: boolean }
  readonly vary: Vary
}): AreaRuntime => ({
  ...rest,
  ...createResponses(options, vary),
  resolvers: createResolvers(domain) as AnyResolvers,
  replays: {},
  name: 'subscriptions',
  router: routesBelow(rest.apiPrefix),
  authenticate: ({ auth }, bearer) => (auth === 'token' ? domain.merchant(bearer) : ok(NOBODY)),
  // All logins and API calls with the same client_id share one limit (Limits, area S).
  bucket(bearer, definition, fields) {
    if (definition?.auth === 'credentials') {
      return typeof fields.client_id === 'string' ? fields.client_id : ''
    }
    const merchant = bearer === undefined ? undefined : domain.merchant(bearer)
    return merchant?.ok === true ? merchant.value.clientId : ''
  },
  // Every response has the three headers of the rate limit (Limits, area S).
  limitHeaders: ({ limit, remaining, resetAt }) => ({
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(resetAt / 1_000)),
    // A client computes its wait from this time and X-RateLimit-Reset, even if a test moved the mock's clock by days.
    Date: new Date(now()).toUTCString(),
  }),
  refusalHeaders: ({ resetAt }) =>
    options.sendRetryAfter ? { 'Retry-After': String(secondsUntil(resetAt, now())) } : {},
  correlationFields: domain.correlationFields,
})
