import { internalsOf } from '../assemble.ts'
import type { Sequence } from '../base/recent-list.ts'
import type { ListedNotification } from '../delivery/types.ts'
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

export type ListName = (typeof listNames)[number]

export type ListedSubscription = ReturnType<typeof listedSubscription>

export interface ListedItems {
  readonly subscriptions: ListedSubscription
  readonly payments: PaymentBody
  readonly charges: ListedCharge
  readonly notifications: ListedNotification
  readonly requests: LoggedRequest
}

/**
 * Reads the query of the panel's URL. `charges` is the end position of the shown page of charges; without it, the panel
 * shows the newest page. `charges.q` selects charges by text, and `charges.is` by state. The other lists have the same
 * parameters. `requests.of` selects the requests about an object. An empty field of a form selects nothing.
 */
export const readQuery = (given: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...given].filter(([name, value]) => value !== '' && name !== 'notice'))

/** Returns the relative URL of the page with one changed parameter of the query. */
export const urlWith = (query: URLSearchParams, name: string, value: number | undefined): string => {
  const others = [...query].filter(([other]) => other !== name)
  return `?${new URLSearchParams(value === undefined ? others : [...others, [name, String(value)]])}`
}

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

/** Returns whether the last delivery of a notification succeeded. */
export const deliveryState = ({ attempts }: ListedNotification): string =>
  attempts.length === 0 ? 'not sent' : attempts.at(-1)?.delivered === true ? 'delivered' : 'failed'

/** Returns the states of a payment, such as `paid` and `reversed`. */
export const paymentStates = ({ status, reverseTransactionId }: PaymentBody): readonly string[] => [
  status === 'SUCCEEDED_PAYMENT' ? 'paid' : 'failed',
  ...(reverseTransactionId === null ? [] : ['reversed']),
]

/** A filter of a list: the end of its parameter's name, its choices, and a function that returns those of an item. */
interface Filter<Item> {
  readonly name: 'is' | 'status'
  readonly label: string
  readonly choices: readonly string[]
  of(item: Item): readonly string[]
}

const statesOf = (transitions: object): readonly string[] =>
  Object.keys(transitions).filter((state) => state !== 'none')

const filter = <Item>(
  label: string,
  choices: readonly string[],
  of: (item: Item) => readonly string[],
  name: 'is' | 'status' = 'is',
): Filter<Item> => ({ name, label, choices, of })

const classOf = ({ status }: LoggedRequest): string =>
  status === undefined ? 'none' : `${Math.floor(status / 100)}xx`

export const filters: { readonly [Name in ListName]: readonly Filter<ListedItems[Name]>[] } = {
  subscriptions: [
    filter('State', statesOf({ ...requestTransitions, ...subscriptionTransitions }), (one) => [
      one.requestStatus,
      one.phase,
    ]),
  ],
  payments: [filter('State', ['paid', 'failed', 'reversed'], paymentStates)],
  charges: [filter('State', statesOf(chargeTransitions), ({ status }) => [status])],
  requests: [
    filter('Status', ['2xx', '3xx', '4xx', '5xx', 'none'], (one) => [classOf(one)], 'status'),
    filter('Operation', operations, ({ operation = '' }) => [operation]),
  ],
  notifications: [filter('Delivery', ['delivered', 'failed', 'not sent'], (one) => [deliveryState(one)])],
}

/** Returns the page that ends at `cursor`, or the newest page if `cursor` is not a position of the list. */
const pageOf = <Item>(list: Sequence<Item>, limit: number, cursor: string | null): Page<Item> => {
  const { first, end } = list.bounds()
  const at = /^\d{1,15}$/.test(cursor ?? '') ? Math.min(Number(cursor), end) : end
  // If the mock has deleted that page, the oldest page replaces it.
  const to = at > first ? at : Math.min(end, first + limit)
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
export const readAll = <Item>(list: Sequence<Item>, isWanted: (item: Item) => boolean): readonly Item[] => {
  const { first, end } = list.bounds()
  return list.read(first, end).filter(isWanted)
}

/** Returns a list of the items for which `isWanted` returns true. Positions in this list start at 0. */
const filtered = <Item>(list: Sequence<Item>, isWanted: (item: Item) => boolean): Sequence<Item> => {
  const found = readAll(list, isWanted)
  return { bounds: () => ({ first: 0, end: found.length }), read: (from, to) => found.slice(from, to) }
}

/** Returns a time for JSON, which has it as ISO 8601 in UTC. */
const dateOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time))

/** Returns a subscription without the return address, which may contain the payer's data. */
const listedSubscription = ({ request, ...state }: NonNullable<ReturnType<Subscriptions['listed']>>) => {
  const { requestID, amount, cycle, start, end } = request
  const [authorizedAt, cancelledAt] = [dateOf(state.authorizedAt), dateOf(state.cancelledAt)]
  const times = { createdAt: new Date(state.createdAt), authorizedAt, cancelledAt }
  return { ...state, ...times, requestID, amount, cycle, start, end }
}

/** Returns the text values in a URL's path and query, in a body and in a response. */
const valuesIn = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : [String(value)]

/** Returns the values in a request and its response, among which are the identifiers of the objects it is about. */
export const idsIn = ({ path, body, response, objectId }: LoggedRequest): ReadonlySet<string> =>
  new Set([...path.split(/[/?&=]/).map(decoded), ...valuesIn([body, response, objectId])])

/** Returns a subscription by its invoiceId or subscriptionId. */
export const findSubscription = (mock: Mock, id: string): ListedSubscription | undefined => {
  const record = internalsOf(mock).subscriptions.domain.listed(id)
  return record && listedSubscription(record)
}

/** Returns charges without secrets. The merchant chooses the idempotency key, so the key may contain a secret. */
const withoutSecrets = (mock: Mock, charges: readonly ListedCharge[]): readonly ListedCharge[] =>
  charges.map((charge) => {
    const { idempotencyKey: key } = charge
    return { ...charge, idempotencyKey: key && internalsOf(mock).hide(key) }
  })

/** Returns the charge with one of the ids, which may be the id of its confirmation. */
export const findCharge = (mock: Mock, ids: ReadonlySet<string>): ListedCharge | undefined => {
  const isWanted = (one: ListedCharge) => ids.has(one.id) || ids.has(one.confirmation_id)
  return withoutSecrets(mock, readAll(internalsOf(mock).lists.charges, isWanted))[0]
}

/** Returns the notification with an id, or the notifications about a subscription, oldest first. */
export const findNotifications = (mock: Mock, id: string): readonly ListedNotification[] =>
  readAll(internalsOf(mock).outbox.list, (one) => [one.notificationId, one.subscriptionId].includes(id))

/** Returns the function that tells whether a request is about an object, whichever identifier the request names. */
const isAbout = (mock: Mock, id: string): ((one: LoggedRequest) => boolean) => {
  const one = findSubscription(mock, id)
  const charge = one === undefined ? findCharge(mock, new Set([id])) : undefined
  const payments = one === undefined ? [] : mock.state.payments(one.subscriptionId)
  const names = [one?.invoiceId, one?.subscriptionId, charge?.id, charge?.confirmation_id]
  const aliases = [id, ...names, ...payments.map(({ paymentId }) => String(paymentId))]
  return (request) => {
    const found = idsIn(request)
    // Two subscriptions may have the same requestID, so an identifier of the mock takes precedence.
    const known = request.objectId === undefined ? [...aliases, one?.requestID] : aliases
    return known.some((alias) => alias !== undefined && found.has(alias))
  }
}

/** Returns the requests about an object, oldest first. */
export const requestsOf = (mock: Mock, id: string): readonly LoggedRequest[] =>
  mock.requests.all().filter(isAbout(mock, id))

/** Returns what happens next without a call, if anything is planned. */
export const nextEvent = (mock: Mock) => {
  const { clock, gateway, subscriptions } = internalsOf(mock)
  const [planned, request] = [clock.agenda.next(), subscriptions.domain.nextToExpire()]
  const charge = gateway.domain.nextToChange()
  const due = planned && findSubscription(mock, planned.id)
  const what = due?.nextDueDate || due?.retryDates.length ? 'payment' : 'end'
  const act = planned?.kind === 'subscriptions.due' ? what : 'cancellation'
  const change = charge?.standing.status === 'pending_retry' ? 'retry' : 'expiry'
  const events = [
    planned && { at: planned.at, words: due ? `${act} of ${due.requestID}` : 'delivery of a notification' },
    request && { at: request.expiresAt, words: `expiry of ${request.request.requestID}` },
    charge && { at: charge.nextAt, words: `${change} of ${charge.id}` },
  ]
  return events.filter((one) => one !== undefined).sort((one, other) => one.at - other.at)[0]
}

export type PanelView = ReturnType<typeof readView>

/** Reads the data that the panel shows, without secrets, with one page of at most `limit` items of each list. */
export const readView = (mock: Mock, limit: number, query: URLSearchParams) => {
  const { clock, lists, outages } = internalsOf(mock)
  const { faults, receivers, snapshots } = mock.control
  const page = <Name extends ListName>(name: Name, list: Sequence<ListedItems[Name]>) => {
    const tests: ((item: ListedItems[Name]) => boolean)[] = filters[name].flatMap(({ name: end, of }) => {
      const wanted = query.get(`${name}.${end}`)
      return wanted === null ? [] : (item) => of(item).includes(wanted)
    })
    const text = query.get(`${name}.q`)?.toLowerCase()
    if (text !== undefined) tests.push((item) => JSON.stringify(item).toLowerCase().includes(text))
    const found =
      tests.length === 0 ? list : filtered(list, (item) => tests.every((isWanted) => isWanted(item)))
    return pageOf(found, limit, query.get(name))
  }
  const object = query.get('requests.of')
  // Reading a list runs due events. They run before anything is read, so that all lists show the same state.
  clock.agenda.runDue()
  const [charges, next] = [page('charges', lists.charges), nextEvent(mock)]
  return {
    now: new Date(mock.clock.now()),
    nextEventAt: dateOf(next?.at),
    nextEvent: next?.words,
    isFrozen: clock.isFrozen(),
    outages: [...outages()],
    faults: faults.list(),
    receivers: receivers.list(),
    snapshots: snapshots.list(),
    subscriptions: page('subscriptions', {
      bounds: lists.subscriptions.bounds,
      read: (from, to) => lists.subscriptions.read(from, to).map(listedSubscription),
    }),
    payments: page('payments', lists.payments),
    charges: { ...charges, items: withoutSecrets(mock, charges.items) },
    notifications: page('notifications', lists.notifications),
    requests: page(
      'requests',
      object === null ? lists.requests : filtered(lists.requests, isAbout(mock, object)),
    ),
  }
}
