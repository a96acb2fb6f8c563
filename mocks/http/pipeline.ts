import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { Refusal, Result } from '../base/result.ts'
import { delayResponse } from '../time/machine.ts'
import type { AreaRuntime, Success } from './area.ts'
import {
  type Exchange,
  faultRequestOf,
  fieldsOf,
  hasLeft,
  isEmpty,
  isForm,
  isJson,
  keyScope,
  nearestRouteOf,
  read,
  readsForm,
  receive,
} from './exchange.ts'
import { type AppliedFault, applyFault, type FaultPlan } from './faults.ts'
import type { Admission } from './limiter.ts'
import type { Decided, WritableRequestLog } from './request-log.ts'
import type { HeaderFields, IncomingRequest, MockResponse, ResponseData, ServerAddress } from './response.ts'
import { isPreflight, preflightResponse, respondWith, withCorsAndHead } from './response.ts'
import { type Base, type Located, locate, type OperationTarget } from './routes.ts'

// The way of a request: locate → read → fault → limit → authenticate → replay → check → operate → respond → log.
// `createPipeline` has the steps around a decision. `decide` has those from the limit to the operation, in the order of
// row 5.

/** Responds with a payer's page. Returns `undefined` for a path that has no page. */
export type PageHandler = (
  area: Area,
  request: Pick<IncomingRequest, 'method' | 'url' | 'headers' | 'server' | 'text'>,
  path: string,
) => Promise<ResponseData | undefined>

/** Handles a request. Returns `undefined` for a URL that is not below a base URL of the mock. */
export type Handler = (request: IncomingRequest) => Promise<MockResponse> | undefined

/** What the pipeline of a mock needs. */
export interface PipelineOptions {
  /** The current base URLs of the areas. */
  readonly bases: () => readonly Base<AreaRuntime>[]
  /** Runs `decide` for a request to the server at `address`. URLs in the response can point to this server. */
  readonly withRequestOrigin: <Value>(address: ServerAddress | undefined, decide: () => Value) => Value
  readonly faults: FaultPlan
  readonly log: WritableRequestLog
  readonly now: () => number
  readonly pages: PageHandler
}

/** Creates the handler of all requests. The handler starts a timer only for a fault with latency. */
export const createPipeline = (options: PipelineOptions): Handler => {
  const { bases, withRequestOrigin, faults, log, now, pages } = options
  /** The requests that a fault delays, by key: a second request with the same key can arrive meanwhile (row 73a). */
  const running = new Map<string, Promise<MockResponse>>()

  // The mock decides and logs each request synchronously, so parallel calls are decided one by one.
  const run = (exchange: Exchange, isKeyRunning = false): MockResponse =>
    withRequestOrigin(exchange.request.server, () => {
      const decided = decide(exchange, isKeyRunning)
      log.write(now(), exchange, decided, decided.response)
      return respondWith(decided.response)
    })

  /** Logs a request whose sender disconnected, and sends no response. */
  const aborted = (exchange: Exchange): MockResponse => {
    const explanation = 'The sender disconnected before the request was decided. It was not executed.'
    log.write(now(), exchange, { executed: false, rule: 'aborted', explanation })
    return { kind: 'none' }
  }

  const runUnderFault = async (
    fault: AppliedFault,
    exchange: Exchange,
    target: OperationTarget,
    isKeyRunning: boolean,
  ): Promise<MockResponse> => {
    const { request } = exchange
    if (fault.delayBefore > 0) {
      await delayResponse(fault.delayBefore, request.signal)
      if (hasLeft(request)) return aborted(exchange)
    }
    const { sent, decision } = withRequestOrigin(request.server, () =>
      applyFault(fault, {
        area: exchange.area,
        definition: target.definition,
        decide: () => decide(exchange, isKeyRunning),
        countCall: () => countCall(exchange).headers,
      }),
    )
    log.write(now(), exchange, decision, 'response' in sent ? sent.response : undefined)
    if (fault.delayAfter > 0) await delayResponse(fault.delayAfter, request.signal)
    return sent
  }

  /** Runs a request while faults apply. A request whose key is used by a delayed request waits, or is refused. */
  const runInTurn = async (
    exchange: Exchange,
    target: OperationTarget,
    fault: AppliedFault | undefined,
  ): Promise<MockResponse> => {
    const start = async (isKeyRunning: boolean): Promise<MockResponse> =>
      fault === undefined ? run(exchange, isKeyRunning) : runUnderFault(fault, exchange, target, isKeyRunning)
    const key = keyScope(exchange)
    if (key === undefined) return start(false)
    for (let earlier = running.get(key); earlier; earlier = running.get(key)) {
      if (exchange.area.refusesRunningKeys) return start(true)
      await earlier
      if (hasLeft(exchange.request)) return aborted(exchange)
    }
    const result = start(false)
    if (fault === undefined || fault.delayBefore + fault.delayAfter === 0) return result
    running.set(key, result)
    return result.finally(() => running.delete(key))
  }

  const runOperation = async (exchange: Exchange, target: OperationTarget): Promise<MockResponse> => {
    try {
      exchange.body = await read(exchange, target)
    } catch {
      aborted(exchange)
      // Reading the body of the request failed, so `mock.fetch` rejects with a connection error.
      return { kind: 'closed', code: 'ECONNRESET' }
    }
    if (hasLeft(exchange.request)) return aborted(exchange)
    const { operation } = target.definition
    const fault =
      faults.active.length > 0 ? faults.next(operation, () => faultRequestOf(exchange, target)) : undefined
    const sent =
      fault === undefined && running.size === 0 ? run(exchange) : await runInTurn(exchange, target, fault)
    return withCorsAndHead(exchange.request, sent)
  }

  /** Responds with the payer's page at this path, or undefined if there is none. */
  const runPage = async (exchange: Exchange): Promise<MockResponse | undefined> => {
    const { area, request, path } = exchange
    const response = mayBePage(path) ? await pages(area.name, request, path) : undefined
    if (response === undefined) return undefined
    const executed = request.method === 'POST' && response.status < 400
    const explanation =
      response.status === 400 ? 'The code or choice was wrong.' : "The payer's page responded."
    log.write(now(), exchange, { executed, rule: 'page', explanation }, response)
    return respondWith(response)
  }

  const runUnlessRouted = async (
    request: IncomingRequest,
    best: Located<AreaRuntime>,
    candidates: readonly Located<AreaRuntime>[],
  ): Promise<MockResponse> => {
    for (const candidate of candidates) {
      const sent = await runPage(receive(request, candidate))
      if (sent !== undefined) return sent
    }
    return withCorsAndHead(request, run(receive(request, best)))
  }

  return (request) => {
    const candidates = locate(request.url, request.method, bases())
    const [best] = candidates
    if (best === undefined) return undefined
    if (isPreflight(request)) return Promise.resolve(respondWith(preflightResponse(request)))
    return best.match.kind === 'route'
      ? runOperation(receive(request, best), best.match.target)
      : runUnlessRouted(request, best, candidates)
  }
}

/** Returns whether a path may be a payer's page. The mock loads the code of the pages only for such a path. */
const mayBePage = (path: string): boolean => path.startsWith('/authorize/') || path.startsWith('/confirm/')

const NO_HEADERS: HeaderFields = {}

/** Counts a call against the area's rate limit, unless `counts` is false. Returns the response's rate-limit headers. */
const countCall = (
  exchange: Exchange,
  counts = true,
): { readonly headers: HeaderFields; readonly admission?: Admission } => {
  const { area, bearer, target } = exchange
  if (area.limiter === undefined) return { headers: NO_HEADERS }
  const admission = area.limiter(area.bucket(bearer, target?.definition, fieldsOf(exchange)), counts)
  return { headers: area.limitHeaders(admission), admission }
}

/** Decides a request (row 5). `isKeyRunning`: an earlier request with the same key still runs (row 73a). */
const decide = (exchange: Exchange, isKeyRunning: boolean): Decided => {
  const { area, target, body } = exchange
  const isDown = area.isDown()
  const { headers, admission } = countCall(exchange, !isDown)
  if (isDown) {
    const message = 'The service is unavailable.'
    return failed(area, 503, { rule: 'outage', message, explanation: 'An outage was started.' }, headers)
  }
  if (admission?.allowed === false) {
    const refusal: Refusal = {
      reason: 'rate_limited',
      message: 'Too many requests.',
      explanation: `Option ${area.name}.rateLimit allows ${admission.limit} calls per window.`,
    }
    return refused(area, refusal, { ...headers, ...area.refusalHeaders(admission) })
  }
  if (target === undefined) return unrouted(exchange, headers)
  if (body?.ok === false && body.isTooLarge) {
    const explanation = `${body.problem} Option maxBodyBytes of startMockServer sets the limit.`
    return failed(area, 413, { rule: 'body-too-large', message: body.problem, explanation }, headers)
  }
  try {
    return execute(exchange, target, isKeyRunning, headers)
  } catch (error) {
    const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
    const message = 'An internal error occurred.'
    const explanation = `The mock failed: ${cause}.`
    return failed(area, 500, { rule: 'internal-error', message, explanation }, headers)
  }
}

/** Responds to a request with an unknown path or a wrong method. */
const unrouted = (exchange: Exchange, headers: HeaderFields): Decided => {
  const { area, allow } = exchange
  if (allow !== undefined) {
    const message = 'The method is not allowed.'
    const explanation = `This path accepts ${allow} only.`
    return failed(area, 405, { rule: 'wrong-method', message, explanation }, { ...headers, Allow: allow })
  }
  const message = 'There is no such path.'
  const explanation = `No operation has this path. The most similar route is ${nearestRouteOf(exchange)}.`
  return failed(area, 404, { rule: 'unknown-path', message, explanation }, headers)
}

const KEY_IN_USE: Refusal = {
  reason: 'idempotency_key_in_use',
  message: 'A request with this Idempotency-Key is still running.',
  explanation: 'Option gateway.keyInFlight is "conflict".',
}

/** Authenticates and executes a request to an operation. */
const execute = (
  exchange: Exchange,
  { name, definition }: OperationTarget,
  isKeyRunning: boolean,
  headers: HeaderFields,
): Decided => {
  const { area, parameters, query, idempotencyKey = '' } = exchange
  const caller = area.authenticate(definition, exchange.bearer)
  if (!caller.ok) return refused(area, caller.refusal, headers)
  const call = { parameters, query, fields: fieldsOf(exchange), idempotencyKey, caller: caller.value }
  // The first result of a used key comes before the checks of Content-Type and body (G rule 1).
  const replay = area.replays[name]?.(call)
  if (isKeyRunning) return refused(area, KEY_IN_USE, headers)
  if (replay !== undefined) return operated(area, definition, replay, headers)
  const problem = problemOf(exchange, definition, headers)
  if (problem !== undefined) return problem
  const result = area.resolvers[name]?.(call)
  if (result === undefined) throw new Error(`The operation ${name} has no resolver.`)
  return operated(area, definition, result, headers)
}

/** Checks the Content-Type and the body. Returns the rejection of the request, or `undefined` if both are valid. */
const problemOf = (
  exchange: Exchange,
  definition: EndpointDefinition,
  headers: HeaderFields,
): Decided | undefined => {
  const { area, body, contentType } = exchange
  const isAccepted = isJson(contentType) || (readsForm(definition) && isForm(contentType))
  if (area.checksContentType && !isAccepted && !isEmpty(exchange)) {
    const message = 'The Content-Type is not supported.'
    const explanation = `The Content-Type is ${contentType ?? 'missing'}; send "Content-Type: application/json". Option ${area.name}.contentType is "json".`
    return failed(area, 415, { rule: 'content-type', message, explanation }, headers)
  }
  if (body?.ok === false) {
    return failed(area, 400, { rule: 'malformed-body', message: body.problem }, headers)
  }
  // An operation with a body checks its fields itself.
  if (!area.refusesUnknownFields || definition.request !== undefined || isEmpty(exchange)) return undefined
  const [field = ''] = Object.keys(fieldsOf(exchange))
  const explanation = `Option ${area.name}.unknownFields is "refuse".`
  return refused(
    area,
    { reason: 'invalid', message: 'The request has an unknown field.', field, explanation },
    headers,
  )
}

const operated = (
  area: AreaRuntime,
  definition: EndpointDefinition,
  result: Result<Success>,
  headers: HeaderFields,
): Decided => {
  if (!result.ok) return refused(area, result.refusal, headers)
  const { replayed = false, explanation } = result.value
  const reason = replayed
    ? 'The Idempotency-Key was used before. This is the original response, and nothing was executed.'
    : 'The operation was executed.'
  return {
    response: area.success(definition, result.value, headers),
    executed: !replayed,
    rule: replayed ? 'replayed' : 'accepted',
    explanation: explanation === undefined ? reason : `${reason} ${explanation}`,
  }
}

const refused = (area: AreaRuntime, refusal: Refusal, headers: HeaderFields): Decided => ({
  response: area.refusal(refusal, headers),
  executed: false,
  rule: refusal.reason,
  explanation: [refusal.message, refusal.field && `Field: ${refusal.field}.`, refusal.explanation]
    .filter(Boolean)
    .join(' '),
})

/** Rejects a request for a reason outside its operation, for example because the body is malformed. */
const failed = (
  area: AreaRuntime,
  status: number,
  { rule, message, explanation = message }: { rule: string; message: string; explanation?: string },
  headers: HeaderFields,
): Decided => ({ response: area.failure(status, message, headers), executed: false, rule, explanation })
