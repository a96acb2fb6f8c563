import type { Refusal } from '../domain/result.ts'
import type { LimitState } from './area.ts'
import { type Exchange, fieldsOf, isAcceptedType, type OperationExchange } from './exchange.ts'
import type { HeaderFields, ResponseData } from './response.ts'

/** The response to a request, and the rule that caused the response. */
export interface Decision {
  readonly response: ResponseData
  /** Whether the mock executed the operation. */
  readonly executed: boolean
  /** The name of the rule. */
  readonly rule: string
  /** The reason for the decision, in sentences. */
  readonly explanation: string
}

/** Counts a call against the area's rate limit, unless `counts` is false. Returns the response's rate-limit headers. */
export const countCall = (
  exchange: Exchange | OperationExchange,
  counts = true,
): { readonly headers: HeaderFields; readonly state?: LimitState } => {
  const { area, bearer, target } = exchange
  if (area.limiter === undefined) return { headers: {} }
  const fields = fieldsOf('body' in exchange ? exchange.body : undefined)
  const state = area.limiter.take(area.bucket(bearer, target?.definition, fields), counts)
  return { headers: area.limitHeaders(state), state }
}

/** Rejects a request for a reason outside its operation, for example because the body is malformed. */
export const failed = (
  { area }: Exchange,
  status: number,
  { rule, message, explanation = message }: { rule: string; message: string; explanation?: string },
  headers: HeaderFields,
): Decision => ({
  response: area.responses.failure(status, message, headers),
  executed: false,
  rule,
  explanation,
})

const refused = ({ area }: Exchange, refusal: Refusal, headers: HeaderFields): Decision => ({
  response: area.responses.refusal(refusal, headers),
  executed: false,
  rule: refusal.reason,
  explanation: [refusal.message, refusal.field && `Field: ${refusal.field}.`, refusal.explanation]
    .filter(Boolean)
    .join(' '),
})

const KEY_IN_USE: Refusal = {
  reason: 'idempotency_key_in_use',
  message: 'A request with this Idempotency-Key is still running.',
  explanation: 'Option gateway.keyInFlight is "conflict".',
}

/** Checks the Content-Type and the body. Returns the rejection of the request, or `undefined` if both are valid. */
const bodyProblem = (exchange: OperationExchange, headers: HeaderFields): Decision | undefined => {
  const { area, target, body, contentType } = exchange
  const [unknown] = Object.keys(fieldsOf(body))
  const hasBody = !body.ok || unknown !== undefined
  if (area.checksContentType && hasBody && !isAcceptedType(exchange)) {
    const message = 'The Content-Type is not supported.'
    const explanation = `The Content-Type is ${contentType ?? 'missing'}. Option ${area.name}.contentType is "json".`
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

/**
 * Authenticates the caller, looks up the idempotency key, checks Content-Type and body, and executes the operation.
 * If the key was used before, returns the original result without checking Content-Type and body (G rule 1).
 */
const execute = (exchange: OperationExchange, headers: HeaderFields, isKeyRunning: boolean): Decision => {
  const { area, target, parameters, query, idempotencyKey = '', bearer, body } = exchange
  const call = { parameters, query, fields: fieldsOf(body), idempotencyKey }
  const admitted = area.admit(target, bearer, call)
  if (!admitted.ok) return refused(exchange, admitted.refusal, headers)
  if (isKeyRunning) return refused(exchange, KEY_IN_USE, headers)
  const { original, execute: run } = admitted.value
  const problem = original === undefined ? bodyProblem(exchange, headers) : undefined
  if (problem !== undefined) return problem
  const result = original ?? run()
  if (!result.ok) return refused(exchange, result.refusal, headers)
  const { replayed = false, explanation } = result.value
  const reason = replayed
    ? 'The Idempotency-Key was used before. This is the original response, and nothing was executed.'
    : 'The operation was executed.'
  return {
    response: area.responses.success(target.definition, result.value, headers),
    executed: !replayed,
    rule: replayed ? 'replayed' : 'accepted',
    explanation: [reason, explanation].filter(Boolean).join(' '),
  }
}

/** Responds with 503 during an outage, with 429 above the rate limit, and otherwise with the result of `next`. */
export const decideWithinLimit = (
  exchange: Exchange | OperationExchange,
  next: (headers: HeaderFields) => Decision,
): Decision => {
  const { area } = exchange
  const isDown = area.isDown()
  const { headers, state } = countCall(exchange, !isDown)
  if (isDown) {
    const message = 'The service is unavailable.'
    return failed(exchange, 503, { rule: 'outage', message, explanation: 'An outage was started.' }, headers)
  }
  if (state?.allowed !== false) return next(headers)
  return refused(
    exchange,
    {
      reason: 'rate_limited',
      message: 'Too many requests.',
      explanation: `Option ${area.name}.rateLimit allows ${state.limit} calls per window.`,
    },
    { ...headers, ...area.refusalHeaders(state) },
  )
}

/**
 * Decides the response. Checks rate limit, route, authentication, idempotency key, Content-Type, body and state, in
 * this order (row 5).
 *
 * @param isKeyRunning true if an earlier request with the same key still runs, so this request is refused (row 73a)
 */
export const decide = (exchange: OperationExchange, isKeyRunning: boolean): Decision =>
  decideWithinLimit(exchange, (headers) => {
    try {
      return execute(exchange, headers, isKeyRunning)
    } catch (error) {
      const cause = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
      const message = 'An internal error occurred.'
      const explanation = `The mock failed: ${cause}.`
      return failed(exchange, 500, { rule: 'internal-error', message, explanation }, headers)
    }
  })
