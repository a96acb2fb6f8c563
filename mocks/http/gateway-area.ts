import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import { ok, type RefusalReason, type Result } from '../base/result.ts'
import type { Gateway, Replay } from '../gateway/operations.ts'
import type { GatewayOptions } from '../gateway/options.ts'
import type { ChargeBody } from '../gateway/views.ts'
import type { AnyResolvers, AreaOptions, AreaRuntime, Replays, Resolvers, Success } from './area.ts'
import { secondsUntil } from './area.ts'
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

type ResponseOptions = Pick<GatewayOptions, 'confirmResponse' | 'statusResponse'>

const shaped = <Value>(result: Result<Value>, shape: (value: Value) => Success): Result<Success> =>
  result.ok ? ok(shape(result.value)) : result

const whole = (charge: ChargeBody): Success => ({ body: charge })

/** The responses that the options `confirmResponse` and `statusResponse` select. */
const CONFIRM_FORMS: Record<GatewayOptions['confirmResponse'], (charge: ChargeBody) => Success> = {
  charge: whole,
  status: ({ id, status }) => ({ body: { id, status } }),
  empty: () => ({ body: undefined, status: 204 }),
}

const STATUS_FORMS: Record<GatewayOptions['statusResponse'], (charge: ChargeBody) => Success> = {
  charge: whole,
  status: ({ status }) => ({ body: { status } }),
}

const NEW_KEY = 'To create another charge, send a new Idempotency-Key.'

const replayed = ({ body, other }: Replay): Success => ({
  body,
  replayed: true,
  ...(other === undefined ? {} : { explanation: `The first request had another ${other}. ${NEW_KEY}` }),
})

const createReplays = (domain: Gateway): Replays<typeof gatewayContract, GatewayCaller> => {
  const replay = (result: Result<Replay> | undefined): Result<Success> | undefined =>
    result && shaped(result, replayed)
  return {
    charge: ({ caller: { credential }, idempotencyKey: key, fields }) =>
      replay(domain.findReplay({ credential, key }, fields)),
    renew: ({ caller: { credential }, idempotencyKey: key, parameters, fields }) =>
      replay(domain.findReplay({ credential, key, mandateId: parameters.id }, fields)),
  }
}

/** Creates the resolvers of the seven operations of area G. */
const createResolvers = (
  domain: Gateway,
  { confirmResponse, statusResponse }: ResponseOptions,
): Resolvers<typeof gatewayContract, GatewayCaller> => ({
  health: () => ok({ body: { status: 'ok' } }),
  reference: () => ok({ body: domain.reference() }),
  charge: ({ caller: { credential }, idempotencyKey: key, fields }) =>
    shaped(domain.charge({ credential, key }, fields), whole),
  confirm: ({ caller, parameters, fields }) =>
    shaped(
      domain.confirm(parameters.confirmationId, fields, caller.credential),
      CONFIRM_FORMS[confirmResponse],
    ),
  status: ({ caller, parameters }) =>
    shaped(domain.status(parameters.id, caller.credential), STATUS_FORMS[statusResponse]),
  renew: ({ caller: { credential }, idempotencyKey: key, parameters: { id }, fields }) =>
    shaped(domain.renew({ credential, key, mandateId: id }, id, fields), whole),
  reset({ caller }) {
    domain.reset(caller.credential)
    return ok({ body: { reset: true } })
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
  readonly domain: Gateway
  readonly options: ResponseOptions
}): AreaRuntime => ({
  ...rest,
  ...responses,
  resolvers: createResolvers(domain, options) as AnyResolvers,
  replays: createReplays(domain) as AnyResolvers,
  name: 'gateway',
  router: routesBelow(rest.apiPrefix),
  authenticate: ({ auth }, bearer) => (auth === 'api-key' ? domain.authenticate(bearer) : ok(NOBODY)),
  // All routes and all callers share one rate limit (Limits, area G).
  bucket: () => '',
  limitHeaders: () => ({}),
  refusalHeaders: ({ resetAt }) => ({ 'Retry-After': String(secondsUntil(resetAt, now())) }),
  correlationFields: domain.correlationFields,
})
