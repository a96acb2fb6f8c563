import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { Refusal } from '../domain/result.ts'
import type { AdmittedRequest, Headers, LimitState } from './area.ts'
import type { Exchange, OperationExchange } from './exchange.ts'
import { fieldsOf, isAcceptedType, readsForm } from './exchange.ts'
import type { Answer } from './response.ts'

/** The answer to a request, and the rule that led to it. */
export interface Decision {
  readonly answer: Answer
  /** Whether the operation was carried out. */
  readonly executed: boolean
  /** The rule, in a word. */
  readonly decision: string
  /** Why, in words. */
  readonly explanation: string
}

/** Headers that every answer of the moment carries, and what the limiter says. */
export interface Counted {
  readonly headers: Headers
  readonly state: LimitState | undefined
}

const UNLIMITED: Counted = { headers: {}, state: undefined }

/** Counts a call in its area's limiter; of one whose body was not read, `fields` are none. */
export const countCall = (
  { area, bearer }: Exchange,
  definition: EndpointDefinition | undefined,
  fields: AdmittedRequest['fields'] = {},
): Counted => {
  if (area.limiter === undefined) return UNLIMITED
  const state = area.limiter.take(area.bucket(bearer, definition, fields))
  return { headers: area.limitHeaders(state), state }
}

/** Counts a call of an operation in its area's limiter. */
export const count = (exchange: OperationExchange): Counted =>
  countCall(exchange, exchange.target.definition, fieldsOf(exchange.body))

const refusedBy = (exchange: OperationExchange, refusal: Refusal, headers: Headers): Decision => ({
  answer: exchange.area.answers.refusal(refusal, headers),
  executed: false,
  decision: refusal.reason,
  explanation: [refusal.message, refusal.field && `Field: ${refusal.field}.`, refusal.explanation]
    .filter(Boolean)
    .join(' '),
})

const failedBy = (
  exchange: OperationExchange,
  status: number,
  rule: { readonly decision: string; readonly message: string; readonly explanation?: string },
  headers: Headers,
): Decision => ({
  answer: exchange.area.answers.failure(status, rule.message, headers),
  executed: false,
  decision: rule.decision,
  explanation: rule.explanation ?? rule.message,
})

const carryOut = (exchange: OperationExchange, headers: Headers): Decision => {
  const { area, target, parameters, query, idempotencyKey, bearer, body, contentType } = exchange
  const { definition } = target
  const admitted = target.admit(bearer)
  if (!admitted.ok) return refusedBy(exchange, admitted.refusal, headers)
  if (definition.idempotencyKey && (idempotencyKey ?? '').trim() === '') {
    return refusedBy(
      exchange,
      { reason: 'missing_idempotency_key', message: 'The Idempotency-Key header is required.' },
      headers,
    )
  }
  const hasBody = !body.ok || Object.keys(body.fields).length > 0
  if (area.checksContentType && hasBody && !isAcceptedType(contentType, readsForm(target))) {
    return failedBy(
      exchange,
      415,
      {
        decision: 'content-type',
        message: 'The Content-Type is not supported.',
        explanation: `Option ${area.name}.contentType is "json".`,
      },
      headers,
    )
  }
  if (!body.ok) {
    return failedBy(exchange, 400, { decision: 'malformed-body', message: body.problem }, headers)
  }
  const [unknown] = definition.request === undefined ? Object.keys(body.fields) : []
  if (area.refusesUnknownFields && unknown !== undefined) {
    return refusedBy(
      exchange,
      {
        reason: 'invalid',
        message: 'The request has a field that is not known.',
        field: unknown,
        explanation: `Option ${area.name}.unknownFields is "refuse".`,
      },
      headers,
    )
  }
  const result = admitted.value({ parameters, query, fields: body.fields, idempotencyKey })
  if (!result.ok) return refusedBy(exchange, result.refusal, headers)
  const replayed = result.value.replayed === true
  return {
    answer: area.answers.success(definition, result.value, headers),
    executed: !replayed,
    decision: replayed ? 'replayed' : 'accepted',
    explanation: replayed
      ? 'The Idempotency-Key had been used: the first answer again, nothing new.'
      : 'The operation was carried out.',
  }
}

const internalError = (exchange: OperationExchange, error: unknown, headers: Headers): Decision =>
  failedBy(
    exchange,
    500,
    {
      decision: 'internal-error',
      message: 'An internal error occurred.',
      explanation: `The mock failed: ${error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'}.`,
    },
    headers,
  )

/**
 * Decides a request whose operation is known, in the order rate limit, authentication, headers, body, state (row 5).
 * A request that is refused changes nothing but the limiter.
 */
export const decide = (exchange: OperationExchange): Decision => {
  const { area } = exchange
  if (area.isDown()) {
    return failedBy(
      exchange,
      503,
      { decision: 'outage', message: 'The service is unavailable.', explanation: 'An outage was started.' },
      {},
    )
  }
  const { headers, state } = count(exchange)
  if (state?.allowed === false) {
    return refusedBy(
      exchange,
      {
        reason: 'rate_limited',
        message: 'Too many requests.',
        explanation: `Option ${area.name}.rateLimit allows ${state.limit} calls in its window.`,
      },
      { ...headers, ...area.refusalHeaders(state) },
    )
  }
  try {
    return carryOut(exchange, headers)
  } catch (error) {
    return internalError(exchange, error, headers)
  }
}
