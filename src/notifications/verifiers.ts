import { check, clockOption, objectWith } from '../check.ts'
import { type Clock, steadyClock, systemClock, waitAtMost } from '../clock.ts'
import { anyText, field, type Input, input, oneOf, strict, withDefault } from '../contract/fields.ts'
import type { Cancellation, PaymentDetails } from '../contract/subscriptions.ts'
import { isMandateKitError, type RateLimit } from '../errors.ts'
import type { Bytes, Lookup, Verified, Verifier } from './options.ts'
import { canonical, toBytes } from './parse.ts'
import { setupError } from './read-delivery.ts'

/** The encoding of a signature in its header. */
export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

type Secrets = string | Uint8Array | readonly (string | Uint8Array)[]
/** With a type alias, published declarations would contain `Uint8Array<ArrayBuffer>`, which needs TypeScript 5.7. */
interface SecretBytes extends ReadonlyArray<Bytes> {}

const isFilled = (secret: Bytes | undefined): secret is Bytes => (secret?.length ?? 0) > 0
const secretsField = field<SecretBytes, Secrets>('one or more secrets that are not empty', (value) => {
  const secrets = [value].flat().map(toBytes)
  // Every secret is checked, because an unset environment variable may give an empty or missing secret.
  return secrets.length > 0 && secrets.every(isFilled) ? secrets : undefined
})

const hmacOptions = {
  /** The header that holds the signature, for example `x-signature`. */
  header: input('the name of a header', (name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name)),
  /** Secrets shared with the sender. To replace a secret without losing deliveries, list the old and the new one. */
  secrets: secretsField,
  /** How the header encodes the signature; `hex` by default. */
  encoding: withDefault(oneOf(['hex', 'base64', 'base64url']), 'hex'),
  /** Text before the signature in the header, for example `sha256=`. Empty by default. */
  prefix: withDefault(anyText, ''),
  /** The hash function of the HMAC; `SHA-256` by default. */
  algorithm: withDefault(oneOf(['SHA-256', 'SHA-384', 'SHA-512']), 'SHA-256'),
}
/** Options of `hmacVerifier`. */
export interface HmacVerifierOptions extends Input<typeof hmacOptions> {}

const decode = (text: string, encoding: SignatureEncoding): Bytes | undefined => {
  if (encoding === 'hex') {
    if (!/^(?:[\da-f]{2})+$/i.test(text)) return undefined
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  }
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/**
 * Creates a verifier for HMAC signatures. The specification defines none, so use the verifier only if your payment
 * provider or your own proxy signs deliveries. The verifier checks the decompressed body, because senders sign before
 * they compress. It tries every secret, and compares in constant time. Behind a body parser such as `express.json()`,
 * it throws an `InvalidRequestError` that explains the correct setup.
 *
 * @throws {InvalidRequestError} when a secret is missing or empty, or another option is invalid.
 * @example hmacVerifier({ header: 'x-signature', secrets: [current, previous], prefix: 'sha256=' })
 */
export const hmacVerifier = (options: HmacVerifierOptions): Verifier => {
  const settings = check('hmacVerifier', strict(hmacOptions, 'option'), options)
  const { header, secrets, encoding, prefix, algorithm } = settings
  const importKey = (secret: Bytes) =>
    crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: algorithm }, false, ['verify'])
  let keys: Promise<CryptoKey[]> | undefined

  return async ({ headers, bytes }) => {
    if (bytes === undefined) {
      const message =
        'body must be the raw bytes that the signature covers, but it was parsed already. Mount the notification ' +
        'route before the body parser, or give it express.raw({ type: () => true }), or keep the raw body ' +
        '(rawBody: true in Nest)'
      throw setupError(message, 'a parsed body')
    }
    const value = headers.get(header)?.trim() ?? ''
    const signature = value.startsWith(prefix) ? decode(value.slice(prefix.length), encoding) : undefined
    if (signature === undefined) return false
    keys ??= Promise.all(secrets.map(importKey))
    // Every key is tried, even after a match, so that the duration does not reveal which secret matched.
    const verifyWith = (key: CryptoKey) => crypto.subtle.verify('HMAC', key, signature, bytes)
    return (await Promise.all((await keys).map(verifyWith))).includes(true)
  }
}

/** A call's promise. Without `withResponse`, the verifier cannot read the rate limit, and could exhaust it. */
export type LookupCall<Data> = PromiseLike<Data> & {
  /** Returns the data with the response, which may contain the rate limit. (Limits, area S) */
  withResponse?(): PromiseLike<{
    readonly data: Data
    readonly response: { readonly rateLimit?: RateLimit | undefined }
  }>
}

/** The methods that `lookupVerifier` calls. A `SubscriptionsClient` has these methods. */
export interface LookupClient {
  /** Reads a subscription. (S-d) */
  details(subscriptionId: string): LookupCall<{ readonly id: string; readonly enabled?: number }>
  /** Reads the cancellation of a subscription. (S-f) */
  cancellation(
    subscriptionId: string,
  ): LookupCall<Pick<Cancellation, 'subscriptionID'> & Partial<Pick<Cancellation, 'status'>>>
  /** Reads one payment. (S-h) */
  payment(
    paymentId: string,
  ): LookupCall<
    Pick<PaymentDetails, 'subscriptionId' | 'status'> & Partial<Pick<PaymentDetails, 'paymentId'>>
  >
}

const lookupClient = objectWith<LookupClient>('a SubscriptionsClient', 'details', 'cancellation', 'payment')

const lookupOptions = {
  /** Clock that measures how old a message is. Pass the mock's clock in tests. Default: the system's clock. */
  clock: withDefault(clockOption, systemClock),
}
/** Options of `lookupVerifier`. */
export interface LookupVerifierOptions extends Input<typeof lookupOptions> {}

const MAX_LOOKUPS = 4
const MAX_LOOKUP_WAIT_MS = 2_000
/** How long a lookup counts as in progress, in milliseconds. A lookup may never settle if its worker has ended. */
const MAX_LOOKUP_MS = 30_000
const WINDOW_MS = 60_000
/** If the payment still has the opposite status this many milliseconds after the message, the message is false. */
const OPPOSITE_STATUS_MS = 3_600_000
/** Returns the pause before a redelivery: a tenth of the message's age, but at least 5 000 milliseconds. */
const pauseAt = (age: number): number => Math.max(5_000, age / 10)

/** Creates an error after which the handler responds 503, so that the sender can deliver again. */
const postponed = (message: string, retryAfterMs: number): Error =>
  Object.assign(new Error(message), { retryAfterMs })

/**
 * Returns a function that makes lookups, at most four at once. In each window of the rate limit, it uses at most half
 * of the limit, and makes no lookup while less than a quarter remains. It rejects a lookup that is not allowed.
 */
const createLookupLimit = (clock: Clock) => {
  const active = new Map<Promise<unknown>, number>()
  let limit = Number.POSITIVE_INFINITY
  let window = { endsAt: 0, lookups: 0, remaining: limit }

  const isFull = (): boolean => {
    for (const [lookup, endsAt] of active) if (endsAt <= steadyClock.now()) active.delete(lookup)
    return active.size >= MAX_LOOKUPS
  }

  const update = ({ limit: named, remaining = named, resetAt }: RateLimit = {}): void => {
    if (named === undefined || remaining === undefined) return
    limit = named
    window.remaining = Math.min(remaining, window.remaining)
    if (Number(resetAt) > clock.now()) window.endsAt = Math.min(Number(resetAt), window.endsAt)
  }

  const read = async <Data>(call: () => LookupCall<Data>): Promise<Data> => {
    try {
      const started = call()
      if (started.withResponse === undefined) return await started
      const { data, response } = await started.withResponse()
      update(response.rateLimit)
      return data
    } catch (error) {
      if (isMandateKitError(error) && 'rateLimit' in error) update(error.rateLimit)
      throw error
    }
  }

  return async <Data>(call: () => LookupCall<Data>): Promise<Data> => {
    const giveUpAt = steadyClock.now() + MAX_LOOKUP_WAIT_MS
    while (isFull()) {
      const left = giveUpAt - steadyClock.now()
      if (left <= 0) throw postponed(`${MAX_LOOKUPS} lookups are in progress`, MAX_LOOKUP_WAIT_MS)
      await waitAtMost(Promise.race(active.keys()), left).catch(() => undefined)
    }
    const now = clock.now()
    if (now >= window.endsAt || now < window.endsAt - WINDOW_MS)
      window = { endsAt: now + WINDOW_MS, lookups: 0, remaining: Number.POSITIVE_INFINITY }
    if (window.lookups >= Math.max(1, Math.floor(limit / 2)) || window.remaining - active.size < limit / 4)
      throw postponed('More lookups would use up the rate limit', window.endsAt - now)
    window.lookups += 1
    const lookup: Promise<Data> = read(call).finally(() => active.delete(lookup))
    active.set(lookup, steadyClock.now() + MAX_LOOKUP_MS)
    return lookup
  }
}

const isSame = (one: string, other: string): boolean => canonical(one) === canonical(other)
// A client other than `SubscriptionsClient` may return fewer fields.
const verified = (record: object): Verified => ({ lookup: record as Lookup })

/**
 * Creates a verifier that reads a message's record (payment or subscription) from the API. A payment's `paymentId`,
 * `subscriptionId` and `status` must match the message. For `CANCELLED`, the subscription's `enabled` must be 0, or its
 * cancellation must be `PROCESSED`. For other messages, the verifier checks only that the subscription exists, so call
 * `client.status(invoiceId)` before you activate an order. Your code gets the record as `context.lookup`.
 *
 * The handler responds 401 if the message cannot be true: the payment belongs to another subscription, the message's
 * identifier is invalid, or a payment still has the opposite status one hour after the message. The handler responds
 * 503 if the record is missing, does not have the message's status yet, or cannot be read (network, rate limit, login).
 *
 * Anyone can send messages, so at most four lookups run at once, and they use at most half of the rate limit.
 * If more lookups are needed, the handler responds 503 without a lookup.
 *
 * `lookupVerifier` proves the content of a message, not its sender. Anyone who knows the content can resend it with
 * another notificationId or timestamp, so your code must tolerate receiving the same payment or status twice.
 *
 * @throws {InvalidRequestError} when `client` lacks a method of `LookupClient`.
 * @example createNotificationHandler({ verify: lookupVerifier(subscriptions), onPayment, onSubscription })
 */
export const lookupVerifier = (client: LookupClient, options: LookupVerifierOptions = {}): Verifier => {
  check('lookupVerifier', lookupClient, client, 'client')
  const { clock } = check('lookupVerifier', strict(lookupOptions, 'option'), options)
  const lookUp = createLookupLimit(clock)

  return async ({ notification }) => {
    const { type, subscriptionId, status, occurredAt } = notification
    const age = clock.now() - occurredAt.getTime()
    const late = (what: string) => postponed(`The record is late: ${what}`, pauseAt(age))
    try {
      if (type === 'SUBSCRIPTION_PAYMENT') {
        const payment = await lookUp(() => client.payment(notification.paymentId))
        // A payment without a `subscriptionId` neither proves nor contradicts the message.
        if (payment.subscriptionId === undefined) throw late('the payment has no subscriptionId')
        if (!isSame(payment.subscriptionId, subscriptionId)) return false
        // A server may find payment 42 by `042` too. With such a form, an attacker could make you book a payment twice.
        const id = String(payment.paymentId ?? notification.paymentId)
        if (id.toUpperCase() !== notification.paymentId.toUpperCase()) return false
        if (isSame(payment.status, status)) return verified(payment)
        const isFinal = /^(?:SUCCEEDED|FAILED)_PAYMENT$/.test(canonical(payment.status))
        if (isFinal && age > OPPOSITE_STATUS_MS) return false
        throw late('the payment has another status')
      }
      const subscription = await lookUp(() => client.details(subscriptionId))
      if (!isSame(subscription.id, subscriptionId)) return false
      if (type === 'SUBSCRIPTION' && status === 'CANCELLED' && subscription.enabled !== 0) {
        const cancellation = await lookUp(() => client.cancellation(subscriptionId))
        if (!isSame(cancellation.subscriptionID ?? subscriptionId, subscriptionId)) return false
        if (!isSame(cancellation.status ?? 'PROCESSED', 'PROCESSED'))
          throw late('the cancellation is not processed')
      }
      return verified(subscription)
    } catch (error) {
      // The client rejected the identifier as invalid, so no record can have this identifier.
      if (isMandateKitError(error) && error.code === 'invalid_request' && error.phase === 'input')
        return false
      throw error
    }
  }
}
