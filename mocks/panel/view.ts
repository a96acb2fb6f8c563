import type { DeliveryRecord } from '../delivery/types.ts'
import type { ChargeBody, NotificationBody, PaymentBody, SubscriptionState } from '../domain/api.ts'
import type { Fault } from '../http/fault-types.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { internalsOf } from '../internals.ts'
import type { Mock } from '../mock-types.ts'

/** The newest items of a list, the newest first, and how many there are in all. */
export interface Listed<Item> {
  readonly total: number
  readonly items: readonly Item[]
}

/** A subscription as the panel shows it. The merchant's return address is left out: it may hold what is the payer's. */
export interface ListedSubscription extends Omit<SubscriptionState, 'request' | 'createdAt'> {
  readonly createdAt: string
  readonly requestID: string
  readonly amount: string
  readonly cycle: string
  readonly start: string
  readonly end: string
}

/** A notification and the tries to deliver it. */
export interface ListedNotification extends NotificationBody {
  readonly tries: readonly DeliveryRecord[]
}

/** A fault that still acts, and how often: a number, or `always`. */
export interface ListedFault {
  readonly number: number
  readonly fault: Fault
  readonly left: number | 'always'
}

/** Everything that the panel shows. It holds no secret. */
export interface PanelView {
  /** ISO 8601, UTC. */
  readonly now: string
  readonly outage: boolean
  readonly faults: readonly ListedFault[]
  readonly subscriptions: Listed<ListedSubscription>
  readonly payments: Listed<PaymentBody>
  readonly charges: Listed<ChargeBody>
  readonly notifications: Listed<ListedNotification>
  readonly requests: Listed<LoggedRequest>
}

const newest = <Item, Shown>(
  all: readonly Item[],
  limit: number,
  shown: (item: Item) => Shown,
): Listed<Shown> => ({ total: all.length, items: all.slice(-limit).reverse().map(shown) })

const listedSubscription = ({ request, createdAt, ...state }: SubscriptionState): ListedSubscription => ({
  ...state,
  createdAt: new Date(createdAt).toISOString(),
  requestID: request.requestID,
  amount: request.amount,
  cycle: request.cycle,
  start: request.start,
  end: request.end,
})

const same = <Item>(item: Item): Item => item

/** Reads what the panel shows, at most `limit` items of each list. */
export const readView = (mock: Mock, limit: number): PanelView => {
  const { faults, log, outage } = internalsOf(mock)
  // First: reading the state settles what is due, and the clock is to be read after that.
  const subscriptions = newest(mock.state.subscriptions(), limit, listedSubscription)
  const charges = newest(mock.state.charges(), limit, same)
  const tries = new Map<string, DeliveryRecord[]>()
  for (const record of mock.notifications.deliveries()) {
    const others = tries.get(record.notificationId)
    if (others === undefined) tries.set(record.notificationId, [record])
    else others.push(record)
  }
  return {
    now: new Date(mock.clock.now()).toISOString(),
    outage: outage.isDown,
    faults: faults.armed().map(({ number, fault, left }) => ({
      number,
      fault,
      left: Number.isFinite(left) ? left : 'always',
    })),
    subscriptions,
    payments: newest(mock.state.payments(), limit, same),
    charges,
    notifications: newest(mock.notifications.all(), limit, (body) => ({
      ...body,
      tries: tries.get(body.notificationId) ?? [],
    })),
    requests: { total: log.size, items: log.newest(limit).toReversed() },
  }
}
