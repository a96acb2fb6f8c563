import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import type { GatewayDomain } from '../domain/gateway/domain.ts'
import type { GatewayOptions } from '../domain/gateway/options.ts'
import type { KeyUse } from '../domain/gateway/state.ts'
import type { ChargeBody } from '../domain/gateway/types.ts'
import { accepted, type RefusalReason, type Result } from '../domain/result.ts'
import {
  type AreaOptions,
  type AreaRuntime,
  byName,
  type Call,
  type Replays,
  type Resolvers,
  type Success,
  secondsUntil,
} from './area.ts'
import { jsonResponse, mayHaveBody } from './response.ts'
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

/** The responses of area G: bodies without an envelope, and errors in the shape G2. */
const responses: Pick<AreaRuntime, 'success' | 'refusal' | 'failure'> = {
  success: (definition, { body, status = definition.status }, headers) =>
    mayHaveBody(status) ? jsonResponse(status, body, headers) : { status, headers, body: '' },
  refusal({ reason, message }, headers) {
    const [status, code] = REFUSALS[reason] ?? [500, 'internal_error']
    return jsonResponse(status, { error: { code, message } }, headers)
  },
  failure(status, message, headers) {
    const code = CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')
    return jsonResponse(status, { error: { code, message } }, headers)
  },
}

/** A caller, identified by an API key. */
export interface GatewayCaller {
  readonly credential: string
}

type ResponseOptions = Pick<GatewayOptions, 'confirmAnswer' | 'statusAnswer'>

const shaped = (result: Result<ChargeBody>, shape: (charge: ChargeBody) => Success): Result<Success> =>
  result.ok ? accepted(shape(result.value)) : result

/** The responses that the options `confirmAnswer` and `statusAnswer` select. */
const CONFIRM_FORMS: Record<GatewayOptions['confirmAnswer'], (charge: ChargeBody) => Success> = {
  charge: (charge) => ({ body: charge }),
  status: ({ id, status }) => ({ body: { id, status } }),
  empty: () => ({ body: undefined, status: 204 }),
}

const STATUS_FORMS: Record<GatewayOptions['statusAnswer'], (charge: ChargeBody) => Success> = {
  charge: (charge) => ({ body: charge }),
  status: ({ status }) => ({ body: { status } }),
}

type CallOf<Name extends keyof typeof gatewayContract> = Call<(typeof gatewayContract)[Name], GatewayCaller>

const keyOfCharge = ({ caller, idempotencyKey: key }: CallOf<'charge'>): KeyUse => ({
  route: 'charge',
  ...caller,
  pathId: '',
  key,
})

const keyOfRenewal = ({ caller, parameters, idempotencyKey: key }: CallOf<'renew'>): KeyUse => ({
  route: 'renew',
  ...caller,
  pathId: parameters.id,
  key,
})

const replaysOf = (domain: GatewayDomain): Replays<typeof gatewayContract, GatewayCaller> => ({
  charge: (call) => domain.original(keyOfCharge(call), call.fields),
  renew: (call) => domain.original(keyOfRenewal(call), call.fields),
})

/** Creates the resolvers of the seven operations of area G. */
const createResolvers = (
  domain: GatewayDomain,
  { confirmAnswer, statusAnswer }: ResponseOptions,
): Resolvers<typeof gatewayContract, GatewayCaller> => ({
  health: () => accepted({ body: { status: 'ok' } }),
  reference: () => accepted({ body: domain.reference() }),
  charge: (call) => domain.charge(keyOfCharge(call), call.fields),
  confirm: ({ caller, parameters, fields }) =>
    shaped(
      domain.confirm(parameters.confirmationId, fields, caller.credential),
      CONFIRM_FORMS[confirmAnswer],
    ),
  status: ({ caller, parameters }) =>
    shaped(domain.status(parameters.id, caller.credential), STATUS_FORMS[statusAnswer]),
  renew: (call) => domain.renew(keyOfRenewal(call), call.fields),
  reset({ caller }) {
    domain.reset(caller.credential)
    return accepted({ body: { reset: true } })
  },
})

const NOBODY: GatewayCaller = { credential: '' }

// The specification shows no HTTP method for `reset`, so the mock accepts both POST and DELETE (row 65).
const routesBelow = createRoutes(gatewayContract, GATEWAY_API_PREFIX, { reset: ['DELETE'] })

/** Creates the HTTP interface of area G. */
export const createGatewayArea = ({
  domain,
  options,
  now,
  ...rest
}: AreaOptions & {
  readonly domain: GatewayDomain
  readonly options: ResponseOptions
}): AreaRuntime => ({
  ...rest,
  ...responses,
  ...byName(createResolvers(domain, options), replaysOf(domain)),
  name: 'gateway',
  router: routesBelow(rest.apiPrefix),
  authenticate: ({ auth }, bearer) => (auth === 'api-key' ? domain.authenticate(bearer) : accepted(NOBODY)),
  // All routes and all callers share one rate limit (Limits, area G).
  bucket: () => '',
  limitHeaders: () => ({}),
  refusalHeaders: ({ resetAt }) => ({ 'Retry-After': String(secondsUntil(resetAt, now())) }),
  correlationFields: domain.related,
})
