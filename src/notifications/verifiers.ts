import { check, clockOption, objectWith } from '../check.ts'
import { systemClock } from '../clock.ts'
import { anyText, field, type Input, input, oneOf, strict, withDefault } from '../contract/fields.ts'
import type { Cancellation, PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import { InvalidRequestError, isMandateKitError } from '../errors.ts'
import { createLookupLimit, type LookupCall, postponed } from './lookup-limit.ts'
import { canonical, type MerchantNotification, toBytes } from './parse.ts'

/** Bytes that `crypto.subtle` accepts. Compilers before TypeScript 5.7 do not know `Uint8Array<ArrayBuffer>`. */
type Bytes = ReturnType<typeof Uint8Array.from>

/** A delivery, as a verifier receives it. */
export interface Delivery {
  /** The parsed message, which is not verified yet. */
  readonly notification: MerchantNotification
  /** The headers of the delivery, one of which may contain a signature. */
  readonly headers: Headers
  /** The body after decompression; `undefined` if a framework's body parser has read the body. */
  readonly bytes: Bytes | undefined
}

/** The record that proved a notification, as `lookupVerifier` read it. */
export type Lookup = PaymentDetails | SubscriptionDetails

/** Accepts a delivery, with the record that proved the delivery. Listeners get the record as `context.lookup`. */
export interface Verified {
  /** The payment if the notification's `type` is `SUBSCRIPTION_PAYMENT`, or else the subscription. */
  readonly lookup: Lookup
}

/**
 * Decides whether a delivery comes from the payment provider. `true` or a `Verified` accepts the delivery; for `false`
 * the handler responds 401. If the verifier throws or returns anything else, the handler responds 503, so that the
 * sender delivers again.
 */
export type Verifier = (delivery: Delivery) => boolean | Verified | Promise<boolean | Verified>

/** The encoding of a signature in its header. */
export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

type Secrets = string | Uint8Array | readonly (string | Uint8Array)[]
/** Named, because an inferred type in the declarations would say `Uint8Array<ArrayBuffer>`. */
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
  /** The shared secrets. To replace a secret without losing deliveries, list both the old and the new secret. */
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

/** Decodes a signature. Returns undefined if the signature is malformed. */
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
 * Verifies an HMAC of the decompressed body, because senders sign before they compress. Use `hmacVerifier` if the
 * payment provider, or your own proxy, signs deliveries. The specification defines no signature. The verifier compares
 * the signature in constant time with every secret. Behind a body parser such as `express.json()`, the verifier throws
 * an `InvalidRequestError` that explains the correct setup.
 *
 * @throws {InvalidRequestError} when a secret is missing or empty, or another option breaks its rule.
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
      const issue = { field: 'body', rule: 'the raw bytes', received: 'a parsed body', message }
      throw new InvalidRequestError('notifications.verify', [issue])
    }
    const value = headers.get(header)?.trim() ?? ''
    const signature = value.startsWith(prefix) ? decode(value.slice(prefix.length), encoding) : undefined
    if (signature === undefined) return false
    keys ??= Promise.all(secrets.map(importKey))
    // Every key is tried, even after a match, so that the duration does not reveal which secret matched.
    const results = await Promise.all(
      (await keys).map((key) => crypto.subtle.verify('HMAC', key, signature, bytes)),
    )
    return results.includes(true)
  }
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
  payment(paymentId: string): LookupCall<Pick<PaymentDetails, 'subscriptionId' | 'status'>>
}

const lookupClient = objectWith<LookupClient>('a SubscriptionsClient', 'details', 'cancellation', 'payment')

const lookupOptions = {
  /** Clock that tells how old a message is. Pass the mock's clock in tests. Default: the system's clock. */
  clock: withDefault(clockOption, systemClock),
}
/** Options of `lookupVerifier`. */
export interface LookupVerifierOptions extends Input<typeof lookupOptions> {}

// A client other than `SubscriptionsClient` may return fewer fields.
const verified = (record: object): Verified => ({ lookup: record as Lookup })

const isSame = (one: string, other: string): boolean => canonical(one) === canonical(other)
const FINAL = new Set(['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])
/** How long after a message its record may still have the opposite status, in milliseconds. */
const LONGEST_DELAY = 3_600_000

/**
 * Verifies a message by reading its record from the API. For a payment, the record and the message must have the
 * same `subscriptionId` and `status`. For other messages, the subscription must exist. For `CANCELLED`, the
 * subscription must be canceled: its `enabled` is 0, or its cancellation is `PROCESSED`. Listeners get the record as
 * `context.lookup`.
 *
 * The handler responds 401 if the record can never agree: it belongs to another subscription, its identifier is
 * impossible, or a payment still has the opposite final status one hour after the message. The handler responds 503 if
 * the record is late (it is missing, or its status is not final) or cannot be read (network, rate limit, login).
 *
 * Anyone can send messages, so at most four lookups run at once, and they use at most half of the rate limit. Beyond
 * that, the handler responds 503 without a request.
 *
 * `lookupVerifier` proves the content of a message, not its sender. Anyone who knows the content can resend it with
 * a new notificationId, so your code must tolerate receiving the same payment or status twice.
 *
 * @throws {InvalidRequestError} when the client lacks one of the methods.
 * @example createNotificationHandler({ verify: lookupVerifier(subscriptions), onPayment, onSubscription })
 */
export const lookupVerifier = (client: LookupClient, options: LookupVerifierOptions = {}): Verifier => {
  check('lookupVerifier', lookupClient, client, 'client')
  const { clock } = check('lookupVerifier', strict(lookupOptions, 'option'), options)
  const lookUp = createLookupLimit(clock)

  return async ({ notification }) => {
    const { type, subscriptionId, status, occurredAt } = notification
    const age = clock.now() - occurredAt.getTime()
    /** An old message is less likely to agree with its record soon, so its wait grows with its age. */
    const late = (what: string) => postponed(`The record is late: ${what}`, Math.max(5_000, age / 10))
    try {
      if (type === 'SUBSCRIPTION_PAYMENT') {
        const payment = await lookUp(() => client.payment(notification.paymentId))
        // A payment without a `subscriptionId` neither proves nor contradicts the message.
        if (payment.subscriptionId === undefined) throw late('the payment has no subscriptionId')
        if (!isSame(payment.subscriptionId, subscriptionId)) return false
        if (isSame(payment.status, status)) return verified(payment)
        if (FINAL.has(canonical(payment.status)) && age > LONGEST_DELAY) return false
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
