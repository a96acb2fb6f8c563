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
  /** The number of all items. */
  readonly total: number
  /** The number of items on newer pages. */
  readonly skipped: number
  /** The items of this page, newest first. */
  readonly items: readonly Item[]
  /** The place of the next older page; `undefined` if there is no older page. */
  readonly older: number | undefined
  /** The place of the next newer page; `undefined` if the next newer page is the newest page, or does not exist. */
  readonly newer: number | undefined
}

/** A subscription as the panel shows it. It omits the return address, which may contain the payer's data. */
export interface ListedSubscription
  extends Omit<SubscriptionState, 'request' | 'createdAt' | 'authorizedAt' | 'cancelledAt'> {
  /** Time of creation. All times here are ISO 8601 in UTC. */
  readonly createdAt: string
  readonly authorizedAt: string | undefined
  readonly cancelledAt: string | undefined
  readonly requestID: string
  readonly amount: string
  readonly cycle: string
  readonly start: string
  readonly end: string
}

/** A fault that the mock still applies. */
export interface ListedFault {
  readonly number: number
  readonly fault: Fault
  /** How many more times the fault applies. */
  readonly left: number | 'always'
}

/** The data that the panel shows, without secrets. */
export interface PanelView {
  /** The mock's time, as ISO 8601 in UTC. */
  readonly now: string
  /** Whether the mock's clock is frozen. A frozen clock changes only when it is moved. */
  readonly clockStandsStill: boolean
  readonly outage: boolean
  readonly faults: readonly ListedFault[]
  readonly subscriptions: Listed<ListedSubscription>
  readonly payments: Listed<PaymentBody>
  readonly charges: Listed<ListedCharge>
  readonly notifications: Listed<ListedNotification>
  readonly requests: Listed<LoggedRequest>
}

/** Returns where a page ends. If the mock has deleted the page's items, returns the end of the oldest page. */
const endOf = ({ first, end }: Bounds, limit: number, place: number | undefined): number => {
  if (place === undefined || place > end) return end
  return place > first ? place : Math.min(end, first + limit)
}

/** Returns the page that ends at `place`. If `place` is undefined or invalid, returns the newest page. */
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

const listedSubscription = ({ request, ...state }: SubscriptionState): ListedSubscription => {
  const { createdAt, authorizedAt, cancelledAt } = state
  const { requestID, amount, cycle, start, end } = request
  return {
    ...state,
    createdAt: isoOf(createdAt),
    authorizedAt: authorizedAt === undefined ? undefined : isoOf(authorizedAt),
    cancelledAt: cancelledAt === undefined ? undefined : isoOf(cancelledAt),
    requestID,
    amount,
    cycle,
    start,
    end,
  }
}

/** Reads one page of each list, with at most `limit` items. */
export const readView = (mock: Mock, limit: number, places: Places): PanelView => {
  const { clock, faults, lists, outage } = internalsOf(mock)
  const page = <Item>(name: ListName, list: Sequence<Item>) => pageOf(list, limit, places[name])
  // Read the lists first: this runs the due entries, and so it may change the time that the clock shows.
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
