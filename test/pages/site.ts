import { createGatewayDomain } from '../../mocks/domain/gateway/domain.ts'
import type { GatewayOptions } from '../../mocks/domain/gateway/options.ts'
import { createIds } from '../../mocks/domain/ids.ts'
import type { Result } from '../../mocks/domain/result.ts'
import { createSubscriptionsDomain } from '../../mocks/domain/subscriptions/domain.ts'
import type { SubscriptionsOptions } from '../../mocks/domain/subscriptions/options.ts'
import { defaultMerchant } from '../../mocks/domain/subscriptions/options.ts'
import { createTimeline } from '../../mocks/domain/timeline.ts'
import { createPages } from '../../mocks/pages/handler.ts'
import { CHARGE, SUBSCRIPTION } from './requests.ts'

const NOON = Date.UTC(2026, 10, 28, 12)

export const value = <Value>(result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new Error(`refused: ${JSON.stringify(result.refusal)}`)
}

/** Both areas and their pages, without a transport. */
export const createSite = (
  options: { gateway?: Partial<GatewayOptions>; subscriptions?: Partial<SubscriptionsOptions> } = {},
) => {
  let now = NOON
  let keys = 0
  const timeline = createTimeline(() => now)
  const parts = {
    timeline,
    ids: createIds('pages'),
    rules: 'spec' as const,
    baseUrl: () => 'https://mock.test',
  }
  const gateway = createGatewayDomain({ ...parts, options: options.gateway })
  const subscriptions = createSubscriptionsDomain({
    ...parts,
    options: options.subscriptions,
    notify: () => undefined,
  })
  const pages = createPages({ subscriptions, gateway })
  const merchant = options.subscriptions?.merchants?.[0] ?? defaultMerchant
  return {
    gateway,
    subscriptions,
    pages,
    advance(milliseconds: number) {
      now += milliseconds
    },
    /** A page's answer, or 404. */
    async fetch(request: Request): Promise<Response> {
      const { pathname } = new URL(request.url)
      const answer =
        (await pages(request, pathname, 'subscriptions')) ?? (await pages(request, pathname, 'gateway'))
      return answer ?? new Response('Not a page', { status: 404 })
    },
    /** A new request of the merchant; what a payer's browser would open. */
    subscribe(more: Record<string, unknown> = {}) {
      return value(
        subscriptions.subscribe(
          { clientId: merchant.clientId, username: merchant.users[0]?.username ?? '' },
          {
            clientID: merchant.clientId,
            requestID: `order-${++keys}`,
            ...SUBSCRIPTION,
            ...more,
          },
        ),
      )
    },
    charge(more: Record<string, unknown> = {}) {
      const fields = {
        ...CHARGE,
        ...more,
      }
      return value(gateway.charge('key-1', `key-${++keys}`, fields)).body
    },
  }
}
