import type { KnownCycle } from '../../../src/contract/subscriptions.ts'
import type { PaymentScript } from '../api.ts'

/** A point in time: a Date, milliseconds since 1970, or ISO 8601 text with its zone. */
export type PointInTime = Date | number | string

/** A subscription that exists without having been asked for. Only cycle, amount, start and end are needed. */
export interface SeedSubscription {
  /** Fields of S1; ✎ rules and the cut-off of the start are not applied. */
  readonly request: {
    /** First day, `YYYY-MM-DD`; it may lie in the past. */
    readonly start: string
    /** Last day, `YYYY-MM-DD`, on or after the start. */
    readonly end: string
    /** `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
    readonly cycle: KnownCycle
    /** What is paid each cycle: decimal text such as `25.00`. */
    readonly amount: string
    /** The merchant that it belongs to; by default the first one. */
    readonly clientID?: string
    /** By default an identifier is made. */
    readonly requestID?: string
    /** By default `https://merchant.example/return`. */
    readonly userReturnURL?: string
  }
  /** By default an identifier is made. */
  readonly invoiceId?: string
  /** By default an identifier is made. */
  readonly subscriptionId?: string
  /** By default the time now, or that of the authorization when it is earlier. */
  readonly createdAt?: PointInTime
  /**
   * When the payer authorized it: between creation and now, by default at its creation; `false`: not yet. Payments that fell due since then
   * have been made, silently: no notification tells of them.
   */
  readonly authorizedAt?: PointInTime | false
  /** Outcomes of its payments from the first on; then all succeed. */
  readonly payments?: readonly PaymentScript[]
}

/** A token that is known without a login. */
export interface SeedToken {
  /** The access token, as calls carry it in `Authorization: Bearer …`. */
  readonly accessToken: string
  /** By default an identifier is made. */
  readonly refreshToken?: string
  /** By default the first merchant. */
  readonly clientId?: string
  /** By default the merchant's first user. */
  readonly username?: string
  /** By default it lives as long as a new one. */
  readonly expiresAt?: PointInTime
}
