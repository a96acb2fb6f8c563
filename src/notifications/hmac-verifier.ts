import { InvalidRequestError } from '../errors.ts'
import { bytesOf } from './bytes.ts'
import { kindOf } from './read-message.ts'
import type { Verifier } from './verification.ts'

/** How a signature is written in its header. */
export type SignatureEncoding = 'hex' | 'base64' | 'base64url'

/** Options of `hmacVerifier`. */
export interface HmacVerifierOptions {
  /** The header that holds the signature, for example `x-signature`. */
  readonly header: string
  /** The shared secrets. Several at once let a secret be replaced without losing a delivery. */
  readonly secrets: string | Uint8Array | readonly (string | Uint8Array)[]
  /** `hex` by default. */
  readonly encoding?: SignatureEncoding | undefined
  /** Text before the signature in the header, for example `sha256=`. */
  readonly prefix?: string | undefined
  /** `SHA-256` by default. */
  readonly algorithm?: 'SHA-256' | 'SHA-384' | 'SHA-512' | undefined
}

// Longer than any signature of the algorithms above in any encoding.
const LONGEST_SIGNATURE = 256
const SECRETS_RULE = 'one or more secrets that are not empty'

const bytesOfHex = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  if (text.length % 2 !== 0 || !/^[\da-f]+$/i.test(text)) return undefined
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  )
}

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const invalid = (field: string, rule: string, received: string): InvalidRequestError =>
  new InvalidRequestError('notifications.verify', [{ field, rule, received }])

const ENCODINGS: readonly unknown[] = ['hex', 'base64', 'base64url'] satisfies SignatureEncoding[]
const ALGORITHMS: readonly unknown[] = ['SHA-256', 'SHA-384', 'SHA-512']

/** The bytes of a secret; none for what is no secret, such as the `undefined` of an unset environment variable. */
const secretBytes = (secret: unknown): Uint8Array<ArrayBuffer> =>
  typeof secret === 'string' ? new TextEncoder().encode(secret) : Uint8Array.from(bytesOf(secret) ?? [])

const secretsOf = ({ secrets }: HmacVerifierOptions): Uint8Array<ArrayBuffer>[] => {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  const all = list.map(secretBytes)
  if (all.length === 0) throw invalid('secrets', SECRETS_RULE, 'none')
  const odd = all.findIndex(({ length }) => length === 0)
  if (odd !== -1) throw invalid('secrets', SECRETS_RULE, kindOf(list[odd]))
  return all
}

const check = ({ header, encoding, algorithm, prefix }: HmacVerifierOptions): void => {
  if (typeof header !== 'string' || !/^[!#$%&'*+.^_`|~\w-]+$/.test(header)) {
    throw invalid('header', 'the name of a header', kindOf(header))
  }
  if (encoding !== undefined && !ENCODINGS.includes(encoding)) {
    throw invalid('encoding', "'hex', 'base64' or 'base64url'", kindOf(encoding))
  }
  if (algorithm !== undefined && !ALGORITHMS.includes(algorithm)) {
    throw invalid('algorithm', "'SHA-256', 'SHA-384' or 'SHA-512'", kindOf(algorithm))
  }
  if (prefix !== undefined && typeof prefix !== 'string') throw invalid('prefix', 'text', kindOf(prefix))
}

/**
 * Verifies an HMAC of the raw body, as many webhook senders sign. The specification shows no signing: use it when the
 * platform, or a proxy of yours, signs. Compared in constant time against every secret; a missing, malformed or too
 * short signature is refused, never an error.
 *
 * It needs the body as it was sent. Behind `express.json()` there is none: deliveries then fail with an
 * `InvalidRequestError` that says what to change.
 *
 * @throws {InvalidRequestError} when no secret, or an empty one, is given, or another option is none of those above.
 * @example hmacVerifier({ header: 'x-signature', secrets: [current, previous], prefix: 'sha256=' })
 */
export const hmacVerifier = (options: HmacVerifierOptions): Verifier => {
  const { header, encoding = 'hex', prefix = '', algorithm = 'SHA-256' } = options
  check(options)
  const secrets = secretsOf(options)
  const decode = encoding === 'hex' ? bytesOfHex : bytesOfBase64
  let keys: Promise<CryptoKey[]> | undefined
  const importKeys = () =>
    Promise.all(
      secrets.map((secret) =>
        crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: algorithm }, false, ['verify']),
      ),
    )

  return async ({ headers, bytes }) => {
    if (bytes === undefined) {
      throw invalid(
        'body',
        'the raw bytes: a signature covers them, not what a parser made of them. Mount the notification route before ' +
          'the body parser, or give it express.raw({ type: () => true }), or keep the raw body (rawBody: true in Nest)',
        'a body that was parsed already',
      )
    }
    const value = headers.get(header)?.trim() ?? ''
    if (!value.startsWith(prefix) || value.length > prefix.length + LONGEST_SIGNATURE) return false
    const signature = decode(value.slice(prefix.length))
    if (signature === undefined) return false
    keys ??= importKeys()
    // Every key is asked, whichever fits: the time taken does not tell which secret a sender holds.
    const answers = await Promise.all(
      (await keys).map((key) => crypto.subtle.verify('HMAC', key, signature, bytes)),
    )
    return answers.includes(true)
  }
}
