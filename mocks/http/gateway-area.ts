import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import { ok, type RefusalReason, type Result } from '../base/result.ts'
import type { Gateway } from '../gateway/operations.ts'
import type { GatewayOptions } from '../gateway/options.ts'
import type { ChargeBody } from '../gateway/state.ts'
import {
  type Admission,
  type AreaRuntime,
  type LimitContext,
  type Replays,
  type Resolvers,
  secondsUntil,
} from './area.ts'
import { jsonResponse, NO_HEADERS } from './message.ts'
import { createRoutes } from './routes.ts'

/** The HTTP status and the error code of each refusal (rows 69 to 77). */
const REFUSALS: Partial<Record<RefusalReason, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'not_found'],
  unauthorized: [401, 'unauthorized'],
  rate_limited: [429, 'rate_limited'],
  incorrect_code: [400, 'incorrect_code'],
  missing_idempotency_key: [400, 'missing_idempotency_key'],
  idempotency_key_in_use: [409, 'idempotency_key_in_use'],
  idempotency_key_reused: [422, 'idempotency_key_reused'],
  mandate_mismatch: [422, 'mandate_mismatch'],
  mandate_not_active: [422, 'mandate_not_active'],
  already_confirmed: [409, 'already_confirmed'],
  charge_expired: [409, 'charge_expired'],
  redirect_uri_not_allowed: [400, 'redirect_uri_not_allowed'],
}

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
}

/** A caller, identified by an API key. */
export interface GatewayCaller {
  readonly credential: string
}

type Shape = (charge: ChargeBody) => unknown

/** The bodies that the options `confirmResponse` and `statusResponse` select. Without a body, the status is 204. */
const CONFIRM_FORMS: Record<GatewayOptions['confirmResponse'], Shape> = {
  charge: (charge) => charge,
  status: ({ id, status }) => ({ id, status }),
  empty: () => undefined,
}

const STATUS_FORMS: Record<GatewayOptions['statusResponse'], Shape> = {
  charge: (charge) => charge,
  status: ({ status }) => ({ status }),
}

const shaped = (result: Result<ChargeBody>, shape: Shape): Result<unknown> =>
  result.ok ? ok(shape(result.value)) : result

/** For operations with idempotency keys: the first result of a used key. */
const createReplays = (domain: Gateway): Replays<typeof gatewayContract, GatewayCaller> => ({
  charge: ({ caller: { credential }, idempotencyKey: key, fields }) =>
    domain.findReplay({ credential, key }, fields),
  renew: ({ caller: { credential }, idempotencyKey: key, parameters, fields }) =>
    domain.findReplay({ credential, key, mandateId: parameters.id }, fields),
})

/** Creates the resolvers of the seven operations of area G. */
const createResolvers = (
  domain: Gateway,
  { confirmResponse, statusResponse }: GatewayOptions,
): Resolvers<typeof gatewayContract, GatewayCaller> => ({
  health: () => ok({ status: 'ok' }),
  reference: () => ok(domain.reference()),
  charge: ({ caller: { credential }, idempotencyKey: key, fields }) =>
    domain.charge({ credential, key }, fields),
  confirm: ({ caller, parameters, fields }) =>
    shaped(
      domain.confirm(parameters.confirmationId, fields, caller.credential),
      CONFIRM_FORMS[confirmResponse],
    ),
  status: ({ caller, parameters }) =>
    shaped(domain.status(parameters.id, caller.credential), STATUS_FORMS[statusResponse]),
  renew: ({ caller: { credential }, idempotencyKey: key, parameters: { id }, fields }) =>
    domain.renew({ credential, key, mandateId: id }, id, fields),
  reset({ caller }) {
    domain.reset(caller.credential)
    return ok({ reset: true })
  },
})

const UNLIMITED: Admission = { allowed: true, limit: 0, headers: NO_HEADERS, retryAfter: NO_HEADERS }

/**
 * Creates a limit with a rolling window (Limits, area G). It accepts at most `limit` calls in any period of `windowMs`
 * milliseconds, for all routes and callers together. Refused calls do not count.
 */
const createRollingLimit = (
  rolling: GatewayOptions['rateLimit'],
  { state, now, isOff }: LimitContext,
): AreaRuntime['limit'] => {
  if (rolling === false) return () => UNLIMITED
  const { limit, windowMs } = rolling
  return (_bearer, _definition, _fields, counts) => {
    if (isOff?.() === true) return UNLIMITED
    const time = now()
    const times = state.limits.gateway ?? []
    // After the clock is set back, the times of earlier calls can be in the future. These calls must not count.
    while ((times.at(-1) ?? time) > time) times.pop()
    while ((times[0] ?? time) <= time - windowMs) times.shift()
    const allowed = times.length < limit
    if (allowed && counts) times.push(time)
    const retryAfter = allowed
      ? NO_HEADERS
      : { 'Retry-After': secondsUntil((times[0] ?? time) + windowMs, time) }
    return { allowed, limit, headers: NO_HEADERS, retryAfter }
  }
}

const NOBODY: GatewayCaller = { credential: '' }

// The specification shows no HTTP method for `reset`, so the mock accepts both POST and DELETE (row 65).
const routesBelow = createRoutes(gatewayContract, GATEWAY_API_PREFIX, { reset: ['DELETE'] })

/** Creates the HTTP interface of area G: bodies without an envelope, and errors in the shape G2. */
export const createGatewayArea = (
  domain: Gateway,
  options: GatewayOptions & AreaRuntime['options'],
  limits: LimitContext,
): AreaRuntime => ({
  name: 'gateway',
  options,
  router: routesBelow(options.apiPrefix),
  limit: createRollingLimit(options.rateLimit, limits),
  authenticate: ({ auth }, bearer) => (auth === 'api-key' ? domain.authenticate(bearer) : ok(NOBODY)),
  resolvers: createResolvers(domain, options) as AreaRuntime['resolvers'],
  replays: createReplays(domain) as AreaRuntime['replays'],
  success: ({ status }, body, headers) =>
    body === undefined ? { status: 204, headers, body: '' } : jsonResponse(status, body, headers),
  refusal({ reason, message }, headers) {
    const [status, code] = REFUSALS[reason] ?? [500, 'internal_error']
    return jsonResponse(status, { error: { code, message } }, headers)
  },
  failure(status, message, headers) {
    const code = CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')
    return jsonResponse(status, { error: { code, message } }, headers)
  },
  correlationFields: domain.correlationFields,
})
