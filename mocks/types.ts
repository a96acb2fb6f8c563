import type { Area } from '../src/contract/endpoint.ts'
import type { DeliveryOptions, Notifications } from './delivery/types.ts'
import type { BehaviorName } from './gateway/behaviors.ts'
import type { ChargeBody } from './gateway/state.ts'
import type { GatewayEvent } from './gateway/views.ts'
import type { Operation } from './http/area.ts'
import type { Fault } from './http/fault-schema.ts'
import type { MockFetch } from './http/message.ts'
import type { RequestLog } from './http/request-log.ts'
import type { PaymentScript, SeedSubscription, SeedToken } from './subscriptions/options.ts'
import type { AuthorizationView, PaymentBody, SubscriptionState } from './subscriptions/views.ts'
import type { MockClock } from './time/clock.ts'
import type { Duration, PointInTime } from './time/duration.ts'

/** Options for a client of area S that calls the mock. */
export interface SubscriptionsClientConfig {
  /** Base URL of area S: the running mock server's URL, or else the option `subscriptions.baseUrl`. */
  readonly baseUrl: string
  /** Credentials of the first merchant and of its first user in `subscriptions.merchants`. */
  readonly credentials: {
    /** `client_id` of the login. Default: `mock-client`. */
    readonly clientId: string
    /** `client_secret` of the login. Default: `mock-client-secret`. */
    readonly clientSecret: string
    /** `username` of the login. Default: `mock-user`. */
    readonly username: string
    /** `password` of the login. Default: `mock-password`. */
    readonly password: string
  }
  /** The mock's clock. The client uses this clock for waits and for the lifetime of tokens. */
  readonly clock: Pick<MockClock, 'now' | 'sleep'>
  /** Path prefix of the mock; absent if the mock uses the client's default prefix. */
  readonly apiPrefix?: string
}

/** Options for a client of area G that calls the mock. */
export interface GatewayClientConfig {
  /** Base URL of area G: the running mock server's URL, or else the option `gateway.baseUrl`. */
  readonly baseUrl: string
  /** The first API key in the option `gateway.apiKeys`. Default: `mock-api-key`. */
  readonly apiKey: string
  /** The mock's clock. The client uses this clock for waits. */
  readonly clock: Pick<MockClock, 'now' | 'sleep'>
  /** Path prefix of the mock; absent if the mock uses the client's default prefix. */
  readonly apiPrefix?: string
}

/** The actions of payers. An action throws a `MockRefusedError` if the mock's current state does not allow it. */
export interface Payer {
  /**
   * Authorizes a subscription request, as the payer does on the page at the request's `url`.
   *
   * @param options.payments outcomes of the subscription's first payments; later payments succeed
   */
  authorize(
    invoiceId: string,
    options?: { readonly payments?: readonly PaymentScript[] | undefined },
  ): AuthorizationView
  /**
   * Sets the outcomes of the next payments of a subscription; later payments succeed. If you call `setPayments`
   * before `authorize`, these outcomes apply unless you pass `payments` to `authorize`.
   *
   * @param id the invoiceID or the subscriptionId
   */
  setPayments(id: string, payments: readonly PaymentScript[]): void
  /**
   * Cancels a request or subscription without an API call, as a payer or the provider may do. The receivers get a
   * notification with the status `CANCELLED`.
   *
   * @param id the invoiceID or the subscriptionId
   */
  cancel(id: string): SubscriptionState
  /** Declines a subscription request. */
  decline(invoiceId: string): AuthorizationView
  /** Enters the one-time code of a charge. Default of `otp`: the correct code. */
  confirm(confirmationId: string, otp?: string): ChargeBody
  /** Sets the result of later confirmations and renewals for a mobile number. */
  setBehavior(msisdn: string, behavior: BehaviorName): void
  /** Reverses a payment, so that the payer gets the money back. */
  reverse(paymentId: string | number): PaymentBody
}

/** Reads the mock's state. Every method returns a copy of the data. */
export interface MockState {
  /** Returns every subscription, oldest first, including requests that the payer has not authorized. */
  subscriptions(): readonly SubscriptionState[]
  /** Returns the payments of one subscription, or of all subscriptions, oldest first. */
  payments(subscriptionId?: string): readonly PaymentBody[]
  /** Returns every charge, oldest first, including renewals. The gateway's `reset` operation deletes the charges. */
  charges(): readonly ChargeBody[]
  /** Returns the events of charges, oldest first (row 80 of unknowns.md). The gateway's `reset` deletes the events. */
  events(): readonly GatewayEvent[]
}

/** Failures that the mock injects. */
export interface Faults {
  /**
   * Adds a fault, and returns a function that removes the fault. If several faults match a request, all `latency`
   * faults apply. Of the other faults, only the oldest applies. If its `probability` or `sequence` skips the request,
   * the mock tries the next fault. Throws a TypeError for an invalid fault.
   *
   * @example mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
   * @example mock.faults.add({ operation: '*', kind: 'status', status: 503, sequence: ['fail', 'fail', 'succeed'] })
   */
  add(fault: Fault): () => void
  /** Removes every fault, even those of the option `faults`. `mock.reset` adds the option's faults again. */
  clear(): void
}

/** A saved state of a mock. To copy it, use `structuredClone`, because JSON loses data. */
export interface MockSnapshot {
  /** Version of the snapshot's format. */
  readonly format: 4
  /** The whole state. Its structure is internal and may change. */
  readonly state: unknown
}

/** A fault that is neither used up nor removed. */
export interface NumberedFault {
  /** Serial number: 1 for the fault that was added first. `mock.reset` does not restart the numbers. */
  readonly number: number
  /** The fault as it was added. */
  readonly fault: Fault
  /** How many times the fault can still apply. One run through all steps of a `sequence` counts once. */
  readonly left: number | 'always'
}

/** A connected receiver with the options of its connection, except for `headers` and `signing`, which are secret. */
export interface NumberedReceiver extends Omit<DeliveryOptions, 'headers' | 'signing'> {
  /** Serial number: 1 for the receiver that was connected first. */
  readonly number: number
  /** URL of the receiver without its query; absent for a handler in this process. */
  readonly to?: string
}

/** A snapshot that the mock keeps under a name. */
export interface SavedSnapshot {
  /** The name that was passed to `save`. */
  readonly name: string
  /** The mock's time when the snapshot was saved. */
  readonly at: Date
}

/**
 * Additional methods for a control panel. They select a fault or receiver by its number, and a snapshot by its name. An
 * unknown number or name causes a `MockRefusedError`.
 */
export interface MockControl {
  /**
   * Moves the clock by a duration or to a point in time, like `clock.advance` and `clock.set`. But access tokens keep
   * their remaining lifetime, because a client with its own clock would not notice that its token has expired.
   *
   * @example await mock.control.moveClock({ by: { days: 30 } })
   */
  moveClock(move: { readonly by: Duration } | { readonly to: PointInTime }): Promise<void>
  /** The faults that are neither used up nor removed. To add a fault, call `mock.faults.add`. */
  readonly faults: {
    /** Returns the faults, oldest first. */
    list(): readonly NumberedFault[]
    /** Removes the fault with this number. */
    remove(number: number): void
  }
  /** The connected receivers. To add a receiver, call `mock.notifications.connect`. */
  readonly receivers: {
    /** Returns the receivers, oldest connection first. */
    list(): readonly NumberedReceiver[]
    /** Disconnects the receiver with this number. */
    disconnect(number: number): void
  }
  /** Snapshots that the mock keeps in memory. `mock.reset` does not delete them. */
  readonly snapshots: {
    /** Returns the snapshots, in the order in which their names were first saved. */
    list(): readonly SavedSnapshot[]
    /** Saves a snapshot of the mock. Replaces an older snapshot with the same name. */
    save(name: string): void
    /** Restores the snapshot with this name. */
    restore(name: string): void
    /** Deletes the snapshot with this name. */
    delete(name: string): void
  }
}

/** A mock of both APIs. Two mocks share no state. */
export interface Mock {
  /** A `fetch` that sends requests to this mock only. */
  readonly fetch: MockFetch
  /** Options for clients: base URLs (of a running server, if any), credentials and the mock's clock. */
  readonly clientOptions: {
    /** Options for `new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })`. */
    readonly subscriptions: SubscriptionsClientConfig
    /** Options for `new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })`. */
    readonly gateway: GatewayClientConfig
  }
  /** The mock's clock, for example `mock.clock.advance({ days: 7 })`. */
  readonly clock: MockClock
  /** The actions of payers, such as authorizing a subscription or entering a one-time code. */
  readonly payer: Payer
  /** The state: subscriptions, payments, charges, events. */
  readonly state: MockState
  /** Notifications of area S and their deliveries (rows 45 to 48 of unknowns.md). */
  readonly notifications: Notifications
  /** Injects failures, for example `mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })`. */
  readonly faults: Faults
  /** The log of received requests and their responses, without secrets. */
  readonly requests: RequestLog
  /** Expires or revokes the tokens of area S. */
  readonly tokens: {
    /** Expires every access token; refresh tokens stay valid. */
    expire(): void
    /** Revokes every token, including refresh tokens. */
    revoke(): void
  }
  /**
   * An outage of one area or of both. During the outage, the area responds to every request with 503, even to `health`.
   * The mock neither executes these requests nor counts them against the rate limit.
   */
  readonly outage: {
    /**
     * Starts the outage of an area. Default: `gateway`.
     *
     * @example mock.outage.start({ area: 'subscriptions' })
     */
    start(options?: { readonly area?: Area | undefined }): void
    /** Ends the outage of one area, or by default of both. */
    end(options?: { readonly area?: Area | undefined }): void
  }
  /**
   * Adds subscriptions and tokens without API calls, and returns the added subscriptions. If a subscription or token
   * cannot be added (for example, its identifier is in use), `add` adds nothing and throws an Error or RangeError.
   */
  add(seeds: {
    readonly subscriptions?: readonly SeedSubscription[] | undefined
    readonly tokens?: readonly SeedToken[] | undefined
  }): readonly SubscriptionState[]
  /**
   * Resets state, clock, identifiers, rate limits, faults, logs and notifications to those of a new mock. Disconnects
   * receivers that `notifications.connect` added. The receivers of the option `subscriptions.notify` stay connected.
   */
  reset(): void
  /** Returns a copy of the whole state except the request log, faults and receivers. */
  snapshot(): MockSnapshot
  /**
   * Restores a snapshot of a mock with the same options. An invalid snapshot causes a TypeError and changes nothing.
   */
  restore(snapshot: MockSnapshot): void
  /** Additional methods for a control panel. */
  readonly control: MockControl
  /** Explains in words how the mock responded to the last request of an operation, and why. */
  explain(operation: Operation): string
}
