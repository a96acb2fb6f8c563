import type { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { Merchant, SubscriptionsDomain } from '../domain/api.ts'
import type { Result } from '../domain/result.ts'
import type { Success } from './area-answers.ts'
import type { Resolvers } from './resolver.ts'

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
