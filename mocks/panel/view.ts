import type { MockInternals } from '../assemble.ts'
import type { Bounds, Sequence } from '../base/recent-list.ts'
import type { ListedNotification } from '../delivery/outbox.ts'
import { chargeTransitions } from '../gateway/state.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { operations } from '../http/area.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { requestTransitions, subscriptionTransitions } from '../subscriptions/state.ts'
import type { PaymentBody } from '../subscriptions/views.ts'
import type { Mock } from '../types.ts'
import { type ListName, type PanelQuery, placeOf } from './paging.ts'

/** A page of a list. */
export interface Listed<Item> {
  /** The number of all items that match the query. */
  readonly total: number
  /** The number of items on newer pages. */
  readonly skipped: number
  /** The items of this page, newest first. */
  readonly items: readonly Item[]
  /** The position at which the next older page ends; `undefined` if there is no older page. */
  readonly older: number | undefined
  /** The position at which the next newer page ends; `undefined` if that page is the newest or does not exist. */
  readonly newer: number | undefined
}

type SubscriptionRecord = NonNullable<ReturnType<Subscriptions['listed']>>

/** A subscription as the panel shows it. */
export type ListedSubscription = ReturnType<typeof listedSubscription>

/** The present states of one subscription or one charge. */
export interface ShownStates {
  readonly request?: string | undefined
  readonly subscription?: string | undefined
  readonly cancellation?: string | undefined
  readonly charge?: string | undefined
}

interface Items {
  readonly subscriptions: ListedSubscription
  readonly payments: PaymentBody
  readonly charges: ListedCharge
  readonly notifications: ListedNotification
  readonly requests: LoggedRequest
}

const deliveryState = ({ attempts }: ListedNotification): string =>
  attempts.length === 0 ? 'not sent' : attempts.at(-1)?.delivered === true ? 'delivered' : 'failed'

/** The states that the filter of each list offers, and a function that returns the states of an item. */
export const filters: {
  readonly [Name in ListName]: {
    readonly states: readonly string[]
    of(item: Items[Name]): readonly string[]
  }
} = {
  subscriptions: {
    states: [...new Set([...Object.keys(requestTransitions), ...Object.keys(subscriptionTransitions)])].slice(
      1,
    ),
    of: ({ requestStatus, phase }) => [requestStatus, phase],
  },
  payments: {
    states: ['paid', 'failed', 'reversed'],
    of: ({ status, reverseTransactionId }) => {
      const outcome = status === 'SUCCEEDED_PAYMENT' ? 'paid' : 'failed'
      return reverseTransactionId === null ? [outcome] : [outcome, 'reversed']
    },
  },
  charges: { states: Object.keys(chargeTransitions).slice(1), of: ({ status }) => [status] },
  requests: { states: operations, of: ({ operation = '' }) => [operation] },
  notifications: { states: ['delivered', 'failed', 'not sent'], of: (one) => [deliveryState(one)] },
}

/** Returns the end position of the page at `place`. If the mock has deleted that page, uses the oldest page instead. */
const endOf = ({ first, end }: Bounds, limit: number, place: number | undefined): number => {
  if (place === undefined || place > end) return end
  return place > first ? place : Math.min(end, first + limit)
}

/** Returns the page that ends at `place`. If `place` is undefined or too large, returns the newest page. */
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

/** Returns a list of the items for which `matches` returns true. Positions in this list start at 0. */
const filtered = <Item>(list: Sequence<Item>, matches: (item: Item) => boolean): Sequence<Item> => {
  const { first, end } = list.bounds()
  // Some lists use `matches` to skip items before they remove secrets, which is slow. Other lists ignore `matches`.
  const found = list.read(first, end, matches).filter(matches)
  return { bounds: () => ({ first: 0, end: found.length }), read: (from, to) => found.slice(from, to) }
}

const isoOf = (time: number): string => new Date(time).toISOString()
const optionalIsoOf = (time: number | undefined) => (time === undefined ? undefined : isoOf(time))

/** Returns a subscription without the return address, which may contain the payer's data. Times are ISO 8601 in UTC. */
const listedSubscription = ({ request, ...state }: SubscriptionRecord) => {
  const { requestID, amount, cycle, start, end } = request
  return {
    ...state,
    createdAt: isoOf(state.createdAt),
    authorizedAt: optionalIsoOf(state.authorizedAt),
    cancelledAt: optionalIsoOf(state.cancelledAt),
    requestID,
    amount,
    cycle,
    start,
    end,
  }
}

/** Returns the states of the subscription with an invoiceId, or of the charge with an id. */
const statesOf = ({ subscriptions, gateway }: MockInternals, id: string): ShownStates => {
  const charge = gateway.domain.status(id)
  if (charge.ok) return { charge: charge.value.status }
  const one = subscriptions.domain.listed(id)
  return { request: one?.requestStatus, subscription: one?.phase, cancellation: one?.cancellation }
}

/** Reads the data that the panel shows, without secrets, with one page of at most `limit` items of each list. */
export const readView = (mock: Mock, parts: MockInternals, limit: number, query: PanelQuery) => {
  const { clock, lists, outages } = parts
  const { faults, receivers, snapshots } = mock.control
  const page = <Name extends ListName>(name: Name, list: Sequence<Items[Name]>): Listed<Items[Name]> => {
    const [text, state] = [query.get(`${name}.q`)?.toLowerCase() ?? '', query.get(`${name}.is`)]
    const isListed = (item: Items[Name]): boolean =>
      (state === null || filters[name].of(item).includes(state)) &&
      (text === '' || JSON.stringify(item).toLowerCase().includes(text))
    const all = text === '' && state === null ? list : filtered(list, isListed)
    return pageOf(all, limit, placeOf(query, name))
  }
  // Read these lists before the clock. Reading them runs due events, and no shown event may be later than `now`.
  const subscriptions = page('subscriptions', {
    bounds: lists.subscriptions.bounds,
    read: (from, to) => lists.subscriptions.read(from, to).map(listedSubscription),
  })
  const charges = page('charges', lists.charges)
  return {
    now: isoOf(mock.clock.now()),
    isFrozen: clock.isFrozen(),
    outages: [...outages()],
    faults: faults.list(),
    receivers: receivers.list(),
    snapshots: snapshots.list().map(({ name, at }) => ({ name, at: at.toISOString() })),
    subscriptions,
    payments: page('payments', lists.payments),
    charges,
    notifications: page('notifications', lists.notifications),
    requests: page('requests', lists.requests),
    shown: statesOf(parts, query.get('show') ?? ''),
  }
}

/** The data that the panel shows. */
export type PanelView = ReturnType<typeof readView>
