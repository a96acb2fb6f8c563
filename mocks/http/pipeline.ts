import type { Area } from '../../src/contract/endpoint.ts'
import type { Refusal } from '../base/result.ts'
import { delayResponse, machineNow } from '../time/machine.ts'
import {
  type Admission,
  type AreaRuntime,
  type Exchange,
  failed,
  type OperationExchange,
  refused,
} from './area.ts'
import { type AppliedFault, applyFault, type FaultPlan, faultRequestOf } from './faults.ts'
import type { Handler, IncomingRequest, MockResponse, ResponseData } from './message.ts'
import {
  BodyTooLargeError,
  fieldsOf,
  hasLeft,
  isForm,
  isJson,
  isPreflight,
  jsonResponse,
  NO_FIELDS,
  NO_HEADERS,
  preflightResponse,
  readBody,
  respondWith,
  withCorsAndHead,
} from './message.ts'
import type { Decided, WritableRequestLog } from './request-log.ts'
import { type Addresses, type Located, locate, nearestRoute } from './routes.ts'

// The way of a request: locate → read → fault → outage → limit → route → size → authenticate → replay → check → operate
// → respond → log. `createPipeline` has the steps around a decision. `decide` and `execute` have those from the outage to
// the operation, in the order of row 5.

/** Responds with a payer's page. Returns `undefined` for a path that has no page. */
export type PageHandler = (
  area: Area,
  request: Pick<IncomingRequest, 'method' | 'url' | 'headers' | 'server' | 'text'>,
  path: string,
) => Promise<ResponseData | undefined>

/** What the pipeline of a mock needs. */
export interface PipelineOptions {
  readonly areas: Readonly<Record<Area, AreaRuntime>>
  readonly addresses: Addresses
  readonly state: { readonly outages: ReadonlySet<Area> }
  readonly faults: FaultPlan
  readonly log: WritableRequestLog
  readonly now: () => number
  readonly pages: PageHandler
  /** The requests that a fault delays, by key: a second request with the same key can arrive meanwhile (row 73a). */
  readonly running: Map<string, Promise<MockResponse>>
}

/** Creates the handler of all requests. The handler starts a timer only for a fault with latency. */
export const createPipeline = (options: PipelineOptions): Handler => {
  const { areas, addresses, state, faults, log, now, pages, running } = options

  /** Asks the rate limit, whose headers every response has. */
  const admit = (exchange: Exchange, counts: boolean): Admission => {
    const { area, bearer, route } = exchange
    const admission = area.limit({ bearer, route, fields: fieldsOf(exchange), counts })
    exchange.headers = admission.headers ?? NO_HEADERS
    return admission
  }

  /** Decides a request (row 5). `isKeyRunning`: an earlier request with the same key still runs (row 73a). */
  const decide = (exchange: Exchange, isKeyRunning: boolean): Decided => {
    const { area, body } = exchange
    const isDown = state.outages.has(area.name)
    const { allowed, limit, retryIn } = admit(exchange, !isDown)
    if (isDown)
      return failed(exchange, 503, 'outage', 'The service is unavailable.', 'An outage was started.')
    if (!allowed) {
      const explanation = `Option ${area.name}.rateLimit allows ${limit} calls per window.`
      const refusal: Refusal = { reason: 'rate_limited', message: 'Too many requests.', explanation }
      if (retryIn === undefined) return refused(exchange, refusal)
      const seconds = Math.max(1, Math.ceil(retryIn / 1_000))
      return refused(exchange, refusal, { 'Retry-After': String(seconds) })
    }
    if (exchange.route === undefined) return unrouted(exchange)
    if (body?.ok === false && body.isTooLarge) {
      const explanation = `${body.problem} Option maxBodyBytes of startMockServer sets the limit.`
      return failed(exchange, 413, 'body-too-large', body.problem, explanation)
    }
    // The URLs in the response point to the server that the client called.
    addresses.requested = exchange.request.server
    try {
      return execute(exchange, isKeyRunning)
    } catch (error) {
      const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
      const explanation = `The mock failed: ${cause}.`
      return failed(exchange, 500, 'internal-error', 'An internal error occurred.', explanation)
    } finally {
      addresses.requested = undefined
    }
  }

  // The mock decides and logs each request synchronously, so parallel calls are decided one by one.
  const run = (exchange: Exchange, isKeyRunning = false): MockResponse => {
    const decided = decide(exchange, isKeyRunning)
    const { response } = decided
    log.write(now(), exchange, decided, response)
    return { kind: 'complete', response }
  }

  /** Logs a request whose sender disconnected, and sends no response. */
  const aborted = (exchange: Exchange): MockResponse => {
    const explanation = 'The sender disconnected before the request was decided. It was not executed.'
    log.write(now(), exchange, { executed: false, rule: 'aborted', explanation })
    return { kind: 'none' }
  }

  const runUnderFault = async (
    fault: AppliedFault,
    exchange: OperationExchange,
    isKeyRunning: boolean,
  ): Promise<MockResponse> => {
    const { request } = exchange
    if (fault.delayBefore > 0) {
      await delayResponse(fault.delayBefore, request.signal)
      if (hasLeft(request)) return aborted(exchange)
    }
    const { sent, decision } = applyFault(fault, exchange, {
      decide: () => decide(exchange, isKeyRunning),
      countCall: () => void admit(exchange, true),
    })
    log.write(now(), exchange, decision, 'response' in sent ? sent.response : undefined)
    if (fault.delayAfter > 0) await delayResponse(fault.delayAfter, request.signal)
    return sent
  }

  /** Runs a request while faults apply. A request whose key is used by a delayed request waits, or is refused. */
  const runInTurn = async (
    exchange: OperationExchange,
    fault: AppliedFault | undefined,
  ): Promise<MockResponse> => {
    const start = async (isKeyRunning: boolean): Promise<MockResponse> =>
      fault === undefined ? run(exchange, isKeyRunning) : runUnderFault(fault, exchange, isKeyRunning)
    const { path, bearer, idempotencyKey = '' } = exchange
    const { operation, idempotencyKey: hasKey } = exchange.route.definition
    if (!hasKey || idempotencyKey.trim() === '') return start(false)
    const key = [operation, path, bearer, idempotencyKey].join('\n')
    for (let earlier = running.get(key); earlier; earlier = running.get(key)) {
      if (exchange.area.options.keyInFlight === 'conflict') return start(true)
      await earlier
      if (hasLeft(exchange.request)) return aborted(exchange)
    }
    const result = start(false)
    if (fault === undefined || fault.delayBefore + fault.delayAfter === 0) return result
    running.set(key, result)
    // After a reset, a new request may have this key.
    return result.finally(() => running.get(key) === result && running.delete(key))
  }

  const runOperation = async (exchange: OperationExchange): Promise<MockResponse> => {
    const { request } = exchange
    const { operation, method, auth } = exchange.route.definition
    try {
      // Only the login also accepts form fields (row 32).
      exchange.body =
        method === 'GET' ? NO_BODY : readBody(await request.text(), request, auth === 'credentials')
    } catch (error) {
      if (!(error instanceof BodyTooLargeError)) {
        aborted(exchange)
        // Reading the body of the request failed, so `mock.fetch` rejects with a connection error.
        return { kind: 'closed', code: 'ECONNRESET' }
      }
      exchange.body = { ok: false, problem: error.message, isTooLarge: true }
    }
    if (hasLeft(request)) return aborted(exchange)
    const fault =
      faults.active.length > 0 ? faults.next(operation, () => faultRequestOf(exchange)) : undefined
    const sent = fault === undefined && running.size === 0 ? run(exchange) : await runInTurn(exchange, fault)
    return withCorsAndHead(request, sent)
  }

  /** Responds with the payer's page at this path, or refuses the request. */
  const runUnlessRouted = async (
    candidates: readonly Located<AreaRuntime>[],
    exchange: Exchange,
  ): Promise<MockResponse> => {
    const { request } = exchange
    for (const found of candidates) {
      const page = mayBePage(found.path) ? await pages(found.area.name, request, found.path) : undefined
      if (page === undefined) continue
      const executed = request.method === 'POST' && page.status < 400
      const explanation =
        page.status === 400 ? 'The code or choice was wrong.' : "The payer's page responded."
      log.write(
        now(),
        { ...exchange, ...found },
        { executed, rule: 'page', explanation },
        { ...page, body: '' },
      )
      return respondWith(page)
    }
    return withCorsAndHead(request, run(exchange))
  }

  return (request) => {
    const [best, ...others] = locate(request.url, request.method, addresses.bases, areas)
    if (best === undefined) return undefined
    if (request.method === 'OPTIONS' && isPreflight(request)) {
      return Promise.resolve(respondWith(preflightResponse(request)))
    }
    const exchange = receive(request, best)
    return exchange.route === undefined
      ? runUnlessRouted([best, ...others], exchange)
      : runOperation(exchange)
  }
}

/** Returns a request with what `locate` found for it. The body is not read. */
const receive = (request: IncomingRequest, located: Located<AreaRuntime>): Exchange => {
  const { headers } = request
  return {
    ...located,
    request,
    receivedAt: machineNow(),
    bearer: bearerOf(headers.get('authorization')),
    idempotencyKey: headers.get('idempotency-key') ?? undefined,
    contentType: headers.get('content-type'),
    body: undefined,
    headers: NO_HEADERS,
  }
}

const bearerOf = (header: string | null): string | undefined => {
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return header.slice(7).trim() || undefined
}

/** Returns whether a path may be a payer's page. The mock loads the code of the pages only for such a path. */
const mayBePage = (path: string): boolean => path.startsWith('/authorize/') || path.startsWith('/confirm/')

const NO_BODY = { ok: true, fields: NO_FIELDS, characters: 0 } as const

/** The caller of an operation without authentication. */
const NOBODY = { ok: true, value: undefined } as const

const isEmpty = ({ body }: Exchange): boolean => body?.ok === true && Object.keys(body.fields).length === 0

/** Responds to a request with an unknown path or a wrong method. */
const unrouted = (exchange: Exchange): Decided => {
  const { area, allow, path, request } = exchange
  if (allow !== undefined) {
    const explanation = `This path accepts ${allow} only.`
    const headers = { Allow: allow }
    return failed(exchange, 405, 'wrong-method', 'The method is not allowed.', explanation, { headers })
  }
  const nearest = nearestRoute(path, request.method, area.router.routes).route
  const explanation = `No operation has this path. The most similar route is ${nearest}.`
  return failed(exchange, 404, 'unknown-path', 'There is no such path.', explanation)
}

const KEY_IN_USE: Refusal = {
  reason: 'idempotency_key_in_use',
  message: 'A request with this Idempotency-Key is still running.',
  explanation: 'Option gateway.keyInFlight is "conflict".',
}

/** Authenticates and executes a request to an operation. */
const execute = (exchange: OperationExchange, isKeyRunning: boolean): Decided => {
  const { area, parameters, query, idempotencyKey = '' } = exchange
  const { name, definition } = exchange.route
  const { auth } = definition
  const caller = auth === 'token' || auth === 'api-key' ? area.authenticate(exchange.bearer) : NOBODY
  if (!caller.ok) return refused(exchange, caller.refusal)
  const call = { parameters, query, fields: fieldsOf(exchange), idempotencyKey, caller: caller.value }
  // The first result of a used key comes before the checks of Content-Type and body (G rule 1).
  const replay = area.replays[name]?.(call)
  if (isKeyRunning) return refused(exchange, KEY_IN_USE)
  if (replay?.ok === false) return refused(exchange, replay.refusal)
  if (replay !== undefined) {
    const { body, explanation = '' } = replay.value
    const reason =
      'The Idempotency-Key was used before. This is the original response, and nothing was executed.'
    return {
      response: success(exchange, body),
      executed: false,
      rule: 'replayed',
      explanation: `${reason} ${explanation}`.trim(),
    }
  }
  const problem = problemOf(exchange)
  if (problem !== undefined) return problem
  const result = area.resolvers[name]?.(call)
  if (result === undefined) throw new Error(`The operation ${name} has no resolver.`)
  if (!result.ok) return refused(exchange, result.refusal)
  return {
    response: success(exchange, result.value),
    executed: true,
    rule: 'accepted',
    explanation: 'The operation was executed.',
  }
}

/** Returns the response of a success. Without a body, the status is 204. */
const success = (
  { area, route: { definition }, headers }: OperationExchange,
  value: unknown,
): ResponseData => {
  const body = area.envelope === undefined ? value : area.envelope(definition, value)
  return body === undefined
    ? { status: 204, headers, body: '' }
    : jsonResponse(definition.status, body, headers)
}

/** Checks the Content-Type and the body. Returns the rejection of the request, or `undefined` if both are valid. */
const problemOf = (exchange: OperationExchange): Decided | undefined => {
  const { area, body, contentType, route } = exchange
  const { auth, request } = route.definition
  const isAccepted = isJson(contentType) || (auth === 'credentials' && isForm(contentType))
  if (area.options.contentType === 'json' && !isAccepted && !isEmpty(exchange)) {
    const explanation = `The Content-Type is ${contentType ?? 'missing'}; send "Content-Type: application/json". Option ${area.name}.contentType is "json".`
    return failed(exchange, 415, 'content-type', 'The Content-Type is not supported.', explanation)
  }
  if (body?.ok === false) return failed(exchange, 400, 'malformed-body', body.problem)
  // An operation with a body checks its fields itself.
  if (area.options.unknownFields === 'ignore' || request !== undefined || isEmpty(exchange)) return undefined
  const [field = ''] = Object.keys(fieldsOf(exchange))
  const explanation = `Option ${area.name}.unknownFields is "refuse".`
  return refused(exchange, {
    reason: 'invalid',
    message: 'The request has an unknown field.',
    field,
    explanation,
  })
}
