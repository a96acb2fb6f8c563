import { SUBSCRIPTIONS_API_PREFIX, subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { Limiter } from '../domain/limiter.ts'
import type { Refusal, RefusalReason, Result } from '../domain/result.ts'
import { accepted } from '../domain/result.ts'
import type { ErrorCodes, SubscriptionsOptions } from '../domain/subscriptions/options.ts'
import { defaultErrorCodes } from '../domain/subscriptions/options.ts'
import type { Merchant, SubscriptionsDomain } from '../domain/subscriptions/types.ts'
import type { AreaAnswers, AreaRuntime, Headers, LimitState, Operation, Resolvers, Success } from './area.ts'
import { createOperationRouter, secondsUntil } from './area.ts'
import { jsonAnswer } from './response.ts'

/**
 * Other forms of area S's answers, for tests of a client's tolerance (row 44).
 *
 * - `id-casing`: `invoiceID` for `invoiceId`, and the other way round, in every name that ends so.
 * - `number-ids`: identifiers of digits, as numbers. `text-ids`: numeric identifiers as text.
 * - `text-amounts`: amounts as text with two places.
 * - `text-flags`, `boolean-flags`: `enabled` as `"true"` or true.
 * - `empty-reversals`, `zero-reversals`: no reversal as `""`, or with the amount `"0.00"`.
 * - `iso-dates`: `2026-11-28T12:00:00` for `2026-11-28 12:00:00`.
 * - `number-codes`: an errorCode of digits as a number.
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

/** Changes the body of a successful answer. */
export type Vary = (operation: string, body: unknown) => unknown

/** Option `subscriptions.variant`: forms, applied in order, or a function of one's own. */
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

const changed = (value: unknown, change: Change): unknown => {
  if (Array.isArray(value)) return value.map((item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => change(name, changed(inner, change))),
  )
}

const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const isList = (value: unknown): boolean => Array.isArray(value)

/** The change that an option asks for. Throws a TypeError for a form that does not exist. */
export const createVary = (variant: Variant): Vary => {
  if (typeof variant === 'function') {
    return (operation, body) => {
      const changedBody = variant(operation as Operation, body)
      if (changedBody === undefined)
        throw new TypeError('subscriptions.variant: the function gave nothing back.')
      if (isPromise(changedBody))
        throw new TypeError(
          'subscriptions.variant: the function gave a promise back; it is to give the body.',
        )
      return changedBody
    }
  }
  if (!isList(variant)) {
    throw new TypeError('Option subscriptions.variant must be a list of forms or a function.')
  }
  for (const form of variant) {
    if (!Object.hasOwn(FORMS, form)) {
      throw new TypeError(
        `subscriptions.variant: there is no form ${JSON.stringify(form)}; there are ${Object.keys(FORMS).join(', ')}.`,
      )
    }
  }
  if (variant.length === 0) return (_operation, body) => body
  return (_operation, body) => variant.reduce((rest, form) => changed(rest, FORMS[form]), body)
}

/** Options that word the answers of area S. */
export type AnswerOptions = Pick<
  SubscriptionsOptions,
  'errorCodes' | 'validationStatus' | 'notFoundStatus' | 'errorsAs200' | 'tokenEnvelope'
>

const SUCCESS_MESSAGE = 'The operation succeeded.'

/** Refusals that `errorsAs200` leaves as they are: the specification states their status. */
const STATED = new Set([401, 403, 429])

const KIND_OF_STATUS: Readonly<Record<number, keyof ErrorCodes>> = {
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

/** The three headers that every answer carries (Limits, area S). */
export const limitHeaders = (state: LimitState): Headers => ({
  'X-RateLimit-Limit': String(state.limit),
  'X-RateLimit-Remaining': String(state.remaining),
  'X-RateLimit-Reset': String(Math.ceil(state.resetAt / 1_000)),
})

/** Area S: every answer carries errorCode and errorMessage (Errors, area S). */
export const createSubscriptionsAnswers = (options: AnswerOptions, vary: Vary): AreaAnswers => {
  const codes: ErrorCodes = { ...defaultErrorCodes, ...options.errorCodes }
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
  const codeOf: Partial<Record<RefusalReason, string>> = codes

  const refusal = ({ reason, message }: Refusal, headers: Headers) => {
    const status = statusOf[reason] ?? 500
    const shown = options.errorsAs200 && status < 500 && !STATED.has(status) ? 200 : status
    return jsonAnswer(shown, { errorCode: codeOf[reason] ?? codes.internal, errorMessage: message }, headers)
  }

  return {
    success({ operation, status, auth }, { body }, headers) {
      const bare = auth === 'credentials' && !options.tokenEnvelope
      const envelope = { errorCode: codes.success, errorMessage: SUCCESS_MESSAGE }
      const whole = bare ? body : { ...(body as object), ...envelope }
      return jsonAnswer(status, vary(operation, whole), headers)
    },
    refusal,
    failure: (status, message, headers) =>
      jsonAnswer(
        status,
        { errorCode: codes[KIND_OF_STATUS[status] ?? 'internal'], errorMessage: message },
        headers,
      ),
  }
}

const whole = (result: Result<object>): Result<Success> =>
  result.ok ? { ok: true, value: { body: result.value } } : result

const given = (value: string | null, name: 'page' | 'perPage') => (value === null ? {} : { [name]: value })

/** The eight operations of area S. */
export const createSubscriptionsResolvers = (
  domain: SubscriptionsDomain,
): Resolvers<typeof subscriptionsContract, Merchant> => ({
  login: ({ fields }) => whole(domain.token(fields)),
  subscribe: ({ caller, fields }) => whole(domain.subscribe(caller, fields)),
  status: ({ caller, parameter }) => whole(domain.status(caller, parameter('invoiceId'))),
  details: ({ caller, parameter }) => whole(domain.details(caller, parameter('subscriptionId'))),
  cancel: ({ caller, parameter }) => whole(domain.cancel(caller, parameter('subscriptionId'))),
  cancellation: ({ caller, parameter }) => whole(domain.cancellation(caller, parameter('subscriptionId'))),
  payments: ({ caller, parameter, query }) =>
    whole(
      domain.payments(caller, parameter('subscriptionId'), {
        ...given(query.get('page'), 'page'),
        ...given(query.get('per_page'), 'perPage'),
      }),
    ),
  payment: ({ caller, parameter }) => whole(domain.payment(caller, parameter('paymentId'))),
})

const NOBODY: Merchant = { clientId: '', username: '' }

/** Area S over HTTP. */
export const createSubscriptionsArea = (parts: {
  readonly domain: SubscriptionsDomain
  readonly limiter: Limiter | undefined
  /** The time of the limiter. */
  readonly now: () => number
  readonly options: AnswerOptions & { readonly sendRetryAfter: boolean }
  readonly vary: Vary
  readonly apiPrefix: string
  readonly checksContentType: boolean
  readonly refusesUnknownFields: boolean
}): AreaRuntime => {
  const { domain, limiter, now, options, vary, apiPrefix, checksContentType, refusesUnknownFields } = parts
  const bucketOfToken = (bearer: string | undefined): string => {
    const merchant = bearer === undefined ? undefined : domain.merchant(bearer)
    return merchant?.ok === true ? merchant.value.clientId : ''
  }
  return {
    name: 'subscriptions',
    router: createOperationRouter({
      contract: subscriptionsContract,
      resolvers: createSubscriptionsResolvers(domain),
      callerOf: ({ auth }, bearer) => (auth === 'token' ? domain.merchant(bearer) : accepted(NOBODY)),
      prefixes: [SUBSCRIPTIONS_API_PREFIX, apiPrefix],
    }),
    answers: createSubscriptionsAnswers(options, vary),
    limiter,
    bucket(bearer, definition, fields) {
      if (definition?.auth !== 'credentials') return bucketOfToken(bearer)
      return typeof fields.client_id === 'string' ? fields.client_id : ''
    },
    limitHeaders,
    refusalHeaders: ({ resetAt }) =>
      options.sendRetryAfter ? { 'Retry-After': String(secondsUntil(resetAt, now())) } : {},
    checksContentType,
    refusesUnknownFields,
    isDown: () => false,
  }
}
