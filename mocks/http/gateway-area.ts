import { GATEWAY_API_PREFIX, gatewayContract } from '../../src/contract/gateway.ts'
import type { GatewayDomain, Limiter } from '../domain/api.ts'
import type { GatewayOptions } from '../domain/gateway/options.ts'
import { accepted } from '../domain/result.ts'
import type { AreaRuntime } from './area.ts'
import { createOperationRouter } from './area.ts'
import { secondsUntil } from './area-answers.ts'
import { gatewayAnswers } from './gateway-answers.ts'
import type { GatewayCaller } from './gateway-resolvers.ts'
import { createGatewayResolvers } from './gateway-resolvers.ts'

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
