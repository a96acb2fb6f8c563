import type { Area } from '../../src/contract/endpoint.ts'
import type { Refusal, Result } from '../base/result.ts'
import { delayResponse } from '../time/machine.ts'
import { applyFault } from './apply-fault.ts'
import type { AreaRuntime, Success } from './area.ts'
import { BodyTooLargeError, isForm, isJson } from './body.ts'
import type { Decision, Exchange, OperationExchange } from './exchange.ts'
import { exchangeOf, faultRequestOf, fieldsOf, hasLeft, keyScope, read, readsForm } from './exchange.ts'
import { executesByDefault } from './fault-schema.ts'
import type { AppliedFault, FaultPlan } from './faults.ts'
import type { Admission } from './limiter.ts'
import { entryOf, type LoggedDecision, type WritableRequestLog } from './request-log.ts'
import type { HeaderFields, IncomingRequest, MockResponse, ResponseData, ServerAddress } from './response.ts'
import { isPreflight, preflightResponse, respondWith, withCorsAndHead } from './response.ts'
import { type Base, type Located, locate, nearestRoute } from './routes.ts'

// The way of a request, from top to bottom: locate → read → fault → limit → authenticate → replay → check → operate →
// respond → log. The order of the checks is that of row 5.

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

// Fault

/** Decides a request under a fault, which can change the response and prevent the execution. */
const decideUnder = (
  { effect, delayBefore, delayAfter }: AppliedFault,
  exchange: OperationExchange,
  isKeyRunning: boolean,
): { readonly sent: MockResponse; readonly logged: LoggedDecision } => {
  const delay = delayBefore + delayAfter
  const delayed = delay > 0 ? ` A fault of kind "latency" delayed it by ${delay} ms.` : ''
  if (effect === undefined) {
    const decision = decide(exchange, isKeyRunning)
    const explanation = decision.explanation + delayed
    const logged: LoggedDecision = { ...decision, explanation, ...(delay > 0 && { fault: 'latency' }) }
    return { sent: respondWith(decision.response), logged }
  }
  const decision =
    (effect.executed ?? executesByDefault(effect.kind)) ? decide(exchange, isKeyRunning) : undefined
  const own =
    decision === undefined ? 'The request was not executed.' : `The mock itself decided "${decision.rule}".`
  return {
    sent: applyFault(effect, {
      area: exchange.area,
      definition: exchange.target.definition,
      response: decision?.response,
      countCall: () => countCall(exchange).headers,
    }),
    logged: {
      executed: decision?.executed ?? false,
      rule: 'fault',
      explanation: `A fault of kind "${effect.kind}" was applied. ${own}${delayed}`,
      fault: effect.kind,
    },
  }
}

// Limit

/** Counts a call against the area's rate limit, unless `counts` is false. Returns the response's rate-limit headers. */
const countCall = (
  exchange: Exchange,
  counts = true,
): { readonly headers: HeaderFields; readonly admission?: Admission } => {
  const { area, bearer, target } = exchange
  if (area.limiter === undefined) return { headers: {} }
  const admission = area.limiter(area.bucket(bearer, target?.definition, fieldsOf(exchange)), counts)
  return { headers: area.limitHeaders(admission), admission }
}

/** Responds with 503 during an outage, with 429 above the rate limit, and otherwise with the result of `next`. */
const decideWithinLimit = (exchange: Exchange, next: (headers: HeaderFields) => Decision): Decision => {
  const { area } = exchange
  const isDown = area.isDown()
  const { headers, admission } = countCall(exchange, !isDown)
  if (isDown) {
    const message = 'The service is unavailable.'
    return failed(exchange, 503, { rule: 'outage', message, explanation: 'An outage was started.' }, headers)
  }
  if (admission?.allowed !== false) return next(headers)
  return refused(
    exchange,
    {
      reason: 'rate_limited',
      message: 'Too many requests.',
      explanation: `Option ${area.name}.rateLimit allows ${admission.limit} calls per window.`,
    },
    { ...headers, ...area.refusalHeaders(admission) },
  )
}

// Authenticate, replay, check, operate

const KEY_IN_USE: Refusal = {
  reason: 'idempotency_key_in_use',
  message: 'A request with this Idempotency-Key is still running.',
  explanation: 'Option gateway.keyInFlight is "conflict".',
}

/** Decides a request. `isKeyRunning`: an earlier request with the same key still runs (row 73a). */
const decide = (exchange: OperationExchange, isKeyRunning: boolean): Decision =>
  decideWithinLimit(exchange, (headers) => {
    try {
      return execute(exchange, isKeyRunning, headers)
    } catch (error) {
      const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
      const message = 'An internal error occurred.'
      const explanation = `The mock failed: ${cause}.`
      return failed(exchange, 500, { rule: 'internal-error', message, explanation }, headers)
    }
  })

const execute = (exchange: OperationExchange, isKeyRunning: boolean, headers: HeaderFields): Decision => {
  const { area, target, parameters, query, idempotencyKey = '', bearer } = exchange
  const caller = area.authenticate(target.definition, bearer)
  if (!caller.ok) return refused(exchange, caller.refusal, headers)
  const call = { parameters, query, fields: fieldsOf(exchange), idempotencyKey, caller: caller.value }
  // The first result of a used key comes before the checks of Content-Type and body (G rule 1).
  const replay = area.findReplay(target.name, call)
  if (isKeyRunning) return refused(exchange, KEY_IN_USE, headers)
  if (replay !== undefined) return operated(exchange, replay, headers)
  const problem = bodyProblem(exchange, headers)
  return problem ?? operated(exchange, area.operate(target.name, call), headers)
}

/** Checks the Content-Type and the body. Returns the rejection of the request, or `undefined` if both are valid. */
const bodyProblem = (exchange: OperationExchange, headers: HeaderFields): Decision | undefined => {
  const { area, target, body, contentType } = exchange
  const [unknown] = Object.keys(fieldsOf(exchange))
  const hasBody = !body.ok || unknown !== undefined
  const isAccepted = isJson(contentType) || (readsForm(target) && isForm(contentType))
  if (area.checksContentType && hasBody && !isAccepted) {
    const message = 'The Content-Type is not supported.'
    const explanation = `The Content-Type is ${contentType ?? 'missing'}; send "Content-Type: application/json". Option ${area.name}.contentType is "json".`
    return failed(exchange, 415, { rule: 'content-type', message, explanation }, headers)
  }
  if (!body.ok) return failed(exchange, 400, { rule: 'malformed-body', message: body.problem }, headers)
  if (area.refusesUnknownFields && target.definition.request === undefined && unknown !== undefined) {
    const message = 'The request has an unknown field.'
    const explanation = `Option ${area.name}.unknownFields is "refuse".`
    return refused(exchange, { reason: 'invalid', message, field: unknown, explanation }, headers)
  }
  return undefined
}

// Respond

const operated = (exchange: OperationExchange, result: Result<Success>, headers: HeaderFields): Decision => {
  if (!result.ok) return refused(exchange, result.refusal, headers)
  const response = exchange.area.success(exchange.target.definition, result.value, headers)
  const { replayed = false, explanation } = result.value
  const reason = replayed
    ? 'The Idempotency-Key was used before. This is the original response, and nothing was executed.'
    : 'The operation was executed.'
  return {
    response,
    executed: !replayed,
    rule: replayed ? 'replayed' : 'accepted',
    explanation: explanation === undefined ? reason : `${reason} ${explanation}`,
  }
}

const refused = ({ area }: Exchange, refusal: Refusal, headers: HeaderFields): Decision => ({
  response: area.refusal(refusal, headers),
  executed: false,
  rule: refusal.reason,
  explanation: [refusal.message, refusal.field && `Field: ${refusal.field}.`, refusal.explanation]
    .filter(Boolean)
    .join(' '),
})

/** Rejects a request for a reason outside its operation, for example because the body is malformed. */
const failed = (
  { area }: Exchange,
  status: number,
  { rule, message, explanation = message }: { rule: string; message: string; explanation?: string },
  headers: HeaderFields,
): Decision => ({ response: area.failure(status, message, headers), executed: false, rule, explanation })

/** Returns whether a path may be a payer's page. The mock loads the code of the pages only for such a path. */
const mayBePage = (path: string): boolean => path.startsWith('/authorize/') || path.startsWith('/confirm/')

/** Creates the handler of all requests. The handler starts a timer only for a fault with latency. */
export const createPipeline = (options: PipelineOptions): Handler => {
  const { bases, withRequestOrigin, faults, log, now, pages } = options
  /** The requests that a fault delays, by key: a second request with the same key can arrive meanwhile (row 73a). */
  const running = new Map<string, Promise<MockResponse>>()

  const write = (exchange: Exchange, decision: LoggedDecision, response?: ResponseData): void =>
    log.write(entryOf(exchange, now(), decision, response))

  const respondAndLog = (exchange: Exchange, decision: Decision & LoggedDecision): MockResponse => {
    write(exchange, decision, decision.response)
    return respondWith(decision.response)
  }

  /** Logs a request whose sender disconnected, and sends no response. */
  const aborted = (exchange: Exchange): MockResponse => {
    write(exchange, {
      executed: false,
      rule: 'aborted',
      explanation: 'The sender disconnected before the request was decided. It was not executed.',
    })
    return { kind: 'none' }
  }

  // The mock decides and logs each request synchronously, so parallel calls are decided one by one.
  const run = (exchange: OperationExchange, isKeyRunning: boolean): MockResponse =>
    withRequestOrigin(exchange.request.server, () => respondAndLog(exchange, decide(exchange, isKeyRunning)))

  const runUnder = async (
    fault: AppliedFault,
    exchange: OperationExchange,
    isKeyRunning: boolean,
  ): Promise<MockResponse> => {
    const { request } = exchange
    if (fault.delayBefore > 0) {
      await delayResponse(fault.delayBefore, request.signal)
      if (hasLeft(request)) return aborted(exchange)
    }
    const { sent, logged } = withRequestOrigin(request.server, () =>
      decideUnder(fault, exchange, isKeyRunning),
    )
    write(exchange, logged, 'response' in sent ? sent.response : undefined)
    if (fault.delayAfter > 0) await delayResponse(fault.delayAfter, request.signal)
    return sent
  }

  const runRead = async (exchange: OperationExchange): Promise<MockResponse> => {
    const { area, request, target } = exchange
    const fault = faults.next(target.definition.operation, () => faultRequestOf(exchange))
    if (fault === undefined && running.size === 0) return run(exchange, false)
    const start = async (isKeyRunning: boolean): Promise<MockResponse> =>
      fault === undefined ? run(exchange, isKeyRunning) : runUnder(fault, exchange, isKeyRunning)
    const key = keyScope(exchange)
    if (key === undefined) return start(false)
    for (let earlier = running.get(key); earlier; earlier = running.get(key)) {
      if (area.refusesRunningKeys) return start(true)
      await earlier
      if (hasLeft(request)) return aborted(exchange)
    }
    const result = start(false)
    if (fault === undefined || fault.delayBefore + fault.delayAfter === 0) return result
    running.set(key, result)
    return result.finally(() => running.delete(key))
  }

  const runOperation = async (
    located: Exchange,
    match: Extract<Located<AreaRuntime>['match'], { kind: 'route' }>,
  ): Promise<MockResponse> => {
    let exchange: OperationExchange
    try {
      exchange = await read(located, match)
    } catch (error) {
      return unread({ ...located, target: match.target }, error)
    }
    return hasLeft(located.request) ? aborted(exchange) : runRead(exchange)
  }

  const unread = (exchange: Exchange, error: unknown): MockResponse => {
    if (!(error instanceof BodyTooLargeError)) {
      aborted(exchange)
      // Reading the body of the request failed, so `mock.fetch` rejects with a connection error.
      return { kind: 'closed', code: 'ECONNRESET' }
    }
    const { message } = error
    const explanation = `${message} Option maxBodyBytes of startMockServer sets the limit.`
    return respondAndLog(
      exchange,
      decideWithinLimit(exchange, (headers) =>
        failed(exchange, 413, { rule: 'body-too-large', message, explanation }, headers),
      ),
    )
  }

  const runUnrouted = (exchange: Exchange, match: Located<AreaRuntime>['match']): MockResponse => {
    const { area, path, request } = exchange
    const nearest = nearestRoute(path, request.method, area.router.routes).route
    const decision = decideWithinLimit(exchange, (headers) => {
      if (match.kind === 'other-method') {
        const message = 'The method is not allowed.'
        const explanation = `This path accepts ${match.allow} only.`
        const allow = { ...headers, Allow: match.allow }
        return failed(exchange, 405, { rule: 'wrong-method', message, explanation }, allow)
      }
      const message = 'There is no such path.'
      const explanation = `No operation has this path. The most similar route is ${nearest}.`
      return failed(exchange, 404, { rule: 'unknown-path', message, explanation }, headers)
    })
    return respondAndLog(exchange, { ...decision, nearestRoute: nearest })
  }

  const runPage = async (exchange: Exchange): Promise<MockResponse | undefined> => {
    const { area, request, path } = exchange
    const response = mayBePage(path) ? await pages(area.name, request, path) : undefined
    if (response === undefined) return undefined
    const executed = request.method === 'POST' && response.status < 400
    return respondAndLog(exchange, {
      response,
      executed,
      rule: 'page',
      explanation: response.status === 400 ? 'The code or choice was wrong.' : "The payer's page responded.",
    })
  }

  const runUnlessRouted = async (
    request: IncomingRequest,
    best: Located<AreaRuntime>,
    candidates: readonly Located<AreaRuntime>[],
  ): Promise<MockResponse> => {
    for (const candidate of candidates) {
      const sent = await runPage(exchangeOf(request, candidate))
      if (sent !== undefined) return sent
    }
    return withCorsAndHead(request, runUnrouted(exchangeOf(request, best), best.match))
  }

  return (request) => {
    const candidates = locate(request.url, request.method, bases())
    const [best] = candidates
    if (best === undefined) return undefined
    if (isPreflight(request)) return Promise.resolve(respondWith(preflightResponse(request)))
    const { match } = best
    return match.kind === 'route'
      ? runOperation(exchangeOf(request, best), match).then((sent) => withCorsAndHead(request, sent))
      : runUnlessRouted(request, best, candidates)
  }
}
