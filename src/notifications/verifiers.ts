import { check, objectWith } from '../check.ts'
import type { Input } from '../contract/fields.ts'
import { anyText, field, input, oneOf, strict, withDefault } from '../contract/fields.ts'
import type { Cancellation, PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import { InvalidRequestError, isMandateKitError } from '../errors.ts'
import type { MerchantNotification } from './parse.ts'
import { toBytes } from './parse.ts'

/** A delivery, as a verifier receives it. */
export interface Delivery {
  /** The parsed message, which is not verified yet. */
  readonly notification: MerchantNotification
  /** The headers of the delivery, one of which may contain a signature. */
  readonly headers: Headers
  /** The body after decompression; `undefined` if a framework's body parser has read the body. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
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
type SecretBytes = Uint8Array<ArrayBuffer>

const isFilled = (secret: SecretBytes | undefined): secret is SecretBytes => (secret?.length ?? 0) > 0
const secretsField = field<readonly SecretBytes[], Secrets>(
  'one or more secrets that are not empty',
  (value) => {
    const secrets = [value].flat().map(toBytes)
    // Every secret is checked, because an unset environment variable may give an empty or missing secret.
    return secrets.length > 0 && secrets.every(isFilled) ? secrets : undefined
  },
)

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
const decode = (text: string, encoding: SignatureEncoding): Uint8Array<ArrayBuffer> | undefined => {
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
  const importKey = (secret: Uint8Array<ArrayBuffer>) =>
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
  details(subscriptionId: string): PromiseLike<{ readonly id: string; readonly enabled?: number }>
  /** Reads the cancellation of a subscription. (S-f) */
  cancellation(subscriptionId: string): PromiseLike<Pick<Cancellation, 'subscriptionID'>>
  /** Reads one payment. (S-h) */
  payment(paymentId: string): PromiseLike<Pick<PaymentDetails, 'subscriptionId' | 'status'>>
}

const lookupClient = objectWith<LookupClient>('a SubscriptionsClient', 'details', 'cancellation', 'payment')

// A client other than `SubscriptionsClient` may return fewer fields.
const verified = (record: object): Verified => ({ lookup: record as Lookup })

/**
 * Verifies a message by reading its record from the API. For a payment, the record and the message must have the
 * same `subscriptionId` and `status`. For other messages, the subscription must exist. For `CANCELLED`, the
 * subscription must be canceled: its `enabled` is 0, or its cancellation exists. The handler responds 401 if the API
 * contradicts the message, and 503 if a record is missing or cannot be read (network, rate limit, login). Listeners
 * get the record as `context.lookup`.
 *
 * `lookupVerifier` proves the content of a message, not its sender. Anyone who knows the content can resend it with
 * a new notificationId, so your code must tolerate receiving the same payment or status twice.
 *
 * @throws {InvalidRequestError} when the client lacks one of the methods.
 * @example createNotificationHandler({ verify: lookupVerifier(subscriptions), onPayment, onSubscription })
 */
export const lookupVerifier = (client: LookupClient): Verifier => {
  check('lookupVerifier', lookupClient, client, 'client')
  return async ({ notification }) => {
    const { type, subscriptionId, status } = notification
    try {
      if (type === 'SUBSCRIPTION_PAYMENT') {
        const payment = await client.payment(notification.paymentId)
        // A payment without a `subscriptionId` neither proves nor contradicts the message.
        if (payment.subscriptionId === undefined) throw new TypeError('The payment has no subscriptionId.')
        const isEqual =
          payment.subscriptionId === subscriptionId && payment.status.trim().toUpperCase() === status
        return isEqual && verified(payment)
      }
      const subscription = await client.details(subscriptionId)
      if (subscription.id !== subscriptionId) return false
      if (type === 'SUBSCRIPTION' && status === 'CANCELLED' && subscription.enabled !== 0) {
        const { subscriptionID = subscriptionId } = await client.cancellation(subscriptionId)
        if (subscriptionID !== subscriptionId) return false
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
