import type { Headers } from './area.ts'
import type { OperationExchange } from './exchange.ts'
import type { FaultEffect } from './fault-schema.ts'
import type { Decision } from './respond.ts'
import { count } from './respond.ts'
import type { Answer, Reply } from './response.ts'
import { jsonAnswer, mayHaveBody, replyWith } from './response.ts'

const PROXY_PAGE =
  '<!doctype html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n'
const CUT_JSON = '{"status": "ok", '

const retryAfter = ({ retryAfter: value }: FaultEffect, otherwise: Headers): Headers => {
  if (value === undefined) return otherwise
  return value === false ? {} : { 'Retry-After': String(value) }
}

const textOr = (body: unknown, otherwise: string): string => {
  if (body === undefined) return otherwise
  return typeof body === 'string' ? body : JSON.stringify(body)
}

const statusAnswer = (exchange: OperationExchange, effect: FaultEffect, headers: Headers): Answer => {
  const { status = 500, body } = effect
  const all = { ...headers, ...retryAfter(effect, {}), ...effect.headers }
  if (body === undefined) return exchange.area.answers.failure(status, 'The request failed.', all)
  return typeof body === 'string'
    ? { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...all }, body }
    : jsonAnswer(status, body, all)
}

const limited = (exchange: OperationExchange, effect: FaultEffect, headers: Headers): Answer => {
  const isGateway = exchange.area.name === 'gateway'
  const exhausted = 'X-RateLimit-Remaining' in headers ? { 'X-RateLimit-Remaining': '0' } : {}
  return exchange.area.answers.failure(429, 'Too many requests.', {
    ...headers,
    ...exhausted,
    ...retryAfter(effect, isGateway ? { 'Retry-After': '1' } : {}),
    ...effect.headers,
  })
}

/** The answer of a fault that answers itself. */
const ownAnswer = (exchange: OperationExchange, effect: FaultEffect, headers: Headers): Answer => {
  const success = exchange.target.definition.status
  const all = { ...headers, ...effect.headers }
  switch (effect.kind) {
    case 'html':
      return {
        status: effect.status ?? 502,
        headers: { 'Content-Type': 'text/html; charset=utf-8', ...all },
        body: textOr(effect.body, PROXY_PAGE),
      }
    case 'empty':
      return { status: effect.status ?? success, headers: all, body: '' }
    case 'malformed':
      return {
        status: effect.status ?? success,
        headers: { 'Content-Type': 'application/json', ...all },
        body: textOr(effect.body, CUT_JSON),
      }
    case 'rate-limit':
      return limited(exchange, effect, headers)
    default:
      return statusAnswer(exchange, effect, headers)
  }
}

const truncated = ({ answer }: Decision): Reply => {
  if (answer.body === '' || !mayHaveBody(answer.status)) return { kind: 'closed', code: 'UND_ERR_SOCKET' }
  return { kind: 'truncated', answer, part: answer.body.slice(0, Math.ceil(answer.body.length / 2)) }
}

/**
 * What a fault makes of a request.
 *
 * @param decision the mock's own decision, when the request was executed
 */
export const disturb = (
  exchange: OperationExchange,
  effect: FaultEffect,
  decision: Decision | undefined,
): Reply => {
  switch (effect.kind) {
    case 'reset':
      return { kind: 'closed', code: effect.code ?? 'ECONNRESET' }
    case 'lost-response':
      return { kind: 'closed', code: effect.code ?? 'UND_ERR_SOCKET' }
    case 'timeout':
      return { kind: 'silence' }
    case 'truncated':
      return decision === undefined ? { kind: 'closed', code: 'UND_ERR_SOCKET' } : truncated(decision)
    default: {
      // An executed request was counted already.
      const headers = decision === undefined ? count(exchange).headers : limitHeadersOf(decision)
      return replyWith(ownAnswer(exchange, effect, headers))
    }
  }
}

const limitHeadersOf = ({ answer }: Decision): Headers =>
  Object.fromEntries(Object.entries(answer.headers).filter(([name]) => name.startsWith('X-RateLimit-')))
