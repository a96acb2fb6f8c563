import { clockOption, duration, fromZero, functionOption, objectWith } from '../check.ts'
import { LONGEST_DELAY, systemClock } from '../clock.ts'
import type { Input, Output } from '../contract/fields.ts'
import { field, optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
import type { InvalidRequestError } from '../errors.ts'
import type { DedupeStore } from './dedupe.ts'
import type {
  MerchantNotification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './parse.ts'
import type { Verifier } from './verifiers.ts'

/** The second argument of a listener. */
export interface NotificationContext {
  /** Aborted when the listener should stop: it ran too long, or another process may have claimed the notification. */
  readonly signal: AbortSignal
}

/** Your code for one kind of notification. It succeeds by returning. When it throws, the sender delivers again. */
export type NotificationListener<Kind extends MerchantNotification> = (
  notification: Kind,
  context: NotificationContext,
) => unknown

/**
 * What a handler reports to its owner, and never to the sender.
 *
 * - `invalid-message`: the body is not a notification (400), came too slowly (408) or is too large (413).
 * - `refused`: the verifier returned something other than `true` (401).
 * - `verification-failed`: the verifier threw, or took longer than `timeouts.verify` (503).
 * - `unknown-kind`: the type or status is unknown to this version, and `onUnknown` is missing (200).
 * - `handler-failed`: your code threw. The id was released (500).
 * - `handler-too-slow`: your code ran longer than `lease.limit`. Its signal was aborted (503).
 * - `lease-lost`: the lease ended while your code was running. Another process may have run it too.
 * - `store-failed`: a method of the dedupe store rejected, or took longer than `timeouts.store`. After a failed `claim`
 *   the handler responds 503. After a failed `commit` it responds 200, and this process remembers the success.
 */
export type NotificationReport =
  | { readonly kind: 'invalid-message'; readonly error: InvalidRequestError }
  | { readonly kind: 'unknown-kind'; readonly notification: UnknownNotification }
  | ({ readonly notification: MerchantNotification } & (
      | { readonly kind: 'refused' | 'handler-too-slow' | 'lease-lost' }
      | { readonly kind: 'verification-failed' | 'handler-failed'; readonly error: unknown }
      | { readonly kind: 'store-failed'; readonly method: keyof DedupeStore; readonly error: unknown }
    ))

/** Calls `onUnexpected`. What it throws or rejects with is dropped. */
export type Report = (report: NotificationReport) => void

const verifier = field<Verifier | 'none', Verifier | 'none'>("a verifier, or the word 'none'", (value) =>
  typeof value === 'function' || value === 'none' ? (value as Verifier | 'none') : undefined,
)
const LEASE = { duration: 60_000, limit: 600_000 }
const TIMEOUTS = { read: 30_000, verify: 30_000, store: 5_000 }

const lease = {
  /** How long a claim holds without an extension, in milliseconds; 60 s by default. A crash delays a message by it. */
  duration: withDefault(duration(LONGEST_DELAY), LEASE.duration),
  /** How long your code may run in all, in milliseconds; 10 minutes by default, `Infinity` for no limit. */
  limit: withDefault(duration(), LEASE.limit),
}
/** How long a claim holds. Times in milliseconds. */
export interface Lease extends Output<typeof lease> {}

const timeouts = {
  /** For the sender to send its whole body; 30 s by default. Then the handler responds 408. */
  read: withDefault(duration(LONGEST_DELAY), TIMEOUTS.read),
  /** For `verify`; 30 s by default. Then the handler responds 503. */
  verify: withDefault(duration(LONGEST_DELAY), TIMEOUTS.verify),
  /** For each call of the dedupe store; 5 s by default. Then the call counts as failed. */
  store: withDefault(duration(LONGEST_DELAY), TIMEOUTS.store),
}
/** The longest waits of a delivery, in milliseconds of real time. */
export interface NotificationTimeouts extends Output<typeof timeouts> {}

const options = {
  /**
   * Verifies that a message comes from the payment provider: `hmacVerifier`, `lookupVerifier`, your own function, or the
   * word `'none'`. Required, because the specification shows no signing and anyone can post.
   */
  verify: verifier,
  /** Called when a subscription was authorized or canceled. */
  onSubscription: functionOption<NotificationListener<SubscriptionNotification>>(),
  /** Called when a payment succeeded or failed. */
  onPayment: functionOption<NotificationListener<PaymentNotification>>(),
  /** Called for a type or status unknown to this version. Without it, such messages are reported with a 200. */
  onUnknown: optional(functionOption<NotificationListener<UnknownNotification>>()),
  /** Where processed ids are remembered; the memory of this process by default. */
  dedupe: optional(objectWith<DedupeStore>('a dedupe store', 'claim', 'extend', 'commit', 'release')),
  /** Called with everything that went wrong, including the errors that responses never show. */
  onUnexpected: optional(functionOption<(report: NotificationReport) => unknown>()),
  /** The largest body that is read, in bytes; 65 536 by default, many times a message. */
  maxBytes: withDefault(wholeNumber(1), 65_536),
  /** How long a claim holds without an extension, and how long your code may run. */
  lease: withDefault(strict(lease, 'option'), LEASE),
  /** How long processed ids are remembered, in milliseconds; 7 days by default. */
  dedupeTtl: withDefault(wholeNumber(1), 7 * 86_400_000),
  /** How long a duplicate waits for the delivery in progress before the 503, in milliseconds; 10 s by default. */
  responseTimeout: withDefault(fromZero, 10_000),
  /** How long a delivery waits for its sender, the verifier and the store. */
  timeouts: withDefault(strict(timeouts, 'option'), TIMEOUTS),
  /** The time by which committed ids age without `dedupe`; the system's by default. Leases and waits run on real time. */
  clock: withDefault(clockOption, systemClock),
}
/** Options of `createNotificationHandler`. Times in milliseconds. */
export interface NotificationHandlerOptions extends Input<typeof options> {}
/** Checks the options of a handler and adds the defaults. */
export const handlerOptionsSchema = strict(options, 'option')
/** Checked options with their defaults. */
export type HandlerSettings = Output<typeof options>
