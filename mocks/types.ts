import type { Notifications } from './delivery/types.ts'
import type { MockClock } from './domain/clock.ts'
import type { BehaviorName } from './domain/gateway/behaviors.ts'
import type { ChargeBody, GatewayEvent } from './domain/gateway/types.ts'
import type { PaymentScript } from './domain/subscriptions/options.ts'
import type {
  AuthorizationView,
  PaymentBody,
  SubscriptionState,
  SubscriptionsDomain,
} from './domain/subscriptions/types.ts'
import type { MockFetch } from './fetch.ts'
import type { Operation } from './http/area.ts'
import type { Fault } from './http/fault-schema.ts'
import type { RequestLog } from './http/request-log.ts'

/** What a client of area S is made with. */
export interface SubscriptionsClientConfig {
  /** Where area S answers: `subscriptions.baseUrl`, or the address of the server that is up. */
  readonly baseUrl: string
  /** The login of the first merchant and its first user; by default those of `defaultMerchant`. */
  readonly credentials: {
    /** `client_id` of the login; by default `mock-client`. */
    readonly clientId: string
    /** `client_secret` of the login; by default `mock-client-secret`. */
    readonly clientSecret: string
    /** By default `mock-user`. */
    readonly username: string
    /** By default `mock-password`. */
    readonly password: string
  }
  /** The mock's clock, so that waits and lifetimes pass with `clock.advance`. */
  readonly clock: Pick<MockClock, 'now' | 'sleep'>
  /** Present when the mock was given another prefix. */
  readonly apiPrefix?: string
}

/** What a client of area G is made with. */
export interface GatewayClientConfig {
  /** Where area G answers: `gateway.baseUrl`, or the address of the server that is up. */
  readonly baseUrl: string
  /** The first of `gateway.apiKeys`; by default `mock-api-key`. */
  readonly apiKey: string
  /** The mock's clock, so that waits pass with `clock.advance`. */
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
   * Authorizes a subscription request, as on the page behind its `url`.
   *
   * @param options.payments outcomes of its payments, from the first on; then all succeed
   */
  authorize(invoiceId: string, options?: { readonly payments?: readonly PaymentScript[] }): AuthorizationView
  /**
   * Says how the payments of a subscription go from now on; then all succeed. It may be asked before the payer answers,
   * on a page or elsewhere: `authorize` without payments of its own keeps it.
   *
   * @param id the invoiceID or the subscriptionId
   */
  setPayments(id: string, payments: readonly PaymentScript[]): void
  /** Declines a subscription request. */
  decline(invoiceId: string): AuthorizationView
  /** Gives the one-time code of a charge; the right one when none is named. */
  confirm(confirmationId: string, otp?: string): ChargeBody
  /** Says how charges of a number go from now on. */
  setBehavior(msisdn: string, behavior: BehaviorName): void
  /** Gives a payment back to the payer. */
  reverse(paymentId: string | number): PaymentBody
}

/** Reads the state; everything is a copy. */
export interface MockState {
  /** Every subscription, requests that nobody has answered included, oldest first. */
  subscriptions(): readonly SubscriptionState[]
  /** Payments of a subscription, or all, oldest first. */
  payments(subscriptionId?: string): readonly PaymentBody[]
  /** Every charge, renewals included, oldest first; the gateway's reset clears them. */
  charges(): readonly ChargeBody[]
  /** What happened to the charges, oldest first (row 80); the gateway's reset clears them. */
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
  /** Version of the snapshot's form. */
  readonly format: 1
  /** Position of the clock, and what is planned on it; opaque. */
  readonly clock: unknown
  /** How many identifiers of each kind were given out; opaque. */
  readonly ids: unknown
  /** State of area S, tokens and locks included; opaque. */
  readonly subscriptions: unknown
  /** State of area G, idempotency keys included; opaque. */
  readonly gateway: unknown
  /** The outbox, and what is still to be delivered; opaque. */
  readonly notifications: unknown
  /** What each rate limiter has counted; opaque. */
  readonly limiters: readonly unknown[]
  /** Whether an outage was under way. */
  readonly outage: boolean
}

/** A mock of both APIs. Two mocks share nothing. */
export interface Mock {
  /** The platform's `fetch`, answered by this mock alone. */
  readonly fetch: MockFetch
  /** What clients are made with: base URLs (a server's, while one is up), credentials, the mock's clock. */
  readonly clientOptions: {
    /** For `new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })`. */
    readonly subscriptions: SubscriptionsClientConfig
    /** For `new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })`. */
    readonly gateway: GatewayClientConfig
  }
  /** The time of this mock, such as `mock.clock.advance({ days: 7 })`. */
  readonly clock: MockClock
  /** What payers do: authorize, decline, give a code, take a payment back. */
  readonly payer: Payer
  /** What the mock holds: subscriptions, payments, charges, events. */
  readonly state: MockState
  /** What area S notifies of, and where it is delivered (rows 45 to 48). */
  readonly notifications: Notifications
  /** What goes wrong on purpose, such as `mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })`. */
  readonly faults: Faults
  /** What the mock received, and what it decided, without secrets. */
  readonly requests: RequestLog
  /** What becomes of the tokens of area S that were issued. */
  readonly tokens: {
    /** Every access token has run out; refresh tokens still hold. */
    expire(): void
    /** Every token, refresh tokens included, is void. */
    revoke(): void
  }
  /** Area G cannot be reached: its health and every other route answer 503. */
  readonly outage: {
    /** From now on area G answers 503. */
    start(): void
    /** Area G answers again, with the state that it had. */
    end(): void
  }
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
