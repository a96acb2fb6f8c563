import type { Authorization, Authorizer } from '../auth/authorizer.ts'
import type { EndpointDefinition, ResponseOf } from '../contract/endpoint.ts'
import { isMandateKitError, type KnownError, type RateLimit } from '../errors.ts'
import {
  attemptError,
  delayedError,
  interruptionError,
  keyReusedError,
  loginError,
  redactorOf,
} from './call-error.ts'
import { Interrupted } from './deadline.ts'
import { notify } from './observe.ts'
import { type ClientChanges, changeSettings } from './options.ts'
import { type Call, type CallInput, type ClientContext, prepare } from './prepare.ts'
import { RateLimitGate, type Slot } from './rate-limit.ts'
import { type BadResponse, readResponse, reportEchoes, type Success } from './read-response.ts'
import { callOutcome, combineOutcomes, decideRetry } from './retry.ts'
import { createHttp, type LostAttempt, type ReceivedResponse, sendOnce } from './send.ts'

/** The HTTP response from which a call's data was read. */
export interface CallResponse {
  /** HTTP status of the last attempt's response. */
  readonly status: number
  /** Response headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The server's identifier of the request, if the server sent one. */
  readonly serverRequestId: string | undefined
  /** The parsed body, before the client converts its fields. */
  readonly body: unknown
  /** The values of the `X-RateLimit-…` headers; `undefined` if the response has no such header. (Limits, area S) */
  readonly rateLimit: RateLimit | undefined
  /** Number of attempts that the call made. */
  readonly attempts: number
  /** The idempotency key that was sent. Only charges and renewals have a key. */
  readonly idempotencyKey: string | undefined
}

/** A call's data, and the response from which the data was read. */
export interface WithResponse<Data, Response = CallResponse> {
  /** The call's data: the same value that `await` gives. */
  readonly data: Data
  /** Status, headers, body and rate limit of the response, and the number of attempts. */
  readonly response: Response
}

/** The result of a method that makes one call: a promise of the data that also provides the HTTP response. */
export interface CallPromise<Data, Response = CallResponse> extends Promise<Data> {
  /** Returns the data, the response's status and headers, and the number of attempts. Sends no second request. */
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

/** Runs `work`, which obtains a token, API key or client id. If `work` fails, the call fails for the same reason. */
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

/** After a 401 for a new token, the call waits this many milliseconds and sends the same token again. */
const NEW_TOKEN_WAIT = 1_000

/** The authorization of one call: what its next attempt sends, and what the call may do after a 401. */
class CallAuthorization {
  readonly #call: Call
  readonly #authorizer: Authorizer | undefined
  /** The authorization of the last attempt. */
  #used: Authorization | undefined
  /** The new token that the call has sent again. */
  #sentAgain: Authorization | undefined
  #isRenewed = false

  constructor(call: Call) {
    this.#call = call
    this.#authorizer = call.client.authorizers[call.endpoint.auth]
  }

  /** Returns the header Authorization of the next attempt. Logs in if necessary. */
  async header(): Promise<string | undefined> {
    const { client, endpoint, deadline } = this.#call
    const authorizer = this.#authorizer
    if (authorizer === undefined) return undefined
    const previous = this.#used
    const waits = client.settings.rateLimit === 'wait'
    this.#used =
      authorizer.current() ??
      (await withCredentials(this.#call, (signal) => {
        const { operation } = endpoint
        return authorizer.authorize({ operation, signal, remaining: deadline.remaining, waits, previous })
      }))
    return this.#used.header
  }

  /** Whether a part of the API may not know the token yet. The call sends such a token once more. */
  get isNew(): boolean {
    const used = this.#used
    if (used === undefined || used === this.#sentAgain) return false
    return this.#call.deadline.remaining > NEW_TOKEN_WAIT && this.#authorizer?.isNew(used) === true
  }

  /** Whether the call has already sent a renewed token, so that another 401 is final. */
  get isFinal(): boolean {
    return this.#isRenewed && !this.isNew
  }

  /** Prepares the retry after a 401. Returns the wait before the retry in ms, or undefined if no retry is possible. */
  async retry(): Promise<number | undefined> {
    const used = this.#used
    if (this.isNew) {
      this.#sentAgain = used
      return NEW_TOKEN_WAIT
    }
    const result = await withCredentials(
      this.#call,
      async (signal) => used && this.#authorizer?.refused(used, signal),
    )
    this.#isRenewed = result === 'renewed'
    return this.#isRenewed || result === 'replaced' ? 0 : undefined
  }
}

const waitForPlace = async (gate: RateLimitGate, call: Call): Promise<Slot> => {
  const { deadline, timeout } = call
  call.phase = 'limit'
  const entered = await deadline.race((signal) => gate.enter(signal, deadline.remaining, timeout))
  if (typeof entered === 'number') throw delayedError(call, entered)
  return entered
}

/** Makes one attempt: waits for the rate limit, gets the authorization, sends the request and reads the response. */
const attempt = async (
  call: Call,
  authorization: CallAuthorization,
): Promise<Success | BadResponse | LostAttempt> => {
  const { client, endpoint, deadline, timeout } = call
  const { settings } = client
  deadline.check()
  // The client does not delay health checks. Logins have a separate rate limit.
  const isDelayed =
    settings.rateLimit === 'wait' && endpoint.retry !== 'never' && endpoint.auth !== 'credentials'
  const gate = isDelayed ? client.gate : undefined
  const slot =
    gate && (gate.tryEnter(Math.min(timeout, deadline.remaining)) ?? (await waitForPlace(gate, call)))
  let response: ReceivedResponse | undefined
  try {
    const header = await authorization.header()
    const event = { ...call.event, attempt: call.sent.length + 1 }
    notify(settings, 'onRequest', event)
    // The hook `onRequest` may have aborted the call.
    deadline.check()
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
    return readResponse(endpoint, sent)
  } finally {
    if (slot) gate?.leave(slot, response)
  }
}

const succeed = <Definition extends EndpointDefinition>(
  call: Call<Definition>,
  { response, data, body, reports }: Success,
): WithResponse<ResponseOf<Definition>> => {
  const { client, endpoint, idempotencyKey } = call
  for (const report of reports) notify(client.settings, 'onUnexpected', report)
  const reused = reportEchoes(endpoint, call.fields, data)
  if (reused && client.onKeyReuse === 'throw' && !call.isKeyGenerated)
    throw keyReusedError(call, reused.message, body)
  if (reused) notify(client.settings, 'onUnexpected', reused)
  const { status, headers, serverRequestId, rateLimit } = response
  const attempts = call.sent.length
  return {
    data: data as ResponseOf<Definition>,
    response: { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey },
  }
}

/** Makes the attempts of a call and waits between them. Returns a result or throws an error. */
export const runWithRetries = async <Definition extends EndpointDefinition>(
  call: Call<Definition>,
): Promise<WithResponse<ResponseOf<Definition>>> => {
  const { client, endpoint, deadline, limit, maxWait } = call
  const { settings } = client
  const authorization = new CallAuthorization(call)
  let retries = 0
  for (;;) {
    const made = await attempt(call, authorization)
    if (made.kind === 'success') return succeed(call, made)
    const { failure } = made
    const response = made.kind === 'bad-response' ? made.response : undefined
    call.phase = made.phase
    call.outcome = combineOutcomes(call.outcome, callOutcome(endpoint, failure))
    const { remaining } = deadline
    const { isFinal: renewed } = authorization
    const state = {
      failure,
      retries,
      renewed,
      serverWaitMs: response?.waitMs,
      remaining,
      random: Math.random(),
    }
    const decision = decideRetry({ endpoint, limit, maxWait, ...state })
    if (!decision.retry) throw attemptError(call, made, decision.waitMs)
    const { reason } = decision
    if (reason === 'rate-limited' && settings.rateLimit === 'throw') throw attemptError(call, made)
    const isToken = reason === 'token-rejected'
    const waitMs = isToken ? await authorization.retry() : decision.waitMs
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

/** Reports the final failure of a call to the hook `onError`. */
const reportFailure = ({ client, event, sent, startedAt }: Call, error: unknown): void => {
  const { settings, reported } = client
  const known: KnownError = isMandateKitError(error) ? error : {}
  if (reported.has(known)) return
  reported.add(known)
  const { code, phase, retryable, outcome, status, errorCode } = known
  const failure = { code, phase, retryable, outcome, status, errorCode }
  const durationMs = settings.clock.now() - startedAt
  notify(settings, 'onError', { ...event, ...failure, attempts: sent.length, durationMs })
}

/** Runs `work`, which makes the attempts of a call, and reports the call's failure. */
export const runCall = async <Value>(call: Call, work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (error) {
    const failure = error instanceof Interrupted ? interruptionError(call, error.by) : error
    reportFailure(call, failure)
    throw failure
  }
}

export const makeCall = async <Definition extends EndpointDefinition>(
  client: ClientContext,
  endpoint: Definition,
  input: CallInput,
): Promise<WithResponse<ResponseOf<Definition>>> => {
  const call = prepare(client, endpoint, input)
  return runCall(call, () => runWithRetries(call))
}

/** The package's version, which `npm run release:version` writes. */
const VERSION = '0.2.0'

/** Returns the header User-Agent, except in browsers, which send their own User-Agent. */
const agentHeader = (): Readonly<Record<string, string>> => {
  const { userAgent = '' } = globalThis.navigator ?? {}
  if (userAgent.startsWith('Mozilla')) return {}
  return { 'user-agent': `mandatekit/${VERSION}${userAgent && ` (${userAgent})`}` }
}

/** Creates the context of a client, which all its calls share. */
export const createContext = <Own extends Omit<ClientContext, 'http' | 'gate' | 'reported'>>(
  own: Own,
): Own & ClientContext => {
  const { settings } = own
  const headers = { ...agentHeader(), ...settings.headers }
  const gate = new RateLimitGate(settings.clock)
  return { ...own, settings: { ...settings, headers }, http: createHttp(), gate, reported: new WeakSet() }
}

/** The context that `withOptions` passes to the constructor of the new client in place of options. */
export class SharedContext<Context extends ClientContext> {
  readonly context: Context

  constructor(context: Context, changes: ClientChanges) {
    this.context = { ...context, settings: changeSettings(context.settings, changes) }
  }
}
