import type { CallAuthorization } from '../auth/authorizer.ts'
import type { EndpointDefinition, ResponseOf } from '../contract/endpoint.ts'
import { isMandateKitError, knownError, type RateLimit } from '../errors.ts'
import { attemptError, delayedError, interruptionError, loginError, redactorOf } from './call-error.ts'
import { Interrupted } from './deadline.ts'
import { notify } from './observe.ts'
import { type ClientChanges, changeSettings } from './options.ts'
import { type Call, type CallInput, type ClientContext, prepare, rawCall } from './prepare.ts'
import { createRateLimitGate } from './rate-limit.ts'
import { type BadResponse, readResponse, type Success } from './read-response.ts'
import { callOutcome, combineOutcomes, decideRetry } from './retry.ts'
import { createHttp, type LostAttempt, type ReceivedResponse, sendOnce } from './send.ts'

/** The HTTP response from which a call's data was read. */
export interface CallResponse {
  /** HTTP status of the last attempt's response. */
  readonly status: number
  /** Response headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The server's identifier for the request, if the server sent one. */
  readonly serverRequestId: string | undefined
  /** The parsed body, before the client converts its fields. */
  readonly body: unknown
  /** The values of the `X-RateLimit-…` headers; `undefined` if the response has no such header. (Limits, area S) */
  readonly rateLimit: RateLimit | undefined
  /** Number of attempts that the call made. */
  readonly attempts: number
  /** The idempotency key that the client sent with a charge, a renewal or a call of `request`. */
  readonly idempotencyKey: string | undefined
}

/** A call's data, and the response from which the data was read. */
export interface WithResponse<Data, Response = CallResponse> {
  /** The call's data: the same value that `await` gives. */
  readonly data: Data
  /** Status, headers, body and rate limit of the response, and the number of attempts. */
  readonly response: Response
}

/** The result of a method that makes one call: a promise of the data. */
export interface CallPromise<Data, Response = CallResponse> extends Promise<Data> {
  /** Returns the data and the response. Sends no second request. */
  withResponse(): Promise<WithResponse<Data, Response>>
}

export const callPromise = <Data, Response>(
  call: Promise<WithResponse<Data, Response>>,
): CallPromise<Data, Response> => {
  const data = call.then((result) => result.data)
  return Object.assign(data, {
    withResponse: () => {
      // The user awaits `call` instead of `data`, so a rejection of `data` must not be reported as unhandled.
      data.catch(() => undefined)
      return call
    },
  })
}

/**
 * Runs `work`, which gets a token, API key or client id. If `work` fails, the call fails with an error of the same
 * class.
 */
export const withCredentials = async <Value>(call: Call, work: (signal: AbortSignal) => Promise<Value>) => {
  const { phase } = call
  call.phase = 'login'
  try {
    const value = await call.deadline.race(work)
    call.phase = phase
    return value
  } catch (error) {
    throw isMandateKitError(error) ? loginError(call, error) : error
  }
}

const attempt = async (
  call: Call,
  authorization: CallAuthorization | undefined,
  last: BadResponse | LostAttempt | undefined,
): Promise<Success | BadResponse | LostAttempt> => {
  const { client, endpoint, deadline, timeout } = call
  const { settings, gate } = client
  deadline.check()
  // Health checks and logins are not delayed. A login has no token yet, so the server may count it separately.
  const isCounted = endpoint.retry !== 'never' && endpoint.auth !== 'credentials'
  const isDelayed = isCounted && settings.rateLimit === 'wait'
  let slot = isDelayed ? gate.tryEnter(Math.min(timeout, deadline.remaining)) : undefined
  if (isDelayed && slot === undefined) {
    call.phase = 'limit'
    const entered = await deadline.race((signal) => gate.enter(signal, deadline.remaining, timeout))
    if (typeof entered === 'number') throw delayedError(call, entered)
    slot = entered
  }
  let response: ReceivedResponse | undefined
  try {
    const header =
      authorization &&
      (authorization.current() ?? (await withCredentials(call, (signal) => authorization.obtain(signal))))
    const event = { ...call.event, attempt: call.sent.length + 1 }
    notify(settings, 'onRequest', event)
    // The hook `onRequest` may have aborted the call.
    deadline.check()
    // While the call waited, its key may have expired.
    if (last !== undefined && call.keyLeft() <= 0) return last
    call.phase = 'request'
    call.sent.push(header)
    const sentAt = settings.clock.now()
    const sent = await sendOnce(call, { ...call.headers, ...(header && { authorization: header }) })
    if ('kind' in sent) return sent
    response = sent
    const { status, rateLimit } = sent
    const id = settings.hooks.onResponse && sent.serverRequestId
    const serverRequestId = id && redactorOf(call).text(id)
    const durationMs = settings.clock.now() - sentAt
    notify(settings, 'onResponse', { ...event, status, serverRequestId, rateLimit, durationMs })
    return readResponse(endpoint, sent, call.id, settings.onOtherRecord)
  } finally {
    if (isCounted) gate.leave(slot, response)
  }
}

export const responseOf = (facts: CallResponse): CallResponse => {
  const { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey } = facts
  return { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey }
}

const succeed = <Definition extends EndpointDefinition>(
  call: Call<Definition>,
  { response, data, body, reports }: Success,
): WithResponse<ResponseOf<Definition>> => {
  const { client, idempotencyKey } = call
  for (const report of reports) notify(client.settings, 'onUnexpected', report)
  client.checkSuccess?.(call, data, body)
  const facts = { ...response, body, attempts: call.sent.length, idempotencyKey }
  return { data: data as ResponseOf<Definition>, response: responseOf(facts) }
}

/** Makes the attempts of a call and waits between them. */
export const runWithRetries = async <Definition extends EndpointDefinition>(
  call: Call<Definition>,
): Promise<WithResponse<ResponseOf<Definition>>> => {
  const { client, endpoint, deadline } = call
  const { settings } = client
  const waits = settings.rateLimit === 'wait'
  const authorizer = client.authorizers[endpoint.auth]
  const authorization = authorizer?.(endpoint.operation, waits, () => deadline.remaining)
  let retries = 0
  let last: BadResponse | LostAttempt | undefined
  for (;;) {
    const made = await attempt(call, authorization, last)
    if (made.kind === 'success') return succeed(call, made)
    if (made === last) throw attemptError(call, made)
    last = made
    const { failure } = made
    const response = made.kind === 'bad-response' ? made.response : undefined
    call.phase = made.phase
    call.outcome = combineOutcomes(call.outcome, callOutcome(endpoint, failure))
    const { reason, waitMs: neededMs } = decideRetry(call, failure, retries, response?.waitMs)
    if (reason === undefined) throw attemptError(call, made, neededMs)
    const isToken = reason === 'token-rejected'
    const waitMs = isToken
      ? await withCredentials(call, async (signal) => authorization?.retry?.(signal))
      : neededMs
    if (waitMs === undefined) throw attemptError(call, made)
    if (!isToken) retries += 1
    const retry = { attempt: call.sent.length, reason, waitMs, status: response?.status }
    notify(settings, 'onRetry', { ...call.event, ...retry })
    call.phase = 'wait'
    if (isToken && waitMs === 0) continue
    await deadline
      .race(async (signal) => settings.clock.sleep(waitMs, signal))
      .catch((error: unknown) => {
        // The option `clock` may have a `sleep` that rejects. The error must still contain the call's outcome and key.
        throw error instanceof Interrupted ? error : attemptError(call, made)
      })
  }
}

/** Runs `work`, which makes the attempts of a call. If the call fails, reports its error to the hook `onError`. */
export const runCall = async <Value>(call: Call, work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (error) {
    const { settings, reported } = call.client
    const failure = error instanceof Interrupted ? interruptionError(call, error.by) : error
    const known = knownError(failure)
    if (!reported.has(known)) {
      reported.add(known)
      const { code, phase, retryable, outcome, status, errorCode } = known
      const facts = { code, phase, retryable, outcome, status, errorCode, attempts: call.sent.length }
      const durationMs = settings.clock.now() - call.startedAt
      notify(settings, 'onError', { ...call.event, ...facts, durationMs })
    }
    throw failure
  }
}

/** Makes a call. If the input is invalid, the promise rejects, so that callers handle all failures alike. */
export const makeCall = <Definition extends EndpointDefinition>(
  client: ClientContext,
  endpoint: Definition,
  input: CallInput | (() => CallInput),
): CallPromise<ResponseOf<Definition>> => {
  const run = async () => {
    const call = prepare(client, endpoint, typeof input === 'function' ? input() : input)
    return runCall(call, () => runWithRetries(call))
  }
  return callPromise(run())
}

export const makeRawCall = (client: ClientContext, ...request: Parameters<typeof rawCall>) => {
  const run = async () => makeCall(client, ...rawCall(...request)).withResponse()
  return callPromise(run())
}

/** The package's version. `npm run release:version` updates this line. */
const VERSION = '0.2.0'

/** Returns the header User-Agent, except in browsers, which send their own User-Agent. */
const agentHeader = (): Readonly<Record<string, string>> => {
  const { userAgent = '' } = globalThis.navigator ?? {}
  if (userAgent.startsWith('Mozilla')) return {}
  return { 'user-agent': `mandatekit/${VERSION}${userAgent && ` (${userAgent})`}` }
}

export const createContext = <Own extends Omit<ClientContext, 'http' | 'gate' | 'reported'>>(
  own: Own,
): Own & ClientContext => {
  const { settings } = own
  const headers = { ...agentHeader(), ...settings.headers }
  const gate = createRateLimitGate(settings.clock)
  return { ...own, settings: { ...settings, headers }, http: createHttp(), gate, reported: new WeakSet() }
}

/** Holds the context for a client that `withOptions` creates. The client's constructor accepts it as options. */
export class SharedContext<Context extends ClientContext> {
  readonly context: Context

  constructor(context: Context, changes: ClientChanges) {
    this.context = { ...context, settings: changeSettings(context.settings, changes) }
  }
}
