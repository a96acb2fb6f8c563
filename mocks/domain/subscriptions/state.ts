import type { KnownRequestStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Day } from '../calendar.ts'
import type { PaymentScript } from './options.ts'
import type { Terms } from './schedule.ts'
import type { SubscriptionPhase } from './transitions.ts'

/** Money that went back. */
export interface Reversal {
  readonly at: number
  readonly transactionId: string
}

/** A payment as it is kept. */
export interface PaymentRecord {
  readonly index: number
  /** Index of its subscription. */
  readonly subscription: number
  readonly dueDay: Day
  readonly at: number
  readonly succeeded: boolean
  readonly reversal: Reversal | undefined
}

/** What a snapshot holds of the payments. */
export interface PaymentsSnapshot {
  readonly subscriptions: Int32Array
  readonly dueDays: Int32Array
  readonly times: Float64Array
  readonly outcomes: Uint8Array
  readonly reversals: readonly (readonly [number, Reversal])[]
}

/** The payments of a mock in the order in which they were made. */
export interface PaymentStore {
  count(): number
  /** Keeps a payment; its index. */
  add(subscription: number, dueDay: Day, at: number, succeeded: boolean): number
  get(index: number): PaymentRecord | undefined
  /** The payments from one index up to before another. */
  read(from: number, to: number): readonly PaymentRecord[]
  reverse(index: number, reversal: Reversal): void
  reset(): void
  snapshot(): PaymentsSnapshot
  restore(snapshot: PaymentsSnapshot): void
}

const FIRST_CAPACITY = 256

const emptyColumns = (capacity: number) => ({
  subscriptions: new Int32Array(capacity),
  dueDays: new Int32Array(capacity),
  times: new Float64Array(capacity),
  outcomes: new Uint8Array(capacity),
})

/** Makes the store. It keeps columns instead of objects: a year of ten thousand daily payments takes 17 bytes each. */
export const createPaymentStore = (): PaymentStore => {
  let columns = emptyColumns(FIRST_CAPACITY)
  let count = 0
  let reversals = new Map<number, Reversal>()

  const load = (from: Omit<PaymentsSnapshot, 'reversals'>, capacity: number): void => {
    const larger = emptyColumns(capacity)
    larger.subscriptions.set(from.subscriptions)
    larger.dueDays.set(from.dueDays)
    larger.times.set(from.times)
    larger.outcomes.set(from.outcomes)
    columns = larger
  }

  const get = (index: number): PaymentRecord | undefined => {
    const subscription = columns.subscriptions[index]
    const dueDay = columns.dueDays[index]
    const at = columns.times[index]
    if (index >= count || subscription === undefined || dueDay === undefined || at === undefined) {
      return undefined
    }
    const succeeded = columns.outcomes[index] === 1
    return { index, subscription, dueDay, at, succeeded, reversal: reversals.get(index) }
  }

  return {
    count: () => count,
    add(subscription, dueDay, at, succeeded) {
      if (count === columns.times.length) load(columns, count * 2)
      columns.subscriptions[count] = subscription
      columns.dueDays[count] = dueDay
      columns.times[count] = at
      columns.outcomes[count] = succeeded ? 1 : 0
      count += 1
      return count - 1
    },
    get,
    read(from, to) {
      const length = Math.max(0, Math.min(to, count) - from)
      return Array.from({ length }, (_, offset) => get(from + offset)).filter((one) => one !== undefined)
    },
    reverse: (index, reversal) => void reversals.set(index, reversal),
    reset() {
      columns = emptyColumns(FIRST_CAPACITY)
      count = 0
      reversals = new Map()
    },
    snapshot: () => ({
      subscriptions: columns.subscriptions.slice(0, count),
      dueDays: columns.dueDays.slice(0, count),
      times: columns.times.slice(0, count),
      outcomes: columns.outcomes.slice(0, count),
      reversals: [...reversals],
    }),
    restore(snapshot) {
      count = snapshot.times.length
      load(snapshot, Math.max(FIRST_CAPACITY, count))
      reversals = new Map(snapshot.reversals)
    },
  }
}

/** A failed payment that will be tried again. */
export interface Retry {
  readonly dueDay: Day
  readonly at: number
  /** The number of this retry, from 1. */
  readonly number: number
}

/** A subscription request and the subscription that comes of it. */
export interface SubscriptionRecord {
  readonly index: number
  readonly invoiceId: string
  readonly subscriptionId: string
  /** The merchant that it belongs to: that of the token, whatever the request said. */
  readonly owner: string
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
  readonly createdAt: number
  requestStatus: KnownRequestStatus
  phase: Exclude<SubscriptionPhase, 'none'>
  authorizedAt: number | undefined
  cancelledAt: number | undefined
  /** When it ceased to be pending or active. */
  closedAt: number | undefined
  /** The next due date's number; meaningful from authorization on. */
  nextSlot: number
  /** Outcomes of the payments to come, taken from the front. */
  script: PaymentScript[]
  retries: Retry[]
  /** Indexes of its payments, oldest first. */
  readonly payments: number[]
  /** Index of its cancellation. */
  cancellation: number | undefined
  /** When its living entry on the timeline falls due; other entries of it are stale. */
  plannedAt: number | undefined
}

/** The record of a cancellation. */
export interface CancellationRecord {
  readonly index: number
  readonly subscription: number
  status: 'PROCESSING' | 'PROCESSED'
}

/** What a snapshot holds of the state. */
export interface StateSnapshot {
  readonly subscriptions: readonly SubscriptionRecord[]
  readonly cancellations: readonly CancellationRecord[]
  readonly payments: PaymentsSnapshot
}

/** Everything that area S stores, besides tokens. */
export interface State {
  readonly subscriptions: readonly SubscriptionRecord[]
  readonly cancellations: readonly CancellationRecord[]
  readonly payments: PaymentStore
  addSubscription(record: SubscriptionRecord): void
  addCancellation(record: CancellationRecord): void
  byInvoice(invoiceId: string): SubscriptionRecord | undefined
  bySubscription(subscriptionId: string): SubscriptionRecord | undefined
  /** Whether a merchant has used a requestID. */
  hasRequest(owner: string, requestId: string): boolean
  reset(): void
  snapshot(): StateSnapshot
  restore(snapshot: StateSnapshot): void
}

const requestKey = (owner: string, requestId: string): string => JSON.stringify([owner, requestId])

/** Makes an empty state. */
export const createState = (): State => {
  const subscriptions: SubscriptionRecord[] = []
  const cancellations: CancellationRecord[] = []
  const payments = createPaymentStore()
  const invoices = new Map<string, SubscriptionRecord>()
  const identifiers = new Map<string, SubscriptionRecord>()
  const requests = new Set<string>()

  const addSubscription = (record: SubscriptionRecord): void => {
    subscriptions.push(record)
    invoices.set(record.invoiceId, record)
    identifiers.set(record.subscriptionId, record)
    requests.add(requestKey(record.owner, record.request.requestID))
  }

  const reset = (): void => {
    subscriptions.length = 0
    cancellations.length = 0
    payments.reset()
    invoices.clear()
    identifiers.clear()
    requests.clear()
  }

  return {
    subscriptions,
    cancellations,
    payments,
    addSubscription,
    addCancellation: (record) => void cancellations.push(record),
    byInvoice: (invoiceId) => invoices.get(invoiceId),
    bySubscription: (subscriptionId) => identifiers.get(subscriptionId),
    hasRequest: (owner, requestId) => requests.has(requestKey(owner, requestId)),
    reset,
    snapshot: () => ({ ...structuredClone({ subscriptions, cancellations }), payments: payments.snapshot() }),
    restore(snapshot) {
      reset()
      const copies = structuredClone({
        subscriptions: snapshot.subscriptions,
        cancellations: snapshot.cancellations,
      })
      for (const record of copies.subscriptions) addSubscription(record)
      cancellations.push(...copies.cancellations)
      payments.restore(snapshot.payments)
    },
  }
}
