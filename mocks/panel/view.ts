import { internalsOf } from '../assemble.ts'
import type { ListedNotification } from '../delivery/deliveries.ts'
import type { ListedCharge } from '../domain/gateway/types.ts'
import type { Bounds, Sequence } from '../domain/paged-list.ts'
import type { PaymentBody, SubscriptionState } from '../domain/subscriptions/types.ts'
import type { Fault } from '../http/fault-schema.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import type { Mock } from '../types.ts'
import type { ListName, Places } from './paging.ts'

/** A page of a list. */
export interface Listed<Item> {
  /** How many there are in all. */
  readonly total: number
  /** How many are newer than those of this page. */
  readonly skipped: number
  /** The newest first. */
  readonly items: readonly Item[]
  /** The place whose page shows the next older ones; `undefined` when there are none. */
  readonly older: number | undefined
  /** The place whose page shows the next newer ones; `undefined` when that page is the newest. */
  readonly newer: number | undefined
}

/** A subscription as the panel shows it. The merchant's return address is left out: it may hold what is the payer's. */
export interface ListedSubscription
  extends Omit<SubscriptionState, 'request' | 'createdAt' | 'authorizedAt' | 'cancelledAt'> {
  /** ISO 8601, UTC, as the other times. */
  readonly createdAt: string
  readonly authorizedAt: string | undefined
  readonly cancelledAt: string | undefined
  readonly requestID: string
  readonly amount: string
  readonly cycle: string
  readonly start: string
  readonly end: string
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
  /** Whether the mock's clock moves only when it is moved. */
  readonly clockStandsStill: boolean
  readonly outage: boolean
  readonly faults: readonly ListedFault[]
  readonly subscriptions: Listed<ListedSubscription>
  readonly payments: Listed<PaymentBody>
  readonly charges: Listed<ListedCharge>
  readonly notifications: Listed<ListedNotification>
  readonly requests: Listed<LoggedRequest>
}

/** Where a page ends: at its place, while there is one; what has been dropped leads to the oldest that is kept. */
const endOf = ({ first, end }: Bounds, limit: number, place: number | undefined): number => {
  if (place === undefined || place > end) return end
  return place > first ? place : Math.min(end, first + limit)
}

/** The page of a list before a place; the newest one without a place, or for a place that there is not. */
const pageOf = <Item>(list: Sequence<Item>, limit: number, place: number | undefined): Listed<Item> => {
  const bounds = list.bounds()
  const { first, end } = bounds
  const to = endOf(bounds, limit, place)
  const from = Math.max(first, to - limit)
  return {
    total: end - first,
    skipped: end - to,
    items: list.read(from, to).toReversed(),
    older: from > first ? from : undefined,
    newer: to + limit < end ? to + limit : undefined,
  }
}

const isoOf = (time: number): string => new Date(time).toISOString()
const isoIfAny = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : isoOf(time)

const listedSubscription = ({ request, ...state }: SubscriptionState): ListedSubscription => ({
  ...state,
  createdAt: isoOf(state.createdAt),
  authorizedAt: isoIfAny(state.authorizedAt),
  cancelledAt: isoIfAny(state.cancelledAt),
  requestID: request.requestID,
  amount: request.amount,
  cycle: request.cycle,
  start: request.start,
  end: request.end,
})

/** Reads what the panel shows: of each list the page at its place, of at most `limit` items. */
export const readView = (mock: Mock, limit: number, places: Places): PanelView => {
  const { clock, faults, lists, outage } = internalsOf(mock)
  const page = <Item>(name: ListName, list: Sequence<Item>) => pageOf(list, limit, places[name])
  // First: reading the state settles what is due, and the clock is to be read after that.
  const subscriptions = page('subscriptions', lists.subscriptions)
  const charges = page('charges', lists.charges)
  return {
    now: isoOf(mock.clock.now()),
    clockStandsStill: clock.standsStill,
    outage: outage.isDown,
    faults: faults.armed().map(({ number, fault, left }) => ({
      number,
      fault,
      left: Number.isFinite(left) ? left : 'always',
    })),
    subscriptions: { ...subscriptions, items: subscriptions.items.map(listedSubscription) },
    payments: page('payments', lists.payments),
    charges,
    notifications: page('notifications', lists.notifications),
    requests: page('requests', lists.requests),
  }
}
