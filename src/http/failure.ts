import { isObject } from '../contract/fields.ts'
import type { Interruption } from './deadline.ts'

/** The facts about a connection that failed. */
interface NetworkFailure {
  /** Whether the error proves that the request never reached the server. */
  readonly notSent: boolean
  /** Whether the runtime rejected the server's certificate, so that every retry would fail too. */
  readonly certificate: boolean
  /** The runtime's error code, for example `ECONNRESET`, if there is one. */
  readonly reason: string | undefined
}

/** How an attempt failed. */
export type Failure =
  /** The connection failed before the response was complete. */
  | ({ readonly kind: 'connection' } & NetworkFailure)
  | Interruption
  /** An HTTP status of 400 or above. `created` is true if the response contains the created object. */
  | { readonly kind: 'status'; readonly status: number; readonly created: boolean }
  /** A 2xx response with an error code. `proof` is true if the code proves that the call was not executed. */
  | { readonly kind: 'code'; readonly proof: boolean }
  /** The response is incomplete (`cut`) or does not match the contract. `reason` names the defect, e.g. "is empty". */
  | { readonly kind: 'cut' | 'unexpected'; readonly reason: string }

/** Error codes that prove that no connection was made. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
/**
 * Error codes of a rejected server certificate. The runtime rejects a certificate before it sends any byte of a
 * request. Other TLS failures (`ERR_SSL_…`) may occur after the server acted, so their codes are not in this list.
 */
export const REJECTED_CERTIFICATE =
  /^(?:CERT_(?:HAS_EXP|NOT_YET|SIGNA|REVOK)|DEPTH_ZERO_SELF|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|ERR_TLS_CERT_ALTNAME|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXC)/
/** System calls that happen before the first byte of a request is sent. */
const BEFORE_SENDING = new Set<unknown>(['connect', 'getaddrinfo'])
/** Error codes of a timeout in `fetch` itself, such as the 300 s timeout of Node. */
const FETCH_TIMEOUT = /^(?:UND_ERR_(?:HEADERS|BODY)_TIMEOUT|TimeoutError)$/
/** Texts of errors of Node and undici that prove that nothing was sent, whatever code or cause the error has. */
const BEFORE_SENDING_TEXT =
  /^(?:Proxy response \(\d{3}\)|Proxy Authentication Required \(407\)|(?:Secure )?Proxy Connection failed|bad port$)/
/** Node's text for a connection that closed before the end of the TLS handshake. Its code alone proves nothing. */
const BEFORE_TLS = /^Client network socket disconnected before secure TLS connection/
const CODE = /^[A-Za-z][\w/.-]{1,60}$/
const MAX_DEPTH = 4

type Evidence = Readonly<Record<string, unknown>>

/** Returns the part of an error's text that matches, such as `Proxy response (407)`. */
const textOf = ({ message }: Evidence, text: RegExp): string | undefined =>
  typeof message === 'string' ? text.exec(message)?.[0] : undefined

const codeOf = (error: Evidence): string | undefined => {
  const { code, name } = error
  const text = textOf(error, BEFORE_SENDING_TEXT)
  if (text !== undefined) return text
  if (typeof code === 'string' && CODE.test(code)) return code
  return name === 'TimeoutError' ? name : undefined
}

/** Lists an error and its causes, except those without a code. An aggregate error is replaced by its inner errors. */
const withCode = (error: unknown, depth = 0): readonly Evidence[] => {
  if (!isObject(error) || depth > MAX_DEPTH) return []
  if (textOf(error, BEFORE_SENDING_TEXT) !== undefined) return [error]
  // An aggregate error has one inner error per IP address, and its own code describes only the first address.
  const errors: readonly unknown[] = Array.isArray(error.errors) ? error.errors : []
  const listed = errors.flatMap((each) => {
    const found = withCode(each, depth + 1)
    return found.length > 0 ? found : [{}]
  })
  const own = listed.length > 0 || codeOf(error) === undefined ? listed : [error]
  return [...own, ...withCode(error.cause, depth + 1)]
}

const wasNotSent = (evidence: Evidence): boolean => {
  const code = codeOf(evidence)
  if (code === undefined) return false
  if (BEFORE_SENDING_TEXT.test(code) || textOf(evidence, BEFORE_TLS) !== undefined) return true
  return NOT_CONNECTED.has(code) || REJECTED_CERTIFICATE.test(code) || BEFORE_SENDING.has(evidence.syscall)
}

/** Classifies a failed `fetch`. `notSent` is true only if every error in the chain proves that nothing was sent. */
export const failureOf = (error: unknown, milliseconds: number): Failure => {
  const evidence = withCode(error)
  const reason = evidence.map(codeOf).find((code) => code !== undefined)
  if (FETCH_TIMEOUT.test(reason ?? '')) return { kind: 'timeout', limit: 'fetch', milliseconds }
  const notSent = evidence.length > 0 && evidence.every(wasNotSent)
  const certificate = notSent && REJECTED_CERTIFICATE.test(reason ?? '')
  return { kind: 'connection', notSent, certificate, reason }
}
