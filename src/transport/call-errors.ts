import type { AuthKind, EndpointDefinition } from '../contract/endpoint.ts'
import type { ApiErrorFacts, ErrorFacts, Phase, RateLimit } from '../errors.ts'
import {
  AbortedError,
  ApiError,
  AuthenticationError,
  ConnectionError,
  LockedOutError,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts'
import type { Reading } from './answer.ts'
import { requestIdOf } from './answer-headers.ts'
import type { ReceivedAnswer } from './attempt.ts'
import type { CallIdentity, CallRecord } from './call-record.ts'
import type { Interruption } from './call-timeout.ts'
import type { NetworkFailure } from './network-failure.ts'
import { placeOf } from './place.ts'
import { duration } from './words.ts'

const LONGEST_EXCERPT = 2000
/** An answer longer than this is kept as an excerpt of its text, also when it is JSON: errors go to logs. */
const LONGEST_BODY = 100_000
const LONGEST_QUOTE = 200

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text

/** What the caller should know and do next. `wait`: how long the server asked to stay away, in milliseconds. */
const advice = (endpoint: EndpointDefinition, { outcome, retryable }: ErrorFacts, wait?: number): string => {
  if (outcome === 'not-sent') return retryable ? 'Calling again is safe.' : 'Nothing was sent.'
  // A read changes nothing: nobody asks whether it was executed.
  const acts = endpoint.repeatable === 'when-not-executed' || endpoint.idempotencyKey
  if (outcome === 'unknown') {
    if (acts) return `The server may have acted. ${endpoint.afterUnknown}`
    return retryable ? endpoint.afterUnknown : ''
  }
  if (!retryable) return endpoint.afterRejected ?? (acts ? 'The server did not act.' : '')
  const when = wait === undefined ? 'later' : `in ${duration(wait)}`
  return acts ? `The server did not act: call again ${when}.` : `Call again ${when}.`
}

const messageOf = (record: CallRecord, facts: ErrorFacts, what: string, wait?: number): string =>
  `${facts.operation}: ${what}${what.endsWith('?') ? '' : '.'} ${advice(record.identity.endpoint, facts, wait)}`.trimEnd()

/** What an error keeps of an answer: redacted first, then cut, so that no piece of a secret survives. */
const keepAnswer = (record: CallRecord, answer: ReceivedAnswer, body: unknown) => {
  const redactor = record.redactor()
  // An answer to a token request may repeat the credentials in any form.
  const secret = record.identity.endpoint.auth === 'credentials'
  const plainBody = secret || body === undefined ? undefined : redactor.value(body)
  const isLong = typeof plainBody === 'object' && (answer.text?.length ?? 0) > LONGEST_BODY
  const kept = isLong ? JSON.stringify(plainBody) : plainBody
  return {
    headers: redactor.headers(answer.headers),
    body: typeof kept === 'string' ? cut(kept, LONGEST_EXCERPT) : kept,
    plain: (text: string | undefined): string | undefined =>
      text === undefined ? undefined : cut(redactor.text(text), LONGEST_QUOTE),
    quote: (text: string | undefined): string | undefined =>
      secret || text === undefined ? undefined : cut(redactor.text(text), LONGEST_QUOTE),
  }
}

type Refusal = Extract<Reading, { kind: 'refused' | 'code' }>

/** What else is known when a refusal ends a call. */
export interface RefusalContext {
  readonly rateLimit: RateLimit | undefined
  /** What the server asked for, in milliseconds. */
  readonly hint: number | undefined
  /** A wait that was longer than the call may take. */
  readonly tooLong: number | undefined
  readonly transient: boolean
}

const WRONG_BASE = '; is the base URL right?'

const waitWords = (tooLong: number | undefined): string =>
  tooLong === undefined ? '' : `, and the wait of ${duration(tooLong)} before a repeat is longer than allowed`

const NOT_ACCEPTED = {
  credentials: 'the credentials were not accepted',
  token: 'the token was not accepted, although the login was',
  'api-key': 'the API key was not accepted',
  none: undefined,
} as const satisfies Record<AuthKind, string | undefined>

/** What a refusal means, where that is more than its status says. */
const meaningOf = ({ auth }: EndpointDefinition, status: number): string | undefined => {
  if (status === 401) return NOT_ACCEPTED[auth]
  return status === 403 && auth === 'credentials'
    ? 'the account is locked, and valid credentials are refused as well until the server unlocks it'
    : undefined
}

/** What makes a "no such place" look like a wrong base URL: nothing in the path could be missing but the path. */
const doubtOf = ({ endpoint, ending }: CallIdentity, status: number, code: string): string => {
  if (status !== 404 && (status !== 405 || endpoint.auth !== 'credentials')) return ''
  if (ending) return `; the base URL already ends in ${ending}, which the client adds`
  return code === '' || !endpoint.path.includes(':') ? WRONG_BASE : ''
}

/** A refusal in words: what it means, or, where the address may be wrong, who answered it. */
const refusalWords = ({ identity }: CallRecord, status: number, code = '', said = ''): string => {
  const http = `HTTP ${status}${code === '' ? '' : `, code ${JSON.stringify(code)}`}`
  const quote = said === '' ? '' : JSON.stringify(said)
  const meaning = meaningOf(identity.endpoint, status)
  if (meaning !== undefined) return `${meaning} (${http}${quote === '' ? '' : `: ${quote}`})`
  const isPlaced = status === 404 || identity.endpoint.auth === 'credentials'
  const from = isPlaced ? `${placeOf(identity)} answered ` : ''
  return `${from}${http}${quote === '' ? '' : ` (${quote})`}${doubtOf(identity, status, code)}`
}

/** The error of an answer that refuses the call. */
export const refusalError = (
  record: CallRecord,
  answer: ReceivedAnswer,
  refusal: Refusal,
  { rateLimit, hint, tooLong, transient }: RefusalContext,
): ApiError => {
  const { status } = answer
  const { headers, body, quote, plain } = keepAnswer(record, answer, refusal.body)
  const requestId = plain(requestIdOf(answer.headers))
  const errorCode = plain(refusal.errorCode)
  const facts: ApiErrorFacts = {
    ...record.errorFacts(transient),
    status,
    errorCode,
    requestId,
    headers,
    body,
    rateLimit,
    retryAfterMs: hint ?? tooLong,
  }
  const said = quote(refusal.message)
  const what = `${refusalWords(record, status, errorCode, said)}${waitWords(tooLong)}`
  const message = messageOf(record, facts, what, tooLong === undefined ? hint : undefined)
  if (status === 401) return new AuthenticationError(message, facts)
  if (status === 429) return new RateLimitError(message, facts)
  if (status === 403 && record.identity.endpoint.auth === 'credentials')
    return new LockedOutError(message, facts)
  return new ApiError(message, facts)
}

/** The error of a redirect, or of a 2xx answer that is not the contract. */
export const unexpectedError = (
  record: CallRecord,
  answer: ReceivedAnswer,
  reading: Extract<Reading, { kind: 'unexpected' }>,
  tooLong: number | undefined,
): UnexpectedResponseError => {
  const { headers, body } = keepAnswer(record, answer, reading.body)
  const facts = {
    ...record.errorFacts(reading.cut === true),
    status: answer.status,
    headers,
    body,
    retryAfterMs: tooLong,
  }
  const place = placeOf(record.identity)
  const doubt = reading.cut ? waitWords(tooLong) : WRONG_BASE
  const message = messageOf(
    record,
    facts,
    `the answer of ${place} (HTTP ${answer.status}) ${reading.reason}${doubt}`,
  )
  return new UnexpectedResponseError(message, facts)
}

const NO_SUCH_HOST = /^(?:ENOTFOUND|EAI_AGAIN)$/
const MOCK_HOST = /\.mandatekit\.test$/
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/

const failureWords = (phase: Phase, { surelyNotSent, certificate, reason }: NetworkFailure): string => {
  if (reason === undefined) return 'failed, and the platform does not say why'
  if (certificate)
    return `got no connection: the server's certificate is not accepted (${reason}); check the base URL and the machine's date, or trust its issuer (Node: NODE_EXTRA_CA_CERTS)`
  if (surelyNotSent) return `got no connection (${reason})`
  const when = phase === 'response' ? ' while the answer was read' : ''
  return `failed${when} (${reason})${NO_TLS.test(reason) ? '; is it http, not https?' : ''}`
}

/** The error of a connection that failed. Of the platform's error its code alone is kept: its text may quote secrets. */
export const connectionError = (
  record: CallRecord,
  failure: NetworkFailure,
  tooLong: number | undefined,
): ConnectionError => {
  const { reason } = failure
  const { identity } = record
  const cause = reason === undefined ? undefined : Object.assign(new Error(reason), { code: reason })
  const facts = { ...record.errorFacts(!failure.certificate), cause, reason, retryAfterMs: tooLong }
  const words = `${placeOf(identity)} ${failureWords(record.phase, failure)}`
  const isNowhere = facts.outcome === 'not-sent' && NO_SUCH_HOST.test(reason ?? '')
  const isMock = isNowhere && MOCK_HOST.test(new URL(identity.url).hostname)
  const message = isMock
    ? `${facts.operation}: ${words}. This is the address of a mock: give the client fetch: mock.fetch, or set MSW up.`
    : messageOf(record, facts, `${words}${waitWords(tooLong)}${isNowhere ? WRONG_BASE : ''}`)
  return new ConnectionError(message, facts)
}

const WAITING: Partial<Record<Phase, string>> = {
  login: ' while waiting for a token',
  limit: ' while held back by the rate limit',
  wait: ' while waiting for a repeat',
}

/** The error of a call that the caller or a time limit ended. */
export const interruptionError = (record: CallRecord, by: Interruption): AbortedError | TimeoutError => {
  const facts = record.errorFacts(true)
  const waiting = WAITING[record.phase] ?? ''
  if (by.kind === 'aborted') {
    const when = waiting === '' && record.attempts === 0 ? ' before it was sent' : waiting
    return new AbortedError(messageOf(record, facts, `ended by the given signal${when}`), facts)
  }
  const limit = duration(by.milliseconds)
  const what =
    by.limit === 'total'
      ? `took longer than ${limit} (totalTimeout)${waiting}`
      : `got no complete answer within ${limit} (timeout)`
  const message = messageOf(record, facts, `${placeOf(record.identity)} ${what}`)
  return new TimeoutError(message, { ...facts, timeoutMs: by.milliseconds })
}

/** The error of a call that would have been held back longer than it may take. */
export const heldBackError = (record: CallRecord, hold: number): RateLimitError => {
  const facts = { ...record.errorFacts(true), retryAfterMs: hold }
  const what = `the rate limit lets no call in for ${duration(hold)}, longer than this one may take`
  return new RateLimitError(messageOf(record, facts, what), facts)
}
