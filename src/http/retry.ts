import type { EndpointDefinition } from '../contract/endpoint.ts'
import { isObject } from '../contract/fields.ts'
import type { Outcome } from '../errors.ts'
import type { Interruption } from './deadline.ts'
import type { RetryReason } from './observe.ts'
import type { Call } from './prepare.ts'

/** A connection that failed before the response was complete. */
export interface ConnectionFailure {
  readonly kind: 'connection'
  /** Whether the error proves that the request never reached the server. */
  readonly notSent: boolean
  /** Whether the runtime rejected the server's certificate. If so, every retry would fail too. */
  readonly certificate: boolean
  /** The runtime's error code, for example `ECONNRESET`, if there is one. */
  readonly reason: string | undefined
}

/** What is wrong with a response. */
export type ResponseFailure =
  /** HTTP status 400 or above. `created`: the body contains the created object, so the server may have acted. */
  | { readonly kind: 'status'; readonly status: number; readonly created: boolean }
  /** A 2xx response with an error code. `proof` is true if the code proves that the call was not executed. */
  | { readonly kind: 'code'; readonly proof: boolean }
  /**
   * The response is incomplete (`cut`), does not match the contract (`unexpected`), or contains a record that was not
   * requested (`another`). `reason` names the defect, e.g. "is empty".
   */
  | { readonly kind: 'cut' | 'unexpected' | 'another'; readonly reason: string }

export type Failure = ConnectionFailure | Interruption | ResponseFailure

const NOT_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/
/**
 * Error codes of a rejected server certificate. The runtime rejects a certificate before it sends any byte of a
 * request. Other TLS failures (`ERR_SSL_…`) may occur after the server acted, so their codes are not in this list.
 */
export const REJECTED_CERTIFICATE =
  /^(?:CERT_(?:HAS_EXP|NOT_YET|SIGNA|REVOK)|DEPTH_ZERO_SELF|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|ERR_TLS_CERT_ALTNAME|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXC)/
/** Error codes of a timeout in `fetch` itself, such as the 300 s timeout of Node. */
const FETCH_TIMEOUT = /^(?:UND_ERR_(?:HEADERS|BODY)_TIMEOUT|TimeoutError)$/
/** Error messages of Node and undici that prove that nothing was sent, whatever code or cause the error has. */
const BEFORE_SENDING =
  /^(?:Proxy response \(\d{3}\)|Proxy Authentication Required \(407\)|(?:Secure )?Proxy Connection failed|bad port$)/
/** Node's message if TLS was not established, so nothing was sent. The code `ECONNRESET` alone would not prove that. */
const BEFORE_TLS = /^Client network socket disconnected before secure TLS connection/
const CODE = /^[A-Za-z][\w/.-]{1,60}$/
const MAX_DEPTH = 4

interface Evidence {
  readonly code?: string
  readonly notSent?: boolean
}

const evidenceIn = (error: unknown, depth = 0): readonly Evidence[] => {
  if (!isObject(error) || depth > MAX_DEPTH) return []
  const { message, code, name, syscall, errors, cause } = error
  const text = typeof message === 'string' ? message : ''
  const [proof] = BEFORE_SENDING.exec(text) ?? []
  if (proof !== undefined) return [{ code: proof, notSent: true }]
  const causes = evidenceIn(cause, depth + 1)
  // An aggregate error has one inner error per IP address, and its own code describes only the first address.
  if (Array.isArray(errors) && errors.length > 0) {
    const inner = errors.map((each) => evidenceIn(each, depth + 1))
    return [...inner.flatMap((found) => (found.length > 0 ? found : [{}])), ...causes]
  }
  let own = name === 'TimeoutError' ? name : undefined
  if (typeof code === 'string' && CODE.test(code)) own = code
  if (own === undefined) return causes
  const isBefore = syscall === 'connect' || syscall === 'getaddrinfo' || BEFORE_TLS.test(text)
  return [
    { code: own, notSent: isBefore || NOT_CONNECTED.test(own) || REJECTED_CERTIFICATE.test(own) },
    ...causes,
  ]
}

/** Classifies a failed `fetch`. `notSent` is true only if the error and all its causes prove that nothing was sent. */
export const classifyFailure = (error: unknown, milliseconds: number): ConnectionFailure | Interruption => {
  const evidence = evidenceIn(error)
  const reason = evidence.find(({ code }) => code)?.code
  if (FETCH_TIMEOUT.test(reason ?? '')) return { kind: 'timeout', limit: 'fetch', milliseconds }
  const notSent = evidence.length > 0 && evidence.every((each) => each.notSent)
  const certificate = notSent && REJECTED_CERTIFICATE.test(reason ?? '')
  return { kind: 'connection', notSent, certificate, reason }
}

type RetryRules = Pick<EndpointDefinition, 'retry' | 'auth' | 'idempotencyKey'>

const FIRST_BACKOFF = 500
const MAX_BACKOFF_MS = 8000

/** Returns whether a status may mean that a call with the same idempotency key is still running. */
export const isKeyInUse = (endpoint: RetryRules, status: number): boolean =>
  endpoint.idempotencyKey === true && (status === 409 || status === 425)

/** Returns whether the server may have acted although it responded with this status. */
const isLost = (endpoint: RetryRules, status: number): boolean =>
  status >= 500
    ? status !== 501 && status !== 505
    : status === 408 || status === 499 || isKeyInUse(endpoint, status)

const reasonOf = (endpoint: RetryRules, failure: Failure): RetryReason | 'rejected' | 'aborted' => {
  const { kind } = failure
  if (kind === 'aborted') return kind
  if (kind === 'timeout' || kind === 'cut') return 'response-lost'
  if (kind === 'connection' && !failure.certificate) return failure.notSent ? 'not-sent' : 'response-lost'
  if (kind !== 'status') return 'rejected'
  if (isLost(endpoint, failure.status)) return 'response-lost'
  if (failure.created) return 'rejected'
  if (failure.status === 401 && endpoint.auth === 'token') return 'token-rejected'
  return failure.status === 429 ? 'rate-limited' : 'rejected'
}

/** Returns a random wait (full jitter) in ms. Its maximum is 0.5 s at first, and doubles with each retry, up to 8 s. */
const backoff = (retries: number): number =>
  Math.floor(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF * 2 ** retries))

/** Decides whether the client retries a failed attempt. `docs/retries-and-outcomes.md` lists the rules in a table. */
export const decideRetry = (
  { client, endpoint, limit, maxWait, deadline: { remaining }, keyLeft }: Call,
  failure: Failure,
  retries: number,
  serverWaitMs: number | undefined,
): { readonly reason?: RetryReason; readonly waitMs?: number } => {
  const { retry: policy } = endpoint
  const reason = reasonOf(endpoint, failure)
  if (reason === 'aborted' || reason === 'rejected') return {}
  if (reason === 'token-rejected') return remaining <= 0 ? {} : { reason, waitMs: 0 }
  if (policy === 'never' || retries >= limit) return {}
  if (policy !== 'always' && reason === 'response-lost') return {}
  if (policy === 'when-not-sent' && reason === 'rate-limited' && serverWaitMs === undefined) return {}
  const waitMs = serverWaitMs ?? Math.min(backoff(retries), maxWait)
  // After the key has expired, the server would execute a retry as a new call.
  if (waitMs >= keyLeft()) return {}
  if (waitMs > maxWait || waitMs >= remaining) return { waitMs }
  return reason === 'rate-limited' && client.settings.rateLimit === 'throw' ? {} : { reason, waitMs }
}

export const callOutcome = (endpoint: RetryRules, failure: Failure): Outcome => {
  if (failure.kind === 'connection') return failure.notSent ? 'not-sent' : 'unknown'
  if (failure.kind === 'code') return failure.proof ? 'rejected' : 'unknown'
  if (failure.kind !== 'status' || failure.created || failure.status >= 500) return 'unknown'
  return isLost(endpoint, failure.status) ? 'unknown' : 'rejected'
}

/** Combines two outcomes: `unknown` outranks `rejected`, which outranks `not-sent`. `>` compares them as text. */
export const combineOutcomes = (one: Outcome, other: Outcome): Outcome => (one > other ? one : other)

export const isTransient = (endpoint: RetryRules, failure: Failure): boolean =>
  (failure.kind === 'status' && failure.status === 429) ||
  !['rejected', 'token-rejected'].includes(reasonOf(endpoint, failure))
