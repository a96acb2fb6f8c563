import type { Notifications } from './delivery/types.ts'
import type {
  AuthorisationView,
  ChargeBody,
  GatewayEvent,
  PaymentBody,
  PaymentScript,
  SubscriptionState,
  SubscriptionsDomain,
} from './domain/api.ts'
import type { MockClock } from './domain/clock.ts'
import type { BehaviourName } from './domain/gateway/behaviours.ts'
import type { Fault } from './http/fault-types.ts'
import type { Operation } from './http/operations.ts'
import type { RequestLog } from './http/request-log.ts'
import type { MockFetch } from './mock-fetch.ts'

/** What a client of area S is made with. */
export interface SubscriptionsClientOptions {
  readonly baseUrl: string
  readonly credentials: {
    readonly clientId: string
    readonly clientSecret: string
    readonly username: string
    readonly password: string
  }
  readonly clock: Pick<MockClock, 'now' | 'sleep'>
  /** Present when the mock was given another prefix. */
  readonly apiPrefix?: string
}

/** What a client of area G is made with. */
export interface GatewayClientOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly clock: Pick<MockClock, 'now' | 'sleep'>
  /** Present when the mock was given another prefix. */
  readonly apiPrefix?: string
}

/**
 * What payers do. Each action throws a `MockRefusedError` when it is not possible, and a TypeError or RangeError for a
 * value that makes no sense.
 */
export interface Payer {
  /**
   * Authorises a subscription request, as on the page behind its `url`.
   *
   * @param options.payments outcomes of its payments, from the first on; then all succeed
   */
  authorize(invoiceId: string, options?: { readonly payments?: readonly PaymentScript[] }): AuthorisationView
  /**
   * Says how the payments of a subscription go from now on; then all succeed. It may be asked before the payer answers,
   * on a page or elsewhere: `authorize` without payments of its own keeps it.
   *
   * @param id the invoiceID or the subscriptionId
   */
  setPayments(id: string, payments: readonly PaymentScript[]): void
  /** Declines a subscription request. */
  decline(invoiceId: string): AuthorisationView
  /** Gives the one-time code of a charge; the right one when none is named. */
  confirm(confirmationId: string, otp?: string): ChargeBody
  /** Says how charges of a number go from now on. */
  setBehaviour(msisdn: string, behaviour: BehaviourName): void
  /** Gives a payment back to the payer. */
  reverse(paymentId: string | number): PaymentBody
}

/** Reads the state; everything is a copy. */
export interface MockState {
  subscriptions(): readonly SubscriptionState[]
  /** Payments of a subscription, or all, oldest first. */
  payments(subscriptionId?: string): readonly PaymentBody[]
  charges(): readonly ChargeBody[]
  events(): readonly GatewayEvent[]
}

/** What goes wrong on purpose. */
export interface Faults {
  /**
   * Adds a fault; the function given back removes what is left of it. Faults act in the order in which they were added,
   * one a request; latencies come on top. Throws a TypeError for a fault that cannot be.
   *
   * @example mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
   * @example mock.faults.add({ operation: '*', kind: 'status', status: 503, sequence: ['fail', 'fail', 'succeed'] })
   */
  add(fault: Fault): () => void
  /** Removes every fault. */
  clear(): void
}

/** A point in a mock's life that it can go back to: structured-clone safe, opaque. */
export interface MockSnapshot {
  readonly format: 1
  readonly clock: unknown
  readonly ids: unknown
  readonly subscriptions: unknown
  readonly gateway: unknown
  readonly notifications: unknown
  readonly limiters: readonly unknown[]
  readonly outage: boolean
}

/** A mock of both APIs. Two mocks share nothing. */
export interface Mock {
  /** The platform's `fetch`, answered by this mock alone. */
  readonly fetch: MockFetch
  /** What clients are made with: base URLs (a server's, while one is up), credentials, the mock's clock. */
  readonly clientOptions: {
    readonly subscriptions: SubscriptionsClientOptions
    readonly gateway: GatewayClientOptions
  }
  readonly clock: MockClock
  readonly payer: Payer
  readonly state: MockState
  readonly notifications: Notifications
  readonly faults: Faults
  readonly requests: RequestLog
  readonly tokens: {
    /** Every access token has run out; refresh tokens still hold. */
    expire(): void
    /** Every token, refresh tokens included, is void. */
    revoke(): void
  }
  /** Area G cannot be reached: its health and every other route answer 503. */
  readonly outage: { start(): void; end(): void }
  /** Adds subscriptions and tokens that nobody asked for through the API. */
  add: SubscriptionsDomain['add']
  /** As new: state, clock, identifiers, limiters, faults, logs and outbox. Receivers stay connected. */
  reset(): void
  /**
   * What the mock holds now: state, clock, identifiers, limiters, outbox and what is still to be delivered. Not the
   * request log, nor what a test has set up: faults and receivers.
   */
  snapshot(): MockSnapshot
  /**
   * Goes back to a snapshot of a mock with the same options. Throws a TypeError, and changes nothing, for what is none.
   */
  restore(snapshot: MockSnapshot): void
  /** Says in words what became of the last request of an operation, and why. */
  explain(operation: Operation): string
}
