import type {
  KnownCancellationStatus,
  KnownRequestStatus,
  SubscriptionRequestBody,
} from '../../src/contract/subscriptions.ts'
import type { Day } from '../time/calendar.ts'
import type { PaymentScript } from './options.ts'

/** The mock's internal phase of a subscription. VOID means that the request was declined or expired. */
export type Phase = 'PENDING' | 'ACTIVE' | 'ENDED' | 'CANCELLED' | 'VOID'
/** The events that change a subscription and its request. */
type Event = 'create' | 'authorize' | 'decline' | 'expire' | 'cancel' | 'end'
type Table<Status extends string, Trigger extends string> = Record<
  'none' | Status,
  Partial<Record<Trigger, Status>>
>

/** The next status of a subscription request, by status and event (row 10). The mock refuses all other changes. */
export const requestTransitions = {
  none: { create: 'INITIALIZED' },
  INITIALIZED: { authorize: 'SUCCEEDED', decline: 'FAILED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  SUCCEEDED: {},
  FAILED: {},
  EXPIRED: {},
  CANCELLED: {},
} as const satisfies Table<KnownRequestStatus, Event>

/** The next phase of a subscription, by current phase and event. The mock refuses all other changes. */
export const subscriptionTransitions = {
  none: { create: 'PENDING' },
  PENDING: { authorize: 'ACTIVE', decline: 'VOID', expire: 'VOID', cancel: 'CANCELLED' },
  ACTIVE: { cancel: 'CANCELLED', end: 'ENDED' },
  ENDED: {},
  CANCELLED: {},
  VOID: {},
} as const satisfies Table<Phase, Event>

/** The next status of a cancellation, by status and event. The two events are `cancelDelay` apart (row 27). */
export const cancellationTransitions = {
  none: { request: 'PROCESSING' },
  PROCESSING: { process: 'PROCESSED' },
  PROCESSED: {},
} as const satisfies Table<KnownCancellationStatus, 'request' | 'process'>

/** The merchant and the user that own an access token. */
export interface Merchant {
  readonly clientId: string
  readonly username: string
}

/** The fields from which the due dates of a subscription are calculated. */
export interface Terms {
  readonly startDay: Day
  readonly endDay: Day
  /** Calendar days between two due dates. */
  readonly step: number
}

/** A due payment. `attempt` is 0 for the payment of a due date, 1 for the first retry of a failed payment. */
export interface DuePayment {
  readonly dueDay: Day
  readonly at: number
  readonly attempt: number
}

/** A cancellation. Between the two times it has status PROCESSING (row 27). */
export interface Cancellation {
  readonly id: number
  readonly requestID: number
  readonly subscriptionId: string
  readonly requestedAt: number
  processedAt?: number
}

/** A subscription request and its subscription: what was asked, and what has happened at which time. */
export interface Subscription {
  readonly index: number
  readonly invoiceId: string
  readonly subscriptionId: string
  /** Client id of the merchant that created the request; `request.clientID` may name another merchant. */
  readonly owner: string
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
  readonly createdAt: number
  /** When the request expires if the payer has not decided; Infinity without a limit. */
  readonly expiresAt: number
  /** True if the request had expired when the clock was set back. */
  hasExpired?: boolean
  authorizedAt?: number
  declinedAt?: number
  /** When the cancellation was processed, if it closed the request or the subscription. */
  cancelledAt?: number
  endedAt?: number
  cancellation?: Cancellation
  /** Index of the next due date; 0 until the payer authorizes the request. */
  nextSlot: number
  /** Outcomes that a test has set for the next payments, in order. */
  script: PaymentScript[]
  /** Planned retries of failed payments, in order of time. */
  readonly retries: DuePayment[]
  /** Indexes of the subscription's payments, oldest first. */
  readonly payments: number[]
}

/** What the facts of a subscription say at one time. */
interface Standing {
  readonly phase: Phase
  readonly requestStatus: KnownRequestStatus
  /** When the phase became ENDED, CANCELLED or VOID; `undefined` before. */
  readonly closedAt: number | undefined
}

/** Returns what the facts of a subscription say at a time. A request that nobody decides expires at `expiresAt`. */
export const standingAt = (one: Subscription, time: number): Standing => {
  const { authorizedAt, declinedAt, cancelledAt, endedAt, expiresAt, hasExpired = false } = one
  if (authorizedAt !== undefined) {
    const openPhase = endedAt === undefined ? 'ACTIVE' : 'ENDED'
    const phase = cancelledAt === undefined ? openPhase : 'CANCELLED'
    return { phase, requestStatus: 'SUCCEEDED', closedAt: cancelledAt ?? endedAt }
  }
  if (declinedAt !== undefined) return { phase: 'VOID', requestStatus: 'FAILED', closedAt: declinedAt }
  if (cancelledAt !== undefined)
    return { phase: 'CANCELLED', requestStatus: 'CANCELLED', closedAt: cancelledAt }
  return hasExpired || time >= expiresAt
    ? { phase: 'VOID', requestStatus: 'EXPIRED', closedAt: expiresAt }
    : { phase: 'PENDING', requestStatus: 'INITIALIZED', closedAt: undefined }
}

/** Returns whether the phase at a time allows an event. */
export const allows = (one: Subscription, event: 'authorize' | 'decline' | 'cancel', time: number): boolean =>
  event in subscriptionTransitions[standingAt(one, time).phase]

/** Returns the status of a cancellation. */
export const cancellationStatus = ({ processedAt }: Cancellation): KnownCancellationStatus =>
  processedAt === undefined ? 'PROCESSING' : 'PROCESSED'

interface Reversal {
  readonly at: number
  readonly transactionId: string
}

/** A payment. */
export interface Payment {
  readonly index: number
  readonly subscription: Subscription
  readonly dueDay: Day
  readonly at: number
  readonly succeeded: boolean
  readonly reversal: Reversal | undefined
}

/** All data of area S. */
export interface SubscriptionsState {
  /** All subscriptions, oldest first. */
  readonly subscriptions: Subscription[]
  readonly byInvoice: Map<string, Subscription>
  readonly bySubscription: Map<string, Subscription>
  /** The requestIDs that each merchant has used, as `requestKey` writes them. */
  readonly requestIds: Set<string>
  /** All cancellations, oldest first. */
  readonly cancellations: Cancellation[]
  /** All payments, oldest first. One list for each field takes half the memory of one object for each payment. */
  readonly payments: {
    /** Index of the payment's subscription. */
    readonly subscription: number[]
    readonly dueDay: Day[]
    readonly at: number[]
    readonly succeeded: boolean[]
  }
  /** The reversed payments, by the payment's index. */
  readonly reversals: Map<number, Reversal>
  readonly accessTokens: Map<string, Merchant & { expiresAt: number }>
  readonly refreshTokens: Map<string, Merchant>
  /** New tokens live from this time or later, see `shiftTokenExpiry`. */
  tokensIssuedFrom: number
  /** Times of each user's failed logins, by `JSON.stringify([clientId, username])`. */
  readonly failedLogins: Map<string, readonly number[]>
}

/** Returns an empty state. */
export const newSubscriptionsState = (): SubscriptionsState => ({
  subscriptions: [],
  byInvoice: new Map(),
  bySubscription: new Map(),
  requestIds: new Set(),
  cancellations: [],
  payments: { subscription: [], dueDay: [], at: [], succeeded: [] },
  reversals: new Map(),
  accessTokens: new Map(),
  refreshTokens: new Map(),
  tokensIssuedFrom: 0,
  failedLogins: new Map(),
})

/** Returns the entry of `requestIds` for a merchant's requestID. */
export const requestKey = (owner: string, requestId: string): string => JSON.stringify([owner, requestId])

/** The first id of each kind; the others count up. The numbers are far apart, so that no two kinds share an id. */
export const FIRST_ID = { payment: 1_000_001, cancellation: 500_000_001, cancellationRequest: 700_000_001 }
const ID = /^[1-9]\d{0,14}$/

const indexOf = (id: string, kind: keyof typeof FIRST_ID): number =>
  ID.test(id) ? Number(id) - FIRST_ID[kind] : -1

/** Returns the cancellation with this id or requestID (row 30). */
export const findCancellation = (
  { cancellations }: SubscriptionsState,
  id: string,
): Cancellation | undefined =>
  cancellations[indexOf(id, 'cancellationRequest')] ?? cancellations[indexOf(id, 'cancellation')]

/** Returns the payment at an index. */
export const paymentAt = (state: SubscriptionsState, index: number): Payment | undefined => {
  const { payments, reversals } = state
  const subscription = state.subscriptions[payments.subscription[index] ?? -1]
  const [dueDay, at] = [payments.dueDay[index], payments.at[index]]
  if (subscription === undefined || dueDay === undefined || at === undefined) return undefined
  const succeeded = payments.succeeded[index] === true
  return { index, subscription, dueDay, at, succeeded, reversal: reversals.get(index) }
}

/** Returns the payment with this paymentId (S6). */
export const findPayment = (state: SubscriptionsState, paymentId: string): Payment | undefined =>
  paymentAt(state, indexOf(paymentId, 'payment'))
