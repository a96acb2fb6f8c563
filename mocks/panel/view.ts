import { internalsOf } from '../assemble.ts'
import type { Bounds, Sequence } from '../base/recent-list.ts'
import type { ListedNotification } from '../delivery/outbox.ts'
import { chargeTransitions } from '../gateway/state.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { operations } from '../http/area.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { decoded } from '../http/routes.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { requestTransitions, subscriptionTransitions } from '../subscriptions/state.ts'
import type { PaymentBody } from '../subscriptions/views.ts'
import type { Mock } from '../types.ts'

/** The names of the panel's lists, as they appear in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** The name of a list of the panel. */
export type ListName = (typeof listNames)[number]

/**
 * The query of the panel's URL. Each list has parameters, which start with the list's name. `charges` is the end
 * position of the shown page of charges; without it, the panel shows the newest page. `charges.q` selects charges by
 * text, and `charges.is` by state. `requests.of` selects the requests about an object.
 */
export type PanelQuery = URLSearchParams

/** Reads the query of a URL. Ignores unknown parameters and invalid positions. */
export const readQuery = (given: URLSearchParams): PanelQuery =>
  new URLSearchParams(
    [...given].filter(([name, value]) => {
      if (listNames.some((known) => known === name)) return /^\d{1,15}$/.test(value)
      return value !== '' && parameterNames.has(name)
    }),
  )

/** Returns the relative URL of the page with one changed parameter of the query. */
export const urlWith = (query: PanelQuery, name: string, value: string | number | undefined): string => {
  const changed = new URLSearchParams(query)
  changed.delete(name)
  if (value !== undefined) changed.set(name, String(value))
  return `?${changed}`
}

/** A page of a list. */
export interface Page<Item> {
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

interface Items {
  readonly subscriptions: ListedSubscription
  readonly payments: PaymentBody
  readonly charges: ListedCharge
  readonly notifications: ListedNotification
  readonly requests: LoggedRequest
}

/** Returns whether the last delivery of a notification succeeded. */
export const deliveryState = ({ attempts }: ListedNotification): string =>
  attempts.length === 0 ? 'not sent' : attempts.at(-1)?.delivered === true ? 'delivered' : 'failed'

/** Returns the states of a payment, such as `paid` and `reversed`. */
export const paymentStates = ({ status, reverseTransactionId }: PaymentBody): readonly string[] => [
  status === 'SUCCEEDED_PAYMENT' ? 'paid' : 'failed',
  ...(reverseTransactionId === null ? [] : ['reversed']),
]

const classOf = ({ status }: LoggedRequest): string =>
  status === undefined ? 'none' : `${Math.floor(status / 100)}xx`

/** A filter of a list: the end of its parameter's name, its choices, and a function that returns those of an item. */
interface Filter<Item> {
  readonly name: 'is' | 'status'
  readonly label: string
  readonly choices: readonly string[]
  of(item: Item): readonly string[]
}

const statesOf = (...tables: readonly object[]): readonly string[] =>
  [...new Set(tables.flatMap((table) => Object.keys(table)))].filter((state) => state !== 'none')

const byState = <Item>(choices: readonly string[], of: (item: Item) => readonly string[], label = 'State') =>
  ({ name: 'is', label, choices, of }) satisfies Filter<Item>

/** The filters of each list. */
export const filters: { readonly [Name in ListName]: readonly Filter<Items[Name]>[] } = {
  subscriptions: [
    byState(statesOf(requestTransitions, subscriptionTransitions), (one) => [one.requestStatus, one.phase]),
  ],
  payments: [byState(['paid', 'failed', 'reversed'], paymentStates)],
  charges: [byState(statesOf(chargeTransitions), ({ status }) => [status])],
  requests: [
    {
      name: 'status',
      label: 'Status',
      choices: ['2xx', '3xx', '4xx', '5xx', 'none'],
      of: (one) => [classOf(one)],
    },
    byState(operations, ({ operation = '' }) => [operation], 'Operation'),
  ],
  notifications: [byState(['delivered', 'failed', 'not sent'], (one) => [deliveryState(one)], 'Delivery')],
}

const parameterNames = new Set([
  'requests.of',
  ...listNames.flatMap((list) => [`${list}.q`, ...filters[list].map(({ name }) => `${list}.${name}`)]),
])

/** Returns the end position of the page at `cursor`. If the mock has deleted that page, uses the oldest page instead. */
const endOf = ({ first, end }: Bounds, limit: number, cursor: number | undefined): number => {
  if (cursor === undefined || cursor > end) return end
  return cursor > first ? cursor : Math.min(end, first + limit)
}

/** Returns the page that ends at `cursor`. If `cursor` is undefined or too large, returns the newest page. */
const pageOf = <Item>(list: Sequence<Item>, limit: number, cursor: number | undefined): Page<Item> => {
  const bounds = list.bounds()
  const { first, end } = bounds
  const to = endOf(bounds, limit, cursor)
  const from = Math.max(first, to - limit)
  return {
    total: end - first,
    skipped: end - to,
    items: list.read(from, to).toReversed(),
    older: from > first ? from : undefined,
    newer: to + limit < end ? to + limit : undefined,
  }
}

/** Returns all items for which `isWanted` returns true, oldest first. */
const readAll = <Item>(list: Sequence<Item>, isWanted: (item: Item) => boolean): readonly Item[] => {
  const { first, end } = list.bounds()
  // Some lists use `isWanted` to skip items before they remove secrets, which is slow. Other lists ignore it.
  return list.read(first, end, isWanted).filter(isWanted)
}

/** Returns a list of the items for which `isWanted` returns true. Positions in this list start at 0. */
const filtered = <Item>(list: Sequence<Item>, isWanted: (item: Item) => boolean): Sequence<Item> => {
  const found = readAll(list, isWanted)
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

/** Returns the text values in a URL's path and query, in a body and in a response. */
const valuesIn = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : [String(value)]

/** Returns the values in a request and its response, among which are the identifiers of the objects it is about. */
export const idsIn = ({ path, body, response }: LoggedRequest): ReadonlySet<string> =>
  new Set([...path.split(/[/?&=]/).map(decoded), ...valuesIn(body), ...valuesIn(response)])

/** Returns a subscription by its invoiceId or subscriptionId. */
export const findSubscription = (mock: Mock, id: string): ListedSubscription | undefined => {
  const record = internalsOf(mock).subscriptions.domain.listed(id)
  return record && listedSubscription(record)
}

/** Returns the charge with one of the ids, which may be the id of its confirmation. */
export const findCharge = (mock: Mock, ids: ReadonlySet<string>): ListedCharge | undefined =>
  readAll(internalsOf(mock).lists.charges, (one) => ids.has(one.id) || ids.has(one.confirmation_id))[0]

/** Returns all identifiers of the object with an identifier. */
const aliasesOf = (mock: Mock, id: string): readonly string[] => {
  const one = findSubscription(mock, id)
  if (one !== undefined) {
    const payments = mock.state.payments(one.subscriptionId).map(({ paymentId }) => String(paymentId))
    return [one.invoiceId, one.subscriptionId, one.requestID, ...payments]
  }
  const charge = findCharge(mock, new Set([id]))
  return charge === undefined ? [id] : [charge.id, charge.confirmation_id]
}

/** Returns the notification with an id, or the notifications about a subscription, oldest first. */
export const findNotifications = (mock: Mock, id: string): readonly ListedNotification[] =>
  readAll(internalsOf(mock).outbox.list, (one) => [one.notificationId, one.subscriptionId].includes(id))

/** Returns the function that selects the requests about an object. */
const isAbout = (mock: Mock, id: string): ((one: LoggedRequest) => boolean) => {
  const aliases = aliasesOf(mock, id)
  return (one) => {
    const found = idsIn(one)
    return aliases.some((alias) => found.has(alias))
  }
}

/** Returns the requests about an object, oldest first. */
export const requestsOf = (mock: Mock, id: string): readonly LoggedRequest[] =>
  mock.requests.all().filter(isAbout(mock, id))

/** Returns the time at which something happens next without a call, if anything is planned. */
export const nextEventAt = (mock: Mock): number | undefined => {
  const { clock, gateway } = internalsOf(mock)
  const at = Math.min(clock.agenda.nextAt() ?? Number.POSITIVE_INFINITY, gateway.domain.nextChangeAt())
  return Number.isFinite(at) ? at : undefined
}

/** Reads the data that the panel shows, without secrets, with one page of at most `limit` items of each list. */
export const readView = (mock: Mock, limit: number, query: PanelQuery) => {
  const { clock, lists, outages } = internalsOf(mock)
  const { faults, receivers, snapshots } = mock.control
  const page = <Name extends ListName>(name: Name, list: Sequence<Items[Name]>): Page<Items[Name]> => {
    const tests: ((item: Items[Name]) => boolean)[] = filters[name].flatMap(({ name: end, of }) => {
      const wanted = query.get(`${name}.${end}`)
      return wanted === null ? [] : (item) => of(item).includes(wanted)
    })
    const text = query.get(`${name}.q`)?.toLowerCase()
    if (text !== undefined) tests.push((item) => JSON.stringify(item).toLowerCase().includes(text))
    const cursor = query.get(name)
    return pageOf(
      tests.length === 0 ? list : filtered(list, (item) => tests.every((isWanted) => isWanted(item))),
      limit,
      cursor === null ? undefined : Number(cursor),
    )
  }
  const object = query.get('requests.of')
  const requests = object === null ? lists.requests : filtered(lists.requests, isAbout(mock, object))
  // Read these lists before the clock. Reading them runs due events, and no shown event may be later than `now`.
  const subscriptions = page('subscriptions', {
    bounds: lists.subscriptions.bounds,
    read: (from, to) => lists.subscriptions.read(from, to).map(listedSubscription),
  })
  const charges = page('charges', lists.charges)
  return {
    now: isoOf(mock.clock.now()),
    nextEventAt: optionalIsoOf(nextEventAt(mock)),
    isFrozen: clock.isFrozen(),
    outages: [...outages()],
    faults: faults.list(),
    receivers: receivers.list(),
    snapshots: snapshots.list().map(({ name, at }) => ({ name, at: at.toISOString() })),
    subscriptions,
    payments: page('payments', lists.payments),
    charges,
    notifications: page('notifications', lists.notifications),
    requests: page('requests', requests),
  }
}

/** The data that the panel shows. */
export type PanelView = ReturnType<typeof readView>
