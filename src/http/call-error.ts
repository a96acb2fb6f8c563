import { exportedWait, formatDuration } from '../clock.ts'
import type { AuthKind } from '../contract/endpoint.ts'
import { asText, isObject } from '../contract/fields.ts'
import { type Verdict, verdictOn } from '../contract/verdict.ts'
import * as errors from '../errors.ts'
import type { Interruption } from './deadline.ts'
import type { Call } from './prepare.ts'
import { type BadResponse, errorIn } from './read-response.ts'
import { createRedactor } from './redact.ts'
import type { ConnectionFailure } from './retry.ts'
import { combineOutcomes, isKeyInUse, isTransient } from './retry.ts'
import type { LostAttempt } from './send.ts'

const LONG = /^(.{200}).+/s
const MAX_BODY = 100_000

export const redactorOf = ({ headers, sent, fields, url }: Call) => {
  // A name may repeat in a query, so each pair is an object of its own.
  const pairs = [...new URL(url).searchParams].map(([name, value]) => ({ [name]: value }))
  return createRedactor(headers, sent, [fields, pairs])
}

const detailsOf = (call: Call, isTemporary: boolean): errors.ErrorDetails => {
  const { client, endpoint, fields, idempotencyKey, outcome, sent, totalTimeout } = call
  const { operation, auth, acts = false, afterUnknown, referenceField = '' } = endpoint
  const { keyLifetime } = client
  const isOwnKey = idempotencyKey !== undefined && !call.isKeyGenerated && totalTimeout <= call.keyLeft()
  return {
    operation,
    phase: auth === 'credentials' ? 'login' : call.phase,
    outcome,
    attempts: sent.length,
    requestID: asText(isObject(fields) ? fields[referenceField] : undefined),
    idempotencyKey,
    // JSON has no Infinity. With `keyLifetime` as its time limit, a call is also never safe to retry.
    ...(idempotencyKey && keyLifetime && { keyLifetime, totalTimeout: Math.min(totalTimeout, keyLifetime) }),
    retryable: isTemporary && (outcome !== 'unknown' || !acts || isOwnKey),
    acts,
    afterUnknown: afterUnknown?.how,
  }
}

const adviceOf = (
  { endpoint, totalTimeout, keyLeft }: Call,
  details: errors.ErrorDetails,
  isTemporary: boolean,
  waitMs: number | undefined,
): string => {
  const { outcome, retryable, idempotencyKey } = details
  const again = retryable ? 'Calling again is safe.' : ''
  if (outcome === 'not-sent') return `Nothing was sent. ${again}`
  if (outcome === 'unknown') {
    if (!endpoint.acts) return again
    if (idempotencyKey && (!isTemporary || totalTimeout > keyLeft()))
      return 'The server may have acted. Find out first: a retry would fail, or act twice.'
    const next = endpoint.idempotencyKey ? `Call again with idempotencyKey "${idempotencyKey}": ` : ''
    return `The server may have acted. ${next}${endpoint.afterUnknown?.advice}`
  }
  const rejected = endpoint.acts ? 'The server did not act.' : ''
  if (!retryable) return endpoint.afterRejected ?? rejected
  return `${rejected} Call again ${waitMs === undefined ? 'later' : `in ${formatDuration(waitMs)}`}.`.trim()
}

const explain = <Own extends object>(
  call: Call,
  what: string,
  isTemporary: boolean,
  own: Own,
  waitMs?: number,
): [message: string, details: errors.ErrorDetails & Own] => {
  const details = { ...detailsOf(call, isTemporary), ...own }
  const message = `${details.operation} failed: ${what}. ${adviceOf(call, details, isTemporary, waitMs)}`
  return [message.trimEnd(), details]
}

/** Describes the request. Omits identifiers, the query and the path of `baseUrl`, because they may be secret. */
const placeOf = ({ method, url, endpoint: { path } }: Call): string => {
  const { origin, pathname } = new URL(url)
  const base = pathname.split('/').length > path.split('/').length ? '/…' : ''
  return `${method} ${origin}${base}${path}`
}

const checkBaseUrl = ({ endpoint }: Call): string => `. Check baseUrl: the client adds ${endpoint.path} to it`

const waitText = (refusedWaitMs: number | undefined): string =>
  refusedWaitMs === undefined ? '' : `; the client does not wait ${formatDuration(refusedWaitMs)}`

const meaningOf = (verdict: Verdict, auth: AuthKind): string | undefined => {
  if (verdict === 'locked') return 'the account is locked, even for valid credentials'
  if (verdict !== 'rejected-credentials') return undefined
  return `the server rejected the ${auth === 'api-key' ? 'API key' : auth}`
}

/** Creates the error for a bad response. Removes secrets before it shortens texts: it finds only complete secrets. */
const responseError = (
  call: Call,
  { failure, response, body }: BadResponse,
  refusedWaitMs: number | undefined,
): errors.MandateKitError => {
  const { endpoint } = call
  const { status, headers, rateLimit, text = '' } = response
  const redactor = redactorOf(call)
  const plain = (value: string | undefined): string | undefined =>
    value && redactor.text(value).replace(LONG, '$1…')
  const quoted = (value: string | undefined): string | undefined => value && JSON.stringify(plain(value))
  // The response to a token request may repeat the credentials in any form, so the error contains none of its text.
  const isLogin = endpoint.auth === 'credentials'
  // Only the API itself can return the created object, so no proxy sent this response.
  const isOwn = failure.kind === 'status' && failure.created
  const verdict = isOwn ? 'refused' : verdictOn({ ...endpoint, status, body })
  const isForeign = verdict === 'somebody-else'
  // A retry with the same key returns the original result. But if the API itself refused the call, a retry fails too.
  const isOpen = status < 400 || status > 499 || (isForeign && status !== 401)
  const isRepeatable = endpoint.idempotencyKey === true && call.outcome === 'unknown' && isOpen
  // A proxy's response to a login does not reject the credentials, so a later login may succeed.
  const isNoJson = body === undefined && text !== ''
  // A page in place of the data says nothing about the record, so a later read may succeed.
  const isPage = /^\s*</.test(text) && status < 300 && !endpoint.acts
  const isTemporary = isTransient(endpoint, failure) || isRepeatable || (isLogin && isForeign) || isPage
  const own = {
    status,
    verdict,
    headers: redactor.headers(headers),
    // Errors are often logged, so a very large body is omitted.
    body: isLogin || text.length > MAX_BODY ? undefined : redactor.value(body),
  }
  // A body that is not JSON may be a long HTML page, so the message contains only its type, length and title.
  const title = quoted(/<title[^<>]*>([^<]*)/i.exec(isNoJson && !isLogin ? text : '')?.[1]?.trim())
  const form = isNoJson ? [headers['content-type']?.split(';')[0], `${text.length} characters`, title] : []
  const http = [`HTTP ${status}`, ...form].filter(Boolean).join(', ')
  const wait = waitText(refusedWaitMs)
  if ('reason' in failure) {
    const doubt = failure.kind === 'unexpected' ? checkBaseUrl(call) : wait
    const what = `the response to ${placeOf(call)} (${http}) ${failure.reason}${doubt}`
    const all = { ...own, retryAfterMs: refusedWaitMs }
    return new errors.UnexpectedResponseError(...explain(call, what, isTemporary, all))
  }
  const found = errorIn(body)
  const code = quoted(found.errorCode)
  const said = isLogin ? undefined : quoted(found.message)
  // The sentence continues after the server's text, so this removes a period at the end of the text.
  const words = `${http}${code ? `, code ${code}` : ''}${said ? `: ${said.replace(/\."$/, '"')}` : ''}`
  const inUse =
    isKeyInUse(endpoint, status) && 'a call with this key still runs, or the charge is not allowed'
  const meaning = inUse || meaningOf(verdict, endpoint.auth)
  // A path without an identifier names no record, so a 404 means that the path itself does not exist.
  const parts = endpoint.path.split('/')
  const { baseUrl } = call.client.settings
  const isDoubled = parts.some((part, end) => part && baseUrl.endsWith(parts.slice(0, end + 1).join('/')))
  const isMisplaced =
    (isForeign && (status === 404 || status === 405)) ||
    (status === 404 && (isDoubled || !endpoint.path.includes(':')))
  const from = status === 404 || isLogin ? ` from ${placeOf(call)}` : ''
  const where = `${from}${isMisplaced ? checkBaseUrl(call) : ''}`
  const what = `${meaning ? `${meaning} (${words})` : words}${where}${wait}`
  const waitMs = exportedWait(response.waitMs)
  const all = {
    ...own,
    errorCode: plain(found.errorCode),
    serverRequestId: plain(response.serverRequestId),
    rateLimit,
    retryAfterMs: waitMs ?? refusedWaitMs,
  }
  const described = explain(call, what, isTemporary, all, refusedWaitMs === undefined ? waitMs : undefined)
  if (status === 401) return new errors.AuthenticationError(...described)
  if (status === 429) return new errors.RateLimitError(...described)
  return verdict === 'locked' ? new errors.LockedOutError(...described) : new errors.ApiError(...described)
}

const NO_SUCH_HOST = /^(?:ENOTFOUND|EAI_AGAIN)$/
const MOCK_HOST = /\.mandatekit\.test$/
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/

/** Creates the error for a failed connection. Omits the runtime's error text, which may quote secrets. */
const connectionError = (
  call: Call,
  { reason, notSent, certificate }: ConnectionFailure,
  refusedWaitMs: number | undefined,
): errors.ConnectionError => {
  const cause = reason && Object.assign(new Error(reason), { code: reason })
  const when = call.phase === 'response' ? 'while the response was read' : 'before a response arrived'
  let what = notSent ? 'no connection' : `the connection closed ${when}`
  if (certificate) what = "the server's certificate was rejected"
  what += ` (${reason ?? 'unknown'}), ${placeOf(call)}`
  if (certificate) what += ". Check baseUrl, the system's date and NODE_EXTRA_CA_CERTS"
  if (NO_TLS.test(reason ?? '')) what += '. Try http instead of https'
  what += waitText(refusedWaitMs)
  if (call.outcome === 'not-sent' && NO_SUCH_HOST.test(reason ?? ''))
    what += MOCK_HOST.test(new URL(call.url).hostname)
      ? '. This is a mock: pass fetch: mock.fetch, or set up MSW'
      : checkBaseUrl(call)
  const own = { cause, reason, retryAfterMs: refusedWaitMs }
  return new errors.ConnectionError(...explain(call, what, !certificate, own))
}

const WHILE: Partial<Record<errors.Phase, string>> = {
  login: ' while waiting for a token',
  limit: ' while delayed by the rate limit',
  wait: ' while waiting for a retry',
}

export const interruptionError = (call: Call, by: Interruption) => {
  const when = WHILE[call.phase] ?? (call.sent.length === 0 ? ' before it was sent' : '')
  if (by.kind === 'aborted')
    return new errors.AbortedError(...explain(call, `the given signal aborted the call${when}`, true, {}))
  const limit = formatDuration(by.milliseconds)
  const what = {
    total: `the call took longer than ${limit} (totalTimeout)${when}`,
    attempt: `no complete response within ${limit} (timeout)`,
    fetch: `fetch itself ended the attempt after ${limit}; pass a fetch with higher limits`,
  }[by.limit]
  const own = { timeoutMs: by.milliseconds }
  return new errors.TimeoutError(...explain(call, `${what}, ${placeOf(call)}`, true, own))
}

export const delayedError = (call: Call, delay: number) => {
  const retryAfterMs = exportedWait(delay)
  const what = `the rate limit is used up${waitText(retryAfterMs)}`
  return new errors.RateLimitError(...explain(call, what, true, { retryAfterMs }))
}

/** Creates the error for a call whose last attempt failed. If given, `waitMs` exceeds a limit and prevents a retry. */
export const attemptError = (
  call: Call,
  attempt: LostAttempt | BadResponse,
  waitMs?: number,
): errors.MandateKitError => {
  const refusedWaitMs = exportedWait(waitMs)
  if (attempt.kind === 'bad-response') return responseError(call, attempt, refusedWaitMs)
  const { failure } = attempt
  if (failure.kind === 'connection') return connectionError(call, failure, refusedWaitMs)
  return interruptionError(call, failure)
}

/** Creates the error for a successful response that belongs to another charge. `what` describes the difference. */
export const keyReusedError = (call: Call, what: string, body: unknown): errors.KeyReusedError => {
  call.phase = 'response'
  call.outcome = combineOutcomes(call.outcome, 'unknown')
  const own = { afterUnknown: 'read-charge', body: redactorOf(call).value(body) } as const
  const details = { ...detailsOf(call, false), ...own }
  const advice =
    'Call status(id) with the id in body to read that charge, or pass another key to make this one.'
  return new errors.KeyReusedError(`${details.operation} failed: ${what}. ${advice}`, details)
}

/** Creates the error for a call whose login failed. Copies the class and the response data of the login's error. */
export const loginError = (call: Call, error: errors.MandateKitError): errors.MandateKitError => {
  call.phase = 'login'
  const details: errors.ErrorDetails = { ...detailsOf(call, error.retryable), cause: error.cause }
  const { operation } = details
  if (error instanceof errors.InvalidRequestError)
    return new errors.InvalidRequestError(operation, error.issues, details)
  const lack = `${call.sent.length === 0 ? 'not sent' : 'not retried'}, because there is no token`
  const message = `${operation} failed: ${lack}: ${error.message.replace(`${error.operation} failed: `, '')}`
  // All error classes except `InvalidRequestError` have the constructor parameters `message` and `details`.
  return Reflect.construct(error.constructor, [message, { ...error, ...details }])
}
