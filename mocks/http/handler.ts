import type { Area } from '../../src/contract/endpoint.ts'
import { delayResponse } from '../time/machine.ts'
import { applyFault } from './apply-fault.ts'
import type { Operation } from './area.ts'
import type { Exchange, OperationExchange } from './exchange.ts'
import { BodyTooLargeError, exchangeOf, fieldsOf, receive } from './exchange.ts'
import { executesByDefault, type FaultEffect, type FaultRequest } from './fault-schema.ts'
import type { Disturbance, FaultPlan } from './faults.ts'
import { type Base, type Located, locate, nearestRoute } from './locate.ts'
import { entryOf, type LoggedDecision, type WritableRequestLog } from './request-log.ts'
import { decide, decideWithinLimit, failed } from './respond.ts'
import type { IncomingRequest, MockResponse, ResponseData, ServerAddress } from './response.ts'
import { complete, fitted, isPreflight, preflightResponse } from './response.ts'
import { createRunningKeys } from './running-keys.ts'

/** Responds with a payer's page. Returns `undefined` for a path that has no page. */
export type PageHandler = (
  area: Area,
  request: Pick<IncomingRequest, 'method' | 'url' | 'headers' | 'server' | 'text'>,
  path: string,
) => Promise<ResponseData | undefined>

/** The parts of a mock that the handler uses. */
export interface HandlerParts {
  /** The current base URLs of the areas. */
  readonly bases: () => readonly Base[]
  /** Runs `decide` for a request to the server at `address`. URLs in the response can point to this server. */
  readonly during: <Value>(address: ServerAddress | undefined, decide: () => Value) => Value
  readonly faults: FaultPlan
  readonly log: WritableRequestLog
  readonly now: () => number
  readonly pages: PageHandler
}

/** Handles a request. Returns `undefined` for a URL that is not below a base URL of the mock. */
export type Handler = (request: IncomingRequest) => Promise<MockResponse> | undefined

type RouteMatch = Extract<Located['match'], { kind: 'route' }>

const hasLeft = (request: IncomingRequest): boolean =>
  request.hasLeft === undefined ? request.signal?.aborted === true : request.hasLeft()

/** Returns whether a path may be a payer's page. The mock loads the code of the pages only for such a path. */
const mayBePage = (path: string): boolean => path.startsWith('/authorize/') || path.startsWith('/confirm/')

/** Returns the request in the form that the `when` of a fault receives. */
const faultRequestOf = ({
  area,
  target,
  parameters,
  query,
  body,
  idempotencyKey,
}: OperationExchange): FaultRequest => ({
  operation: target.definition.operation as Operation,
  fields: {
    ...area.related(parameters),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...Object.fromEntries(new URLSearchParams(query)),
    ...fieldsOf(body),
    ...parameters,
  },
})

/** Decides the response to a request. A fault (`effect`) can change the response and prevent the execution. */
const decideWith = (
  exchange: OperationExchange,
  effect: FaultEffect | undefined,
  isKeyRunning: boolean,
): { readonly sent: MockResponse; readonly logged: LoggedDecision } => {
  if (effect === undefined) {
    const decision = decide(exchange, isKeyRunning)
    return { sent: complete(decision.response), logged: decision }
  }
  const decision =
    (effect.executed ?? executesByDefault(effect.kind)) ? decide(exchange, isKeyRunning) : undefined
  const own =
    decision === undefined ? 'The request was not executed.' : `The mock itself decided "${decision.rule}".`
  return {
    sent: applyFault(exchange, effect, decision),
    logged: {
      executed: decision?.executed ?? false,
      rule: 'fault',
      explanation: `A fault of kind "${effect.kind}" was applied. ${own}`,
      fault: effect.kind,
    },
  }
}

/** Creates the handler of all requests. The handler starts a timer only for a fault with latency. */
export const createHandler = ({ bases, during, faults, log, now, pages }: HandlerParts): Handler => {
  const runningKeys = createRunningKeys()

  const write = (exchange: Exchange, decision: LoggedDecision, response?: ResponseData): void =>
    log.write(entryOf(exchange, now(), decision, response))

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
  const runDisturbed = async (
    exchange: OperationExchange,
    fault: Disturbance | undefined,
    isKeyRunning: boolean,
  ): Promise<MockResponse> => {
    const { request } = exchange
    if (fault !== undefined && fault.delayBefore > 0) {
      await delayResponse(fault.delayBefore, request.signal)
      if (hasLeft(request)) return aborted(exchange)
    }
    const { sent, logged } = during(request.server, () => decideWith(exchange, fault?.effect, isKeyRunning))
    write(exchange, logged, 'response' in sent ? sent.response : undefined)
    if (fault !== undefined && fault.delayAfter > 0) await delayResponse(fault.delayAfter, request.signal)
    return sent
  }

  const runReceived = async (exchange: OperationExchange): Promise<MockResponse> => {
    const { area, request, target } = exchange
    const fault = faults.take(target.definition.operation, () => faultRequestOf(exchange))
    for (let earlier = runningKeys.get(exchange); earlier; earlier = runningKeys.get(exchange)) {
      if (area.refusesRunningKeys) return runDisturbed(exchange, fault, true)
      await earlier
      if (hasLeft(request)) return aborted(exchange)
    }
    const run = () => runDisturbed(exchange, fault, false)
    // Only a delayed request is tracked, because a second request with the same key can arrive during the delay.
    return fault !== undefined && fault.delayBefore + fault.delayAfter > 0
      ? runningKeys.track(exchange, run)
      : run()
  }

  const runOperation = async (exchange: Exchange, match: RouteMatch): Promise<MockResponse> => {
    const { request } = exchange
    let received: OperationExchange
    try {
      received = await receive(exchange, match.target, match.parameters)
    } catch (error) {
      if (!(error instanceof BodyTooLargeError)) {
        aborted(exchange)
        // Reading the body of the request failed, so `mock.fetch` rejects with a connection error.
        return { kind: 'closed', code: 'ECONNRESET' }
      }
      const { message } = error
      const explanation = `${message} Option maxBodyBytes of startMockServer sets the limit.`
      const decision = decideWithinLimit(exchange, (headers) =>
        failed(exchange, 413, { rule: 'body-too-large', message, explanation }, headers),
      )
      write(exchange, decision, decision.response)
      return complete(decision.response)
    }
    return hasLeft(request) ? aborted(exchange) : runReceived(received)
  }

  const runUnrouted = (exchange: Exchange, match: Located['match']): MockResponse => {
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
    write(exchange, { ...decision, nearestRoute: nearest }, decision.response)
    return complete(decision.response)
  }

  const runPage = async (exchange: Exchange): Promise<MockResponse | undefined> => {
    const { area, request, path } = exchange
    const response = mayBePage(path) ? await pages(area.name, request, path) : undefined
    if (response === undefined) return undefined
    const executed = request.method === 'POST' && response.status < 400
    write(exchange, { executed, rule: 'page', explanation: "The payer's page responded." }, response)
    return complete(response)
  }

  const runUnlessRouted = async (
    request: IncomingRequest,
    best: Located,
    candidates: readonly Located[],
  ): Promise<MockResponse> => {
    for (const candidate of candidates) {
      const sent = await runPage(exchangeOf(request, candidate))
      if (sent !== undefined) return sent
    }
    return fitted(request, runUnrouted(exchangeOf(request, best), best.match))
  }

  return (request) => {
    const candidates = locate(request.url, request.method, bases())
    const [best] = candidates
    if (best === undefined) return undefined
    if (isPreflight(request)) return Promise.resolve(complete(preflightResponse(request)))
    const { match } = best
    return match.kind === 'route'
      ? runOperation(exchangeOf(request, best), match).then((sent) => fitted(request, sent))
      : runUnlessRouted(request, best, candidates)
  }
}
