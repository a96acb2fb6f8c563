import type { gatewayContract } from '../../src/contract/gateway.ts'
import type { ChargeBody, GatewayDomain, Keyed } from '../domain/api.ts'
import type { GatewayOptions } from '../domain/gateway/options.ts'
import type { Result } from '../domain/result.ts'
import { accepted } from '../domain/result.ts'
import type { Success } from './area-answers.ts'
import type { Resolvers } from './resolver.ts'

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
