import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { ApiErrorFacts, ErrorFacts, RateLimit } from '../errors.ts'
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
import type { CallRecord } from './call-record.ts'
import type { Interruption } from './call-timeout.ts'

const LONGEST_EXCERPT = 2000
/** An answer longer than this is kept as an excerpt of its text, also when it is JSON: errors go to logs. */
const LONGEST_BODY = 100_000
const LONGEST_QUOTE = 200

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text

const seconds = (milliseconds: number): string => `${Math.ceil(milliseconds / 100) / 10} s`

/** What the caller should know and do next. */
const advice = (endpoint: EndpointDefinition, { outcome }: ErrorFacts): string => {
  if (outcome === 'not-sent') return 'Nothing was sent: calling again is safe.'
  if (outcome === 'rejected') return 'The server did not act.'
  return endpoint.repeatable === 'always' && !endpoint.idempotencyKey
    ? endpoint.afterUnknown
    : `The server may have acted. ${endpoint.afterUnknown}`
}

const messageOf = (record: CallRecord, facts: ErrorFacts, what: string): string =>
  `${facts.operation}: ${what}. ${advice(record.identity.endpoint, facts)}`

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

const waitWords = (tooLong: number | undefined): string =>
  tooLong === undefined ? '' : `, and the wait of ${seconds(tooLong)} before a repeat is longer than allowed`

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
  const what =
    `HTTP ${status}${errorCode === undefined ? '' : `, code ${JSON.stringify(errorCode)}`}` +
    `${said === undefined ? '' : ` (${JSON.stringify(said)})`}${waitWords(tooLong)}`
  const message = messageOf(record, facts, what)
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
  const facts = { ...record.errorFacts(reading.cut === true), status: answer.status, headers, body }
  const what = `the answer (HTTP ${answer.status}) ${reading.reason}${waitWords(tooLong)}`
  const message = messageOf(record, facts, what)
  return new UnexpectedResponseError(message, facts)
}

/** The error of a connection that failed. Of the platform's error its code alone is kept: its text may quote secrets. */
export const connectionError = (
  record: CallRecord,
  reason: string | undefined,
  tooLong: number | undefined,
): ConnectionError => {
  const cause = reason === undefined ? undefined : Object.assign(new Error(reason), { code: reason })
  const facts = { ...record.errorFacts(true), cause, reason }
  const where =
    record.phase === 'response'
      ? 'the connection broke while the answer was read'
      : 'no connection, or it broke'
  const what = `${where}${reason === undefined ? '' : ` (${reason})`}${waitWords(tooLong)}`
  return new ConnectionError(messageOf(record, facts, what), facts)
}

/** The error of a call that the caller or a time limit ended. */
export const interruptionError = (record: CallRecord, by: Interruption): AbortedError | TimeoutError => {
  const facts = record.errorFacts(true)
  if (by.kind === 'aborted') {
    return new AbortedError(messageOf(record, facts, 'ended by the given signal'), facts)
  }
  const limit = by.limit === 'total' ? 'the whole call took' : 'no complete answer came'
  const what = `${limit}${by.limit === 'total' ? ' longer than' : ' within'} ${seconds(by.milliseconds)}`
  return new TimeoutError(messageOf(record, facts, what), { ...facts, timeoutMs: by.milliseconds })
}

/** The error of a call that would have been held back longer than it may take. */
export const heldBackError = (record: CallRecord, hold: number): RateLimitError => {
  const facts = { ...record.errorFacts(true), retryAfterMs: hold }
  const what = `held back by the rate limit for ${seconds(hold)}, longer than the call may take`
  return new RateLimitError(messageOf(record, facts, what), facts)
}
