import { clockOption, duration, fromZero, functionOption, objectWith } from '../check.ts'
import { MAX_TIMER_MS, systemClock } from '../clock.ts'
import type { Input, Output } from '../contract/fields.ts'
import { guarded, optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
import type { PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import type { InvalidRequestError } from '../errors.ts'
import type { DedupeStore } from './dedupe.ts'
import type {
  MerchantNotification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './parse.ts'

/** Bytes for `crypto.subtle`: `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 also accepts it. */
export type Bytes = ReturnType<typeof Uint8Array.from>

/** The delivery that a verifier checks. */
export interface Delivery {
  /** The parsed message, which is not verified yet. */
  readonly notification: MerchantNotification
  /** The headers of the delivery, one of which may contain a signature. */
  readonly headers: Headers
  /** The body after decompression; `undefined` if a body parser kept only the parsed message. */
  readonly bytes: Bytes | undefined
}

/** The record that `lookupVerifier` read to verify a notification. */
export type Lookup = PaymentDetails | SubscriptionDetails

/** What a verifier may return instead of `true`. Your code receives `lookup` as `context.lookup`. */
export interface Verified {
  /** The payment if the notification's `type` is `SUBSCRIPTION_PAYMENT`, or else the subscription. */
  readonly lookup: Lookup
}

/**
 * Decides whether a delivery comes from the payment provider. If it returns `true` or a `Verified` object, the handler
 * accepts the delivery. If it returns `false`, the handler responds 401. If it throws or returns anything else, the
 * handler responds 503, so that the sender can deliver again.
 */
export type Verifier = (delivery: Delivery) => boolean | Verified | Promise<boolean | Verified>

/** The second argument of a listener. */
export interface NotificationContext<Record extends Lookup = Lookup> {
  /** Aborted when the listener exceeds `lease.limit`, or when another process may have claimed the notification. */
  readonly signal: AbortSignal
  /** The payment (in `onPayment`) or the subscription that the verifier returned, if any. */
  readonly lookup?: Record | undefined
}

/** Your code for one type of notification. If your code throws, the handler responds 500, and the sender can retry. */
export type NotificationListener<Kind extends MerchantNotification> = (
  notification: Kind,
  context: NotificationContext<Kind extends PaymentNotification ? PaymentDetails : SubscriptionDetails>,
) => unknown

/**
 * A problem that a handler reports to `onUnexpected`. The numbers below are HTTP statuses that the sender receives. If
 * the setup is wrong, the handler reports `invalid-message` or `verification-failed`, and its promise rejects.
 *
 * - `invalid-message`: the body is not a notification (400), arrived too slowly (408), is too large (413), or has an
 *   unknown Content-Encoding (415).
 * - `header-omitted`: `process` ignored a header, because `Headers` refused the header's name or value.
 * - `refused`: the verifier returned `false` (401).
 * - `verification-failed`: the verifier threw, returned an invalid result, or exceeded `timeouts.verify` (503).
 * - `unknown-kind`: the type or status is unknown to this version, and `onUnknown` is missing (200).
 * - `handler-failed`: your code threw, and the claim was released (500).
 * - `handler-too-slow`: your code ran longer than `lease.limit`, so its signal was aborted (503).
 * - `lease-lost`: the lease ended while your code was running. Another process may have run your code too.
 * - `store-failed`: a method of the dedupe store rejected, returned an invalid result, or exceeded `timeouts.store`.
 *   If `claim` failed, the handler responds 503. If `commit` failed, the handler responds 200, and this process
 *   remembers that the notification was processed.
 */
export type NotificationReport =
  | { readonly kind: 'invalid-message'; readonly error: InvalidRequestError }
  | { readonly kind: 'header-omitted'; readonly name: string }
  | { readonly kind: 'unknown-kind'; readonly notification: UnknownNotification }
  | ({ readonly notification: MerchantNotification } & (
      | { readonly kind: 'refused' | 'handler-too-slow' | 'lease-lost' }
      | { readonly kind: 'verification-failed' | 'handler-failed'; readonly error: unknown }
      | { readonly kind: 'store-failed'; readonly method: keyof DedupeStore; readonly error: unknown }
    ))

export type Report = (report: NotificationReport) => void

const isVerifier = (value: unknown): value is Verifier | 'none' =>
  typeof value === 'function' || value === 'none'
const LEASE = { duration: 60_000, limit: 600_000 }
const TIMEOUTS = { read: 30_000, verify: 30_000, store: 5_000 }

const lease = {
  /** How long a claim lasts, in milliseconds; 60 s by default. The handler extends the claim while your code runs. */
  duration: withDefault(duration(MAX_TIMER_MS), LEASE.duration),
  /** How long your code may run in total, in milliseconds; 10 minutes by default, `Infinity` for no limit. */
  limit: withDefault(duration(), LEASE.limit),
}
/** Time limits for a claim (`duration`) and for your code (`limit`), in milliseconds. */
export interface Lease extends Output<typeof lease> {}

const timeouts = {
  /** Time limit for receiving the whole body; 30 s by default. After this time the handler responds 408. */
  read: withDefault(duration(MAX_TIMER_MS), TIMEOUTS.read),
  /** Time limit for `verify`; 30 s by default. After this time the handler responds 503. */
  verify: withDefault(duration(MAX_TIMER_MS), TIMEOUTS.verify),
  /** Time limit for each call to the dedupe store; 5 s by default. A slower call counts as failed. */
  store: withDefault(duration(MAX_TIMER_MS), TIMEOUTS.store),
}
/** Time limits for the steps of a delivery, in milliseconds. */
export interface NotificationTimeouts extends Output<typeof timeouts> {}

const options = {
  /**
   * Verifies that a message is genuine: `hmacVerifier`, `lookupVerifier`, your own function, or `'none'` for no check.
   * This option is required, because anyone can send requests and the specification defines no signatures.
   */
  verify: guarded("a verifier, or the word 'none'", isVerifier),
  /** Called when a subscription was authorized or canceled. */
  onSubscription: functionOption<NotificationListener<SubscriptionNotification>>(),
  /** Called when a payment succeeded or failed. */
  onPayment: functionOption<NotificationListener<PaymentNotification>>(),
  /** Called for an unknown type or status. Without `onUnknown`, the handler reports the message and responds 200. */
  onUnknown: optional(functionOption<NotificationListener<UnknownNotification>>()),
  /** Stores the ids of processed notifications. Default: the memory of this process. */
  dedupe: optional(objectWith<DedupeStore>('a dedupe store', 'claim', 'extend', 'commit', 'release')),
  /** Called for every problem with a delivery. The response to the sender never describes the problem. */
  onUnexpected: optional(functionOption<(report: NotificationReport) => unknown>()),
  /** Maximum size of a body, in bytes, before and after decompression; 65 536 by default. A message needs far less. */
  maxBytes: withDefault(wholeNumber(1), 65_536),
  /** Time limits for a claim (`duration`) and for your code (`limit`). */
  lease: withDefault(strict(lease, 'option'), LEASE),
  /** How long processed ids are kept, in milliseconds; 7 days by default. */
  dedupeTtl: withDefault(wholeNumber(1), 7 * 86_400_000),
  /** How long a duplicate waits for the first delivery; 10 s by default. After this time the handler responds 503. */
  responseTimeout: withDefault(fromZero, 10_000),
  /** Time limits for the sender, the verifier and the store. */
  timeouts: withDefault(strict(timeouts, 'option'), TIMEOUTS),
  /** Clock for `dedupeTtl` in the default store. Default: the system's clock. Leases and time limits use real time. */
  clock: withDefault(clockOption, systemClock),
}
/** Options of `createNotificationHandler`. Times are in milliseconds. */
export interface NotificationHandlerOptions extends Input<typeof options> {}
export const handlerOptionsSchema = strict(options, 'option')
export type HandlerSettings = Output<typeof options>
