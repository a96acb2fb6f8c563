import { SUBSCRIPTIONS_API_PREFIX, subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { Limiter, Merchant, SubscriptionsDomain } from '../domain/api.ts'
import { accepted } from '../domain/result.ts'
import type { AreaRuntime } from './area.ts'
import { createOperationRouter } from './area.ts'
import { secondsUntil } from './area-answers.ts'
import type { AnswerOptions } from './subscriptions-answers.ts'
import { createSubscriptionsAnswers, limitHeaders } from './subscriptions-answers.ts'
import { createSubscriptionsResolvers } from './subscriptions-resolvers.ts'
import type { Vary } from './variants.ts'

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
