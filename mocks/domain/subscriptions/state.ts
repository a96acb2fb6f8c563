import type { KnownRequestStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { PaymentScript } from '../api.ts'
import type { Day } from '../calendar.ts'
import type { PaymentStore, PaymentsSnapshot } from './payment-store.ts'
import { createPaymentStore } from './payment-store.ts'
import type { Terms } from './schedule.ts'
import type { SubscriptionPhase } from './transitions.ts'

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
