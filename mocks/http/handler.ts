import type { Area } from '../../src/contract/endpoint.ts'
import { delayAnswer } from '../domain/machine-time.ts'
import { disturb } from './apply-fault.ts'
import type { OperationTarget } from './area.ts'
import type { Exchange, OperationExchange } from './exchange.ts'
import { BodyTooLargeError, bearerOf, receive } from './exchange.ts'
import type { FaultEffect } from './fault-schema.ts'
import { executesByDefault } from './fault-schema.ts'
import type { FaultPlan } from './faults.ts'
import type { Base, Located } from './locate.ts'
import { locate, nearestRoute } from './locate.ts'
import type { WritableRequestLog } from './request-log.ts'
import { writeLost, writeOperation, writePage, writeTooLarge, writeUnrouted } from './request-log.ts'
import type { Decision } from './respond.ts'
import { countCall, decide } from './respond.ts'
import type { Answer, IncomingRequest, Reply } from './response.ts'
import { isPreflight, preflightAnswer, replyWith, withCors } from './response.ts'

/** Answers the hosted pages; `undefined` for a path that is no page. */
export type PageHandler = (area: Area, request: IncomingRequest, path: string) => Promise<Answer | undefined>

/** What the mock's HTTP core stands on. */
export interface HandlerParts {
  /** The bases under which the areas answer now. */
  readonly bases: () => readonly Base[]
  readonly faults: FaultPlan
  readonly log: WritableRequestLog
  readonly now: () => number
  readonly pages: PageHandler
}

/** The mock's core: what it replies to a request; `undefined` for one that lies under no base of the mock. */
export type Handler = (request: IncomingRequest) => Promise<Reply> | undefined

const SILENCE: Reply = { kind: 'silence' }
/** Nobody reads it over a socket; a caller in this process whose body broke learns that the call has failed. */
const BROKEN_OFF: Reply = { kind: 'closed', code: 'ECONNRESET' }

const exchangeOf = (request: IncomingRequest, { area, path, query }: Located): Exchange => ({
  request,
  area,
  path,
  query,
  bearer: bearerOf(request),
})

const hasLeft = (request: IncomingRequest): boolean =>
  request.hasLeft === undefined ? request.signal?.aborted === true : request.hasLeft()

const withoutBody = (answer: Answer): Answer => ({ ...answer, body: '' })

const finished = (request: IncomingRequest, reply: Reply): Reply => {
  if (reply.kind !== 'answer' && reply.kind !== 'truncated') return reply
  const origin = request.headers.get('origin')
  const isHead = request.method === 'HEAD'
  if (origin === null && !isHead) return reply
  // There is no body that could be cut short.
  if (isHead && reply.kind === 'truncated') return { kind: 'closed', code: 'UND_ERR_SOCKET' }
  const answer = withCors(isHead ? withoutBody(reply.answer) : reply.answer, origin)
  return { ...reply, answer }
}

/** What the mock decides, when it decides, and what a fault makes of it. */
const outcomeOf = (
  exchange: OperationExchange,
  effect: FaultEffect | undefined,
): { readonly decision: Decision | undefined; readonly reply: Reply } => {
  if (effect === undefined) {
    const decision = decide(exchange)
    return { decision, reply: replyWith(decision.answer) }
  }
  const executes = effect.executed ?? executesByDefault(effect.kind)
  const decision = executes ? decide(exchange) : undefined
  return { decision, reply: disturb(exchange, effect, decision) }
}

/** Builds the core. It starts no timer unless a fault asks for latency. */
export const createHandler = (parts: HandlerParts): Handler => {
  const { faults, log, now } = parts

  /** Received, decided and logged without a pause in between: calls in parallel are decided one after the other. */
  const runOperation = async (exchange: OperationExchange): Promise<Reply> => {
    const { request, target } = exchange
    const disturbance = faults.take(target.definition.operation)
    if (disturbance !== undefined && disturbance.delayBefore > 0) {
      await delayAnswer(disturbance.delayBefore, request.signal)
      if (hasLeft(request)) {
        writeLost(log, exchange, now())
        return SILENCE
      }
    }
    const effect = disturbance?.effect
    const { decision, reply } = outcomeOf(exchange, effect)
    writeOperation(log, exchange, { decision, effect, reply, at: now() })
    if (disturbance !== undefined && disturbance.delayAfter > 0) {
      await delayAnswer(disturbance.delayAfter, request.signal)
    }
    return reply
  }

  const unrouted = (exchange: Exchange, allow: string | undefined): Reply => {
    const { area, request, path } = exchange
    const { headers } = countCall(exchange, undefined)
    const answer =
      allow === undefined
        ? area.answers.failure(404, 'There is no such path.', headers)
        : area.answers.failure(405, 'The method is not allowed.', { ...headers, Allow: allow })
    writeUnrouted(log, exchange, {
      allow,
      status: answer.status,
      at: now(),
      nearest: nearestRoute(path, request.method, area.router.routes)?.route,
    })
    return replyWith(answer)
  }

  const runUnrouted = async (
    request: IncomingRequest,
    best: Located,
    candidates: readonly Located[],
  ): Promise<Reply> => {
    for (const located of candidates) {
      const page = await parts.pages(located.area.name, request, located.path)
      if (page === undefined) continue
      writePage(log, exchangeOf(request, located), page.status, now())
      return replyWith(page)
    }
    const { match } = best
    const allow = match.kind === 'other-method' ? match.allow : undefined
    return finished(request, unrouted(exchangeOf(request, best), allow))
  }

  const refuseBody = (exchange: Exchange, target: OperationTarget, { message }: Error): Reply => {
    const { headers } = countCall(exchange, target.definition)
    const answer = exchange.area.answers.failure(413, message, headers)
    writeTooLarge(log, exchange, target, { message, status: answer.status, at: now() })
    return replyWith(answer)
  }

  const runRouted = async (
    exchange: Exchange,
    match: Extract<Located['match'], { kind: 'route' }>,
  ): Promise<Reply> => {
    const { request } = exchange
    let received: OperationExchange
    try {
      received = await receive(exchange, match.target, match.parameters)
    } catch (error) {
      if (error instanceof BodyTooLargeError)
        return finished(request, refuseBody(exchange, match.target, error))
      // The sender broke off while its body was on the way: there is nothing to execute.
      writeLost(log, exchange, now())
      return BROKEN_OFF
    }
    if (hasLeft(request)) {
      writeLost(log, exchange, now())
      return SILENCE
    }
    return finished(request, await runOperation(received))
  }

  return (request) => {
    const candidates = locate(request.url, request.method, parts.bases())
    const [best] = candidates
    if (best === undefined) return undefined
    if (isPreflight(request)) return Promise.resolve(replyWith(preflightAnswer(request)))
    if (best.match.kind !== 'route') return runUnrouted(request, best, candidates)
    return runRouted(exchangeOf(request, best), best.match)
  }
}
