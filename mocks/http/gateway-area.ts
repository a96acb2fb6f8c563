import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import type { GatewayOptions } from '../domain/gateway/options.ts'
import type { ChargeBody, GatewayDomain, Keyed } from '../domain/gateway/types.ts'
import type { Limiter } from '../domain/limiter.ts'
import type { RefusalReason, Result } from '../domain/result.ts'
import { accepted } from '../domain/result.ts'
import type { AreaAnswers, AreaRuntime, Resolvers, Success } from './area.ts'
import { createOperationRouter, secondsUntil } from './area.ts'
import { jsonAnswer, mayHaveBody } from './response.ts'

/** HTTP status and code string of each refusal (rows 69 to 77). */
const REFUSALS: Partial<Record<RefusalReason, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'not_found'],
  unauthorized: [401, 'unauthorized'],
  rate_limited: [429, 'rate_limited'],
  incorrect_code: [400, 'incorrect_code'],
  missing_idempotency_key: [400, 'missing_idempotency_key'],
  idempotency_key_reused: [422, 'idempotency_key_reused'],
  mandate_mismatch: [422, 'mandate_mismatch'],
  mandate_not_active: [409, 'mandate_not_active'],
  already_confirmed: [409, 'already_confirmed'],
  charge_expired: [409, 'charge_expired'],
  redirect_uri_not_allowed: [400, 'redirect_uri_not_allowed'],
}

const INTERNAL = [500, 'internal_error'] as const

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
}

const codeOfStatus = (status: number): string =>
  CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')

/** Area G: plain bodies, and errors in the shape G2. */
export const gatewayAnswers: AreaAnswers = {
  success(definition, { body, status = definition.status }, headers) {
    if (!mayHaveBody(status)) return { status, headers, body: '' }
    return jsonAnswer(status, body, headers)
  },
  refusal({ reason, message }, headers) {
    const [status, code] = REFUSALS[reason] ?? INTERNAL
    return jsonAnswer(status, { error: { code, message } }, headers)
  },
  failure: (status, message, headers) =>
    jsonAnswer(status, { error: { code: codeOfStatus(status), message } }, headers),
}

/** Who holds an API key. */
export interface GatewayCaller {
  readonly credential: string
}

const keyed = (result: Result<Keyed<ChargeBody>>): Result<Success> => result

const shaped = (result: Result<ChargeBody>, shape: (charge: ChargeBody) => Success): Result<Success> =>
  result.ok ? accepted(shape(result.value)) : result

const CONFIRM_ANSWERS: Record<GatewayOptions['confirmAnswer'], (charge: ChargeBody) => Success> = {
  charge: (charge) => ({ body: charge }),
  status: ({ id, status }) => ({ body: { id, status } }),
  empty: () => ({ body: undefined, status: 204 }),
}

const STATUS_ANSWERS: Record<GatewayOptions['statusAnswer'], (charge: ChargeBody) => Success> = {
  charge: (charge) => ({ body: charge }),
  status: ({ status }) => ({ body: { status } }),
}

/** The seven routes of area G. */
export const createGatewayResolvers = (
  domain: GatewayDomain,
  options: Pick<GatewayOptions, 'confirmAnswer' | 'statusAnswer'>,
): Resolvers<typeof gatewayContract, GatewayCaller> => ({
  health: () => accepted({ body: { status: 'ok' } }),
  reference: () => accepted({ body: domain.reference() }),
  charge: ({ caller, idempotencyKey, fields }) =>
    keyed(domain.charge(caller.credential, idempotencyKey, fields)),
  confirm: ({ parameter, fields }) =>
    shaped(domain.confirm(parameter('confirmationId'), fields), CONFIRM_ANSWERS[options.confirmAnswer]),
  status: ({ parameter }) => shaped(domain.status(parameter('id')), STATUS_ANSWERS[options.statusAnswer]),
  renew: ({ caller, idempotencyKey, parameter, fields }) =>
    keyed(domain.renew(caller.credential, idempotencyKey, parameter('id'), fields)),
  reset() {
    domain.reset()
    return accepted({ body: { reset: true } })
  },
})

const ANYONE: GatewayCaller = { credential: '' }

/** Area G over HTTP. */
export const createGatewayArea = (parts: {
  readonly domain: GatewayDomain
  readonly limiter: Limiter | undefined
  /** The time of the limiter. */
  readonly now: () => number
  readonly options: Pick<GatewayOptions, 'confirmAnswer' | 'statusAnswer'>
  readonly apiPrefix: string
  readonly checksContentType: boolean
  readonly refusesUnknownFields: boolean
  readonly isDown: () => boolean
}): AreaRuntime => {
  const { domain, limiter, now, options, apiPrefix, checksContentType, refusesUnknownFields, isDown } = parts
  return {
    name: 'gateway',
    router: createOperationRouter({
      contract: gatewayContract,
      resolvers: createGatewayResolvers(domain, options),
      callerOf: ({ auth }, bearer) => (auth === 'api-key' ? domain.authenticate(bearer) : accepted(ANYONE)),
      prefixes: [GATEWAY_API_PREFIX, apiPrefix],
      // The specification does not show the method of reset (row 65).
      moreMethods: { 'gateway.reset': ['DELETE'] },
    }),
    answers: gatewayAnswers,
    limiter,
    // One limit for all routes and callers (Limits, area G).
    bucket: () => '',
    limitHeaders: () => ({}),
    refusalHeaders: ({ resetAt }) => ({ 'Retry-After': String(secondsUntil(resetAt, now())) }),
    checksContentType,
    refusesUnknownFields,
    isDown,
  }
}
