import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import {
  choiceIssues,
  isFields,
  refuse,
  unknownNames,
  unless,
  whileReading,
} from '../transport/input-issues.ts'
import { bytesOf } from './bytes.ts'
import type { Verifier } from './verification.ts'
import { checkDelivery } from './verification.ts'

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
const OPERATION = 'hmacVerifier'
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

const ENCODINGS = ['hex', 'base64', 'base64url'] satisfies SignatureEncoding[]
const ALGORITHMS = ['SHA-256', 'SHA-384', 'SHA-512']

/** The bytes of a secret; none for what is no secret, such as the `undefined` of an unset environment variable. */
const secretBytes = (secret: unknown): Uint8Array<ArrayBuffer> =>
  typeof secret === 'string' ? new TextEncoder().encode(secret) : Uint8Array.from(bytesOf(secret) ?? [])

const listOf = (secrets: unknown): readonly unknown[] => (Array.isArray(secrets) ? secrets : [secrets])

const secretIssues = (secrets: unknown): InputIssue[] => {
  const list = listOf(secrets)
  const odd = list.findIndex((secret) => secretBytes(secret).length === 0)
  if (list.length > 0 && odd < 0) return []
  return unless(false, 'secrets', SECRETS_RULE, list.length === 0 ? list : list[odd])
}

const NAMES = Object.keys({
  header: true,
  secrets: true,
  encoding: true,
  prefix: true,
  algorithm: true,
} satisfies Record<keyof HmacVerifierOptions, true>)

const issuesOf = (options: unknown): InputIssue[] => {
  if (!isFields(options)) {
    return unless(false, 'options', 'an object such as { header, secrets }', options)
  }
  const { header, secrets, encoding, algorithm, prefix } = options
  const headerHolds = typeof header === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(header)
  return [
    ...unknownNames(options, NAMES, 'option of hmacVerifier'),
    ...unless(headerHolds, 'header', 'the name of a header', header, 'text'),
    ...secretIssues(secrets),
    ...choiceIssues('encoding', ENCODINGS, encoding),
    ...choiceIssues('algorithm', ALGORITHMS, algorithm),
    ...unless(prefix === undefined || typeof prefix === 'string', 'prefix', 'text', prefix),
  ]
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
  const { header, encoding, prefix, algorithm, secrets } = whileReading(OPERATION, 'options', () => {
    refuse(OPERATION, issuesOf(options))
    const { encoding = 'hex', prefix = '', algorithm = 'SHA-256', header } = options
    return { header, encoding, prefix, algorithm, secrets: listOf(options.secrets).map(secretBytes) }
  })
  const decode = encoding === 'hex' ? bytesOfHex : bytesOfBase64
  let keys: Promise<CryptoKey[]> | undefined
  const importKeys = () =>
    Promise.all(
      secrets.map((secret) =>
        crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: algorithm }, false, ['verify']),
      ),
    )

  return async (delivery) => {
    checkDelivery(delivery)
    const { headers, bytes } = delivery
    if (bytes === undefined) {
      throw new InvalidRequestError('notifications.verify', [
        {
          field: 'body',
          rule:
            'the raw bytes: a signature covers them, not what a parser made of them. Mount the notification route before ' +
            'the body parser, or give it express.raw({ type: () => true }), or keep the raw body (rawBody: true in Nest)',
          received: 'a body that was parsed already',
        },
      ])
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
