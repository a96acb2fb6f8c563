import type { Authorization, Authorizer } from '../auth/authorizer.ts'
import { inputIssue } from '../check.ts'
import type { EndpointDefinition, ResponseOf } from '../contract/endpoint.ts'
import { InvalidRequestError, isMandateKitError, type RateLimit } from '../errors.ts'
import { agentHeader } from './agent.ts'
import { attemptError, delayedError, interruptionError, keyReusedError, loginError } from './call-error.ts'
import { CallLog, serverRequestIdOf } from './call-log.ts'
import { Deadline, Interrupted } from './deadline.ts'
import { environmentLevel, type LogLevel, notify } from './logger.ts'
import type { ClientSettings } from './options.ts'
import { type CallInput, type ClientParts, type PreparedRequest, prepare } from './prepare.ts'
import { type LimitUpdate, RateLimitGate, readRateLimit, type Slot } from './rate-limit.ts'
import { type Reading, readResponse, reportEchoes } from './read-response.ts'
import { decideRetry, outcomeOf, readWaitHint } from './retry.ts'
import { createHttp, type ReceivedResponse, sendOnce } from './send.ts'

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

/** Makes a `CallPromise` from a call that has started. */
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

/** A call in progress, with all its attempts. */
export interface Call {
  readonly client: ClientParts
  readonly request: PreparedRequest
  readonly log: CallLog
  readonly deadline: Deadline
}

/** Runs `work`, which obtains a token, API key or client id. If `work` fails, the call fails for the same reason. */
export const authorized = async <Value>(
  { log, deadline }: Call,
  work: (signal: AbortSignal) => Promise<Value>,
) => {
  const { phase } = log
  log.phase = 'login'
  try {
    const value = await deadline.race(work)
    log.phase = phase
    return value
  } catch (error) {
    throw isMandateKitError(error) ? loginError(log, error) : error
  }
}

const enter = async (gate: RateLimitGate, { log, deadline, request }: Call): Promise<Slot> => {
  log.phase = 'limit'
  const { timeout } = request.limits
  const entered = await deadline.race((signal) => gate.enter(signal, deadline.remaining, timeout))
  if (typeof entered === 'number') throw delayedError(log, entered)
  return entered
}

/** Makes one attempt: waits for the rate limit, gets the authorization and sends the request. */
const makeAttempt = async (
  call: Call,
  authorizer: Authorizer | undefined,
  previous: Authorization | undefined,
) => {
  const { client, request, log, deadline } = call
  const { endpoint, url, method, body, limits } = request
  const { operation } = endpoint
  const { hooks, clock, fetch, logLevel, maxResponseBytes: most } = client.settings
  const waits = client.settings.rateLimit === 'wait'
  deadline.check()
  // The client does not delay health checks. Logins have a separate rate limit.
  const gate =
    waits && endpoint.retry !== 'never' && endpoint.auth !== 'credentials' ? client.gate : undefined
  const slot =
    gate && (gate.tryEnter(Math.min(limits.timeout, deadline.remaining)) ?? (await enter(gate, call)))
  let update: LimitUpdate | undefined
  try {
    const authorization =
      authorizer &&
      (authorizer.current() ??
        (await authorized(call, (signal) =>
          authorizer.authorize({ operation, signal, remaining: deadline.remaining, waits, previous }),
        )))
    const headers = { ...request.headers, ...(authorization && { authorization: authorization.header }) }
    const isObserved = hooks.onRequest || hooks.onResponse || logLevel === 'debug'
    const event = isObserved && { ...log.event, attempt: log.attempts + 1 }
    if (event) notify(client.settings, 'onRequest', event)
    // The hook `onRequest` may have aborted the call.
    deadline.check()
    log.sending(authorization?.header)
    const sentAt = clock.now()
    const once = endpoint.retry !== 'always'
    const sent = { url, method, headers, body, timeout: limits.timeout, most, once }
    const attempt = await sendOnce(client.http, fetch, sent, deadline)
    if (attempt.kind === 'failed') return { attempt, authorization }
    const { status, headers: received } = attempt.response
    const rateLimit = readRateLimit(received)
    const hint = readWaitHint(status, received, rateLimit, clock.now())
    update = { headers: received, waitMs: status === 429 ? hint : undefined }
    if (event) {
      const serverRequestId = log.redactor().text(serverRequestIdOf(received) ?? '') || undefined
      const durationMs = clock.now() - sentAt
      notify(client.settings, 'onResponse', { ...event, status, serverRequestId, rateLimit, durationMs })
    }
    return { attempt, authorization, hint }
  } finally {
    if (slot) gate?.leave(slot, update)
  }
}

const succeed = (
  { client, request, log }: Call,
  { status, headers }: ReceivedResponse,
  { data, body, reports }: Extract<Reading, { kind: 'success' }>,
): WithResponse<unknown> => {
  for (const report of reports) notify(client.settings, 'onUnexpected', report)
  const reused = reportEchoes(request.endpoint, request.fields, data)
  if (reused && client.onKeyReuse === 'throw' && !request.isKeyGenerated)
    throw keyReusedError(log, reused.message, body)
  if (reused) notify(client.settings, 'onUnexpected', reused)
  const { attempts } = log
  const { idempotencyKey } = request
  const serverRequestId = serverRequestIdOf(headers)
  const rateLimit = readRateLimit(headers)
  return { data, response: { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey } }
}

/** After a 401 for a new token, the call waits this many milliseconds and sends the same token again. */
const NEW_TOKEN_WAIT = 1_000

/** Makes the attempts of a call and waits between them. Returns a result or throws an error. */
const attempts = async (call: Call): Promise<WithResponse<unknown>> => {
  const { client, request, log, deadline } = call
  const { endpoint, limits } = request
  const { clock } = client.settings
  const authorizer = client.authorizers[endpoint.auth]
  let retries = 0
  let renewed = false
  let authorization: Authorization | undefined
  let sentAgain: Authorization | undefined
  for (;;) {
    const made = await makeAttempt(call, authorizer, authorization)
    const { attempt, hint } = made
    authorization = made.authorization
    const response = 'response' in attempt ? attempt.response : undefined
    const reading = 'response' in attempt ? readResponse(endpoint, attempt.response) : attempt
    if (reading.kind === 'success') return succeed(call, response as ReceivedResponse, reading)

    const { failure, body } = { body: undefined, ...reading }
    log.phase = 'phase' in attempt ? attempt.phase : 'response'
    log.failedAttempt(outcomeOf(endpoint, failure))
    const { retries: limit, maxWait } = limits
    const random = Math.random()
    const { remaining } = deadline
    const used = authorization
    const isNew = used && used !== sentAgain && remaining > NEW_TOKEN_WAIT && authorizer?.isNew(used)
    const state = { endpoint, failure, retries, limit, hint, maxWait, remaining, random }
    const decision = decideRetry({ ...state, renewed: renewed && !isNew })
    const end = (tooLong?: number) => attemptError(log, failure, { response, body, hint, tooLong })
    if (!decision.retry) throw end(decision.waitMs)
    const { reason } = decision
    let { waitMs } = decision
    if (reason === 'rate-limited' && client.settings.rateLimit === 'throw') throw end()
    if (reason !== 'token-rejected') retries += 1
    else if (isNew) {
      sentAgain = used
      waitMs = NEW_TOKEN_WAIT
    } else {
      const refused = await authorized(call, async (signal) => used && authorizer?.refused(used, signal))
      if (refused !== 'renewed' && refused !== 'replaced') throw end()
      renewed = refused === 'renewed'
    }
    const retry = { attempt: log.attempts, reason, waitMs, status: response?.status }
    notify(client.settings, 'onRetry', { ...log.event, ...retry })
    if (reason === 'token-rejected' && !isNew) continue
    log.phase = 'wait'
    await deadline
      .race(async (signal) => clock.sleep(waitMs, signal))
      .catch((error: unknown) => {
        // The option `clock` may have a `sleep` that rejects. Then the call ends with the error of the last attempt.
        throw error instanceof Interrupted ? error : end()
      })
  }
}

/** Runs a call within its total timeout and reports its failure. By default, `work` makes the attempts. */
export const runCall = async <Value = WithResponse<unknown>>(
  client: ClientParts,
  request: PreparedRequest,
  work: (call: Call) => Promise<Value> = attempts as (call: Call) => Promise<Value>,
  deadline = new Deadline(request.limits.totalTimeout, request.limits.signal),
): Promise<Value> => {
  const log = new CallLog(client.settings, request)
  try {
    return await work({ client, request, log, deadline })
  } catch (error) {
    const failure = error instanceof Interrupted ? interruptionError(log, error.by) : error
    log.failed(failure)
    throw failure
  }
}

/** Checks the input of a call and makes the call. */
export type MakeCall = <Definition extends EndpointDefinition>(
  endpoint: Definition,
  input: CallInput,
  deadline?: Deadline,
) => Promise<WithResponse<ResponseOf<Definition>>>

/** Creates the parts of a client that all its calls share. */
export const createClient = (
  given: Omit<ClientParts, 'http' | 'gate' | 'agent' | 'settings'> & {
    readonly settings: Omit<ClientSettings, 'logLevel'> & { readonly logLevel: LogLevel | undefined }
  },
): ClientParts => {
  if (globalThis.crypto === undefined) {
    const rule = 'the webcrypto of node:crypto, or use Node 20 or later'
    throw new InvalidRequestError('mandatekit', [inputIssue('globalThis.crypto', rule, undefined)])
  }
  const { logLevel = environmentLevel(), ...settings } = given.settings
  const gate = new RateLimitGate(settings.clock)
  return { ...given, settings: { ...settings, logLevel }, http: createHttp(), gate, agent: agentHeader() }
}

/** The parts of a client that `withOptions` passes to the constructor of the new client. */
export class SharedParts<Parts> {
  readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }
}

/** Returns the function that makes a client's calls. */
export const callsOf = (client: ClientParts): MakeCall => {
  const call = async (endpoint: EndpointDefinition, input: CallInput, deadline?: Deadline) =>
    runCall(client, prepare(client, endpoint, input), undefined, deadline)
  return call as MakeCall
}
