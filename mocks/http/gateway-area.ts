import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import { ok, type Result } from '../base/result.ts'
import { createRollingLimit, type Gateway } from '../gateway/operations.ts'
import type { GatewayOptions } from '../gateway/options.ts'
import type { ChargeBody } from '../gateway/state.ts'
import type { AreaRuntime, LimitContext, Replays, Resolvers } from './area.ts'
import { createRoutes } from './routes.ts'

/** The HTTP status and the error code of each refusal (rows 69 to 77). */
const REFUSALS: AreaRuntime['refusals'] = {
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

/** Creates the resolvers of the seven operations of area G. */
const createResolvers = (
  domain: Gateway,
  { confirmResponse, statusResponse }: GatewayOptions,
): Resolvers<typeof gatewayContract, GatewayCaller> => ({
  health: () => ok({ status: 'ok' }),
  reference: () => ok(domain.reference()),
  charge: domain.charge,
  confirm: ({ caller, parameters, fields }) =>
    shaped(
      domain.confirm(parameters.confirmationId, fields, caller.credential),
      CONFIRM_FORMS[confirmResponse],
    ),
  status: ({ caller, parameters }) =>
    shaped(domain.status(parameters.id, caller.credential), STATUS_FORMS[statusResponse]),
  renew: domain.renew,
  reset({ caller }) {
    domain.reset(caller.credential)
    return ok({ reset: true })
  },
})

// The specification shows no HTTP method for `reset`, so the mock accepts both POST and DELETE (row 65).
const routesBelow = createRoutes(gatewayContract, GATEWAY_API_PREFIX, { reset: ['DELETE'] })

/** Creates the HTTP interface of area G: bodies without an envelope, and errors in the shape G2. */
export const createGatewayArea = (
  domain: Gateway,
  options: GatewayOptions & AreaRuntime['options'],
  limits: LimitContext,
): AreaRuntime => {
  const replays: Replays<typeof gatewayContract, GatewayCaller> = {
    charge: domain.findReplay,
    renew: domain.findReplay,
  }
  return {
    name: 'gateway',
    options,
    router: routesBelow(options.apiPrefix),
    limit: createRollingLimit(options.rateLimit, limits),
    authenticate: domain.authenticate,
    resolvers: createResolvers(domain, options) as AreaRuntime['resolvers'],
    replays: replays as AreaRuntime['replays'],
    refusals: REFUSALS,
    codeOf: (status) => CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request'),
    error: (code, message) => ({ error: { code, message } }),
    correlationFields: domain.correlationFields,
  }
}
