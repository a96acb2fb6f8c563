import { exportedWait, inWords } from '../clock.ts'
import type { AuthKind, EndpointDefinition } from '../contract/endpoint.ts'
import { type Verdict, verdictOn } from '../contract/verdict.ts'
import type { ErrorDetails, MandateKitError, Phase } from '../errors.ts'
import {
  AbortedError,
  ApiError,
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  KeyReusedError,
  LockedOutError,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts'
import { type CallLog, serverRequestIdOf } from './call-log.ts'
import type { Interruption } from './deadline.ts'
import type { Failure } from './failure.ts'
import { readRateLimit } from './rate-limit.ts'
import { errorIn } from './read-response.ts'
import { isKeyInUse, isTransient } from './retry.ts'
import type { ReceivedResponse } from './send.ts'

/** Data from which the error of a failed attempt is created. Times are in milliseconds. */
export interface FailureContext {
  readonly response?: ReceivedResponse | undefined
  /** The response's parsed JSON. */
  readonly body?: unknown
  /** How long the server asked the client to wait. */
  readonly hint?: number | undefined
  /** The wait that a retry would need. Set only if the call ends because this wait is too long. */
  readonly tooLong?: number | undefined
}

const LONG = /^(.{200}).+/s
const MAX_BODY = 100_000

/** Describes the request for a message, without identifiers, query and base path, which could be secret. */
const placeOf = ({ request: { method, url, endpoint } }: CallLog): string =>
  `${method} ${new URL(url).origin}${endpoint.path}`

const waitText = (tooLong: number | undefined): string =>
  tooLong === undefined ? '' : `, and the wait of ${inWords(tooLong)} is too long for this call`

const checkBaseUrl = ({ request: { endpoint } }: CallLog): string =>
  `. Check baseUrl: the client adds ${endpoint.path} to it`

/** Returns the last part of an error's message: what the caller should do next. */
const adviceOf = (
  endpoint: EndpointDefinition,
  details: ErrorDetails & { readonly status?: number },
  waitMs?: number,
): string => {
  const { outcome, retryable, idempotencyKey } = details
  const again = retryable ? 'Calling again is safe.' : ''
  if (outcome === 'not-sent') return `Nothing was sent. ${again}`
  if (outcome === 'unknown') {
    if (!endpoint.acts) return again
    if (idempotencyKey && details.status === 401)
      return 'The server may have acted. Find out first: under another API key, the same idempotencyKey could act twice.'
    const next = endpoint.idempotencyKey ? `Call again with idempotencyKey "${idempotencyKey}": ` : ''
    return `The server may have acted. ${next}${endpoint.afterUnknown?.advice}`
  }
  const rejected = endpoint.acts ? 'The server did not act.' : ''
  if (!retryable) return endpoint.afterRejected ?? rejected
  return `${rejected} Call again ${waitMs === undefined ? 'later' : `in ${inWords(waitMs)}`}.`.trim()
}

const messageOf = (log: CallLog, details: ErrorDetails, what: string, waitMs?: number): string =>
  `${details.operation} failed: ${what}. ${adviceOf(log.request.endpoint, details, waitMs)}`.trimEnd()

const meaningOf = (verdict: Verdict, auth: AuthKind): string | undefined => {
  if (verdict === 'locked') return 'the account is locked: valid credentials are rejected too'
  if (verdict !== 'rejected-credentials') return undefined
  return auth === 'credentials'
    ? 'the credentials were not accepted'
    : `the ${auth === 'token' ? auth : 'API key'} was not accepted`
}

/** Creates the error for a failed response. Removes secrets before shortening, so that no part of a secret remains. */
const responseError = (
  log: CallLog,
  failure: Failure,
  { status, headers, text = '' }: ReceivedResponse,
  { body, hint, tooLong }: FailureContext,
): MandateKitError => {
  const { endpoint } = log.request
  const redactor = log.redactor()
  const plain = (value: string | undefined): string | undefined =>
    value && redactor.text(value).replace(LONG, '$1…')
  const quoted = (value: string | undefined): string | undefined => value && JSON.stringify(plain(value))
  // The response to a token request may repeat the credentials in any form.
  const isSecret = endpoint.auth === 'credentials'
  const verdict = verdictOn({ ...endpoint, status, body })
  // Somebody else's response to a login says nothing about the credentials, so a later login may succeed.
  const isForeignLogin = isSecret && verdict === 'somebody-else'
  const details = {
    ...log.details(isTransient(endpoint, failure) || isForeignLogin),
    status,
    verdict,
    headers: redactor.headers(headers),
    // Errors are often logged, so a very large body is omitted.
    body: isSecret || text.length > MAX_BODY ? undefined : redactor.value(body),
  }
  // A body that is not JSON may be a long HTML page, so the message contains only its type, length and title.
  const isOther = body === undefined && text !== ''
  const title = quoted(/<title[^<>]*>([^<]*)/i.exec(isOther && !isSecret ? text : '')?.[1]?.trim())
  const form = isOther ? [headers['content-type']?.split(';')[0], `${text.length} characters`, title] : []
  const http = [`HTTP ${status}`, ...form].filter(Boolean).join(', ')
  const wait = waitText(tooLong)
  if ('reason' in failure) {
    const doubt = failure.kind === 'cut' ? wait : checkBaseUrl(log)
    const what = `the response of ${placeOf(log)} (${http}) ${failure.reason}${doubt}`
    return new UnexpectedResponseError(messageOf(log, details, what), { ...details, retryAfterMs: tooLong })
  }
  const found = errorIn(body)
  const code = quoted(found.errorCode)
  const said = isSecret ? undefined : quoted(found.message)
  const words = `${http}${code ? `, code ${code}` : ''}${said ? `: ${said}` : ''}`
  const inUse = isKeyInUse(endpoint, status) && 'a call with this key still runs, or a state forbids it'
  const meaning = inUse || meaningOf(verdict, endpoint.auth)
  // An API that does not know an operation without an identifier has no such path.
  const isMisplaced =
    (verdict === 'somebody-else' && (status === 404 || status === 405)) ||
    (status === 404 && !endpoint.path.includes(':'))
  const from = status === 404 || isSecret ? ` from ${placeOf(log)}` : ''
  const where = `${from}${isMisplaced ? checkBaseUrl(log) : ''}`
  const what = `${meaning ? `${meaning} (${words})` : words}${where}${wait}`
  const message = messageOf(log, details, what, tooLong === undefined ? hint : undefined)
  const all = {
    ...details,
    errorCode: plain(found.errorCode),
    serverRequestId: plain(serverRequestIdOf(headers)),
    rateLimit: readRateLimit(headers),
    retryAfterMs: hint ?? tooLong,
  }
  if (status === 401) return new AuthenticationError(message, all)
  if (status === 429) return new RateLimitError(message, all)
  return verdict === 'locked' ? new LockedOutError(message, all) : new ApiError(message, all)
}

const NO_SUCH_HOST = /^(?:ENOTFOUND|EAI_AGAIN)$/
const MOCK_HOST = /\.mandatekit\.test$/
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/

/** Creates the error for a failed connection. Omits the runtime's error text, which may quote secrets. */
const connectionError = (
  log: CallLog,
  { reason, notSent, certificate }: Extract<Failure, { kind: 'connection' }>,
  tooLong: number | undefined,
): ConnectionError => {
  const cause = reason && Object.assign(new Error(reason), { code: reason })
  const details = { ...log.details(!certificate), cause, reason, retryAfterMs: tooLong }
  const when = log.phase === 'response' ? 'while the response was read' : 'before a response arrived'
  let what = notSent ? 'no connection' : `the connection closed ${when}`
  if (certificate) what = "the server's certificate was not accepted"
  what += ` (${reason ?? 'unknown reason'}), ${placeOf(log)}`
  if (certificate) what += ". Check baseUrl, the system's date and NODE_EXTRA_CA_CERTS"
  if (NO_TLS.test(reason ?? '')) what += '. Try http instead of https'
  what += waitText(tooLong)
  if (details.outcome === 'not-sent' && NO_SUCH_HOST.test(reason ?? ''))
    what += MOCK_HOST.test(new URL(log.request.url).hostname)
      ? '. This address belongs to a mock: pass fetch: mock.fetch, or set up MSW'
      : checkBaseUrl(log)
  return new ConnectionError(messageOf(log, details, what), details)
}

const WHILE: Partial<Record<Phase, string>> = {
  login: ' while waiting for a token',
  limit: ' while delayed by the rate limit',
  wait: ' while waiting for a retry',
}

/** Creates the error for a call that was aborted by the caller or ended by a time limit. */
export const interruptionError = (log: CallLog, by: Interruption): AbortedError | TimeoutError => {
  const details = log.details(true)
  const when = WHILE[log.phase] ?? (log.attempts === 0 ? ' before it was sent' : '')
  if (by.kind === 'aborted')
    return new AbortedError(messageOf(log, details, `the given signal aborted the call${when}`), details)
  const limit = inWords(by.milliseconds)
  const what = {
    total: `the call took longer than ${limit} (totalTimeout)${when}`,
    attempt: `no complete response within ${limit} (timeout)`,
    fetch: `fetch itself ended the attempt after ${limit}. For longer waits, pass a fetch with higher limits`,
  }[by.limit]
  const message = messageOf(log, details, `${what}, ${placeOf(log)}`)
  return new TimeoutError(message, { ...details, timeoutMs: by.milliseconds })
}

/** Creates the error for a call whose remaining time is shorter than the rate-limit delay. */
export const delayedError = (log: CallLog, delay: number): RateLimitError => {
  const retryAfterMs = exportedWait(delay)
  const details = { ...log.details(true), retryAfterMs }
  const what = `the rate limit allows no request for ${inWords(retryAfterMs ?? delay)}, too long for this call`
  return new RateLimitError(messageOf(log, details, what), details)
}

/** Creates the error for a call whose last attempt failed. */
export const attemptError = (log: CallLog, failure: Failure, given: FailureContext): MandateKitError => {
  const context = { ...given, hint: exportedWait(given.hint), tooLong: exportedWait(given.tooLong) }
  if (failure.kind === 'connection') return connectionError(log, failure, context.tooLong)
  if (failure.kind === 'timeout' || failure.kind === 'aborted') return interruptionError(log, failure)
  return responseError(log, failure, given.response as ReceivedResponse, context)
}

/** Creates the error for a success that belongs to another charge. `what` names the fields that differ. */
export const keyReusedError = (log: CallLog, what: string, body: unknown): KeyReusedError => {
  log.phase = 'response'
  log.failedAttempt('unknown')
  const own = { afterUnknown: 'read-charge', body: log.redactor().value(body) } as const
  const details = { ...log.details(false), ...own }
  const advice =
    'Call status(id) with the id in body to read that charge. To make this charge, pass another key.'
  return new KeyReusedError(`${details.operation} failed: ${what}. ${advice}`, details)
}

/** Creates the error for a call whose login failed. Copies the class and the response data of the login's error. */
export const loginError = (log: CallLog, error: MandateKitError): MandateKitError => {
  log.phase = 'login'
  const details: ErrorDetails = { ...log.details(error.retryable), cause: error.cause }
  if (error instanceof InvalidRequestError)
    return new InvalidRequestError(details.operation, error.issues, details)
  const lack = log.attempts === 0 ? 'not sent, because there is no token' : 'there is no token for a retry'
  const cause = error.message.replace(`${error.operation} failed: `, '')
  // All error classes except `InvalidRequestError` have the constructor parameters `message` and `details`.
  return Reflect.construct(error.constructor, [
    `${details.operation} failed: ${lack}: ${cause}`,
    { ...error, ...details },
  ]) as MandateKitError
}
