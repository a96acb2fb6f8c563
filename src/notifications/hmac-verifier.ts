import { check } from '../check.ts'
import { anyText, field, type Input, input, oneOf, strict, withDefault } from '../contract/fields.ts'
import type { Bytes, Verifier } from './options.ts'
import { toBytes } from './parse.ts'
import { setupError } from './read-delivery.ts'

/** The encoding of a signature in its header. */
export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

type Secrets = string | Uint8Array | readonly (string | Uint8Array)[]
/** Named, because an inferred type in the declarations would say `Bytes`. */
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
