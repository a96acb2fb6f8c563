import type { Rules } from '../../mocks/domain/check-options.ts'
import type { ManagedClock } from '../../mocks/domain/clock.ts'
import { createClock } from '../../mocks/domain/clock.ts'
import type { Ids } from '../../mocks/domain/ids.ts'
import { createIds } from '../../mocks/domain/ids.ts'
import type { Result } from '../../mocks/domain/result.ts'
import { createSubscriptionsDomain } from '../../mocks/domain/subscriptions/domain.ts'
import type { SubscriptionsOptions } from '../../mocks/domain/subscriptions/options.ts'
import { defaultMerchant } from '../../mocks/domain/subscriptions/options.ts'
import type {
  Merchant,
  NotificationBody,
  SubscriptionsDomain,
} from '../../mocks/domain/subscriptions/types.ts'

/** Area S on a frozen clock, with everything it is made of. */
export interface Fixture {
  readonly clock: ManagedClock
  readonly ids: Ids
  readonly domain: SubscriptionsDomain
  readonly merchant: Merchant
  /** Every notification that arose, oldest first. */
  readonly notifications: NotificationBody[]
}

const NOON = '2026-11-28T10:00:00Z'

export const fixture = (
  options: Partial<SubscriptionsOptions> = {},
  {
    clock: start = NOON,
    rules = 'spec',
    seed = 'test',
  }: { clock?: string; rules?: Rules; seed?: string } = {},
): Fixture => {
  const clock = createClock({ clock: start })
  const ids = createIds(seed)
  const notifications: NotificationBody[] = []
  const domain = createSubscriptionsDomain({
    timeline: clock.timeline,
    ids,
    options,
    rules,
    baseUrl: () => 'https://subscriptions.test/prefix/',
    notify: (body) => notifications.push(body),
  })
  const merchant = { clientId: defaultMerchant.clientId, username: defaultMerchant.users[0].username }
  return { clock, ids, domain, merchant, notifications }
}

/** A body of subscribe that passes; fields given replace it. */
export const body = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  clientID: defaultMerchant.clientId,
  requestID: 'order-1',
  start: '2026-11-28',
  end: '2027-11-28',
  userReturnURL: 'https://shop.test/return',
  cycle: 'DAILY',
  amount: '25.00',
  ...fields,
})

/** Body of a login with the documented credentials; fields given replace it. */
export const login = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  grant_type: 'password',
  client_id: defaultMerchant.clientId,
  client_secret: defaultMerchant.clientSecret,
  username: defaultMerchant.users[0].username,
  password: defaultMerchant.users[0].password,
  ...fields,
})

/** The value of a result that must be a success. */
export const value = <Value>(result: Result<Value>): Value => {
  if (!result.ok) throw new Error(`Refused: ${JSON.stringify(result.refusal)}`)
  return result.value
}

/** The reason of a result that must be a refusal. */
export const reason = (result: Result<unknown>): string => (result.ok ? 'accepted' : result.refusal.reason)

/** Asks for a subscription; both its identifiers. */
export const subscribe = (
  { domain, merchant }: Fixture,
  fields: Record<string, unknown> = {},
): { readonly invoiceId: string; readonly subscriptionId: string } => {
  const { invoiceID } = value(domain.subscribe(merchant, body(fields)))
  const { subscriptionId = '' } = value(domain.status(merchant, invoiceID))
  return { invoiceId: invoiceID, subscriptionId }
}

/** Due dates of a subscription's payments, oldest first. */
export const dueDates = ({ domain }: Fixture, subscriptionId: string): string[] =>
  domain.paymentsOf(subscriptionId).map(({ dueDate }) => dueDate)
