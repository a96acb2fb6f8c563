import type { Reply } from './answer.ts'
import type { OperationTarget } from './area.ts'
import type { Decision } from './decide.ts'
import type { Exchange, OperationExchange } from './exchange.ts'
import { fieldsOf } from './exchange.ts'
import type { FaultEffect } from './fault-types.ts'
import { isOperation } from './operations.ts'
import { redactFields, redactJson, redactPath } from './redaction.ts'
import type { LogEntry, WritableRequestLog } from './request-log.ts'

const pathOf = ({ path, query }: Exchange): string => redactPath(query === '' ? path : `${path}?${query}`)

const common = (exchange: Exchange, at: number) => ({
  at,
  area: exchange.area.name,
  method: exchange.request.method,
  path: pathOf(exchange),
})

const operationOf = (exchange: Exchange | OperationExchange): Partial<LogEntry> => {
  const operation = 'target' in exchange ? exchange.target.definition.operation : ''
  return isOperation(operation) ? { operation } : {}
}

const bodyOf = ({ body }: OperationExchange): string | undefined => {
  const fields = fieldsOf(body)
  return Object.keys(fields).length === 0 ? undefined : redactFields(fields)
}

const isJson = (reply: Extract<Reply, { kind: 'answer' | 'truncated' }>): boolean =>
  reply.answer.headers['Content-Type'] === 'application/json'

const explained = (effect: FaultEffect, decision: Decision | undefined): string => {
  const executed =
    decision === undefined ? 'It was not executed.' : `It was decided as "${decision.decision}" all the same.`
  return `A fault of the test, kind "${effect.kind}", met the request. ${executed}`
}

/** Logs a request of an operation, after its reply is known. */
export const writeOperation = (
  log: WritableRequestLog,
  exchange: OperationExchange,
  facts: {
    readonly decision: Decision | undefined
    readonly effect: FaultEffect | undefined
    readonly reply: Reply
    readonly at: number
  },
): void => {
  const { decision, effect, reply, at } = facts
  const answered = reply.kind === 'answer' || reply.kind === 'truncated' ? reply : undefined
  const { idempotencyKey } = exchange
  log.write({
    ...common(exchange, at),
    ...operationOf(exchange),
    body: bodyOf(exchange),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(answered === undefined ? {} : { status: answered.answer.status }),
    answer: answered !== undefined && isJson(answered) ? redactJson(answered.answer.body) : undefined,
    executed: decision?.executed ?? false,
    decision: effect === undefined ? (decision?.decision ?? '') : 'fault',
    explanation: effect === undefined ? (decision?.explanation ?? '') : explained(effect, decision),
    ...(effect === undefined ? {} : { fault: effect.kind }),
  })
}

/** Logs a request whose sender left before anything was decided. */
export const writeLost = (log: WritableRequestLog, exchange: Exchange, at: number): void =>
  log.write({
    ...common(exchange, at),
    ...operationOf(exchange),
    body: undefined,
    answer: undefined,
    executed: false,
    decision: 'aborted',
    explanation: 'The sender broke off before the request was decided. It was not executed.',
  })

/** Logs a request whose body was too large to be read. */
export const writeTooLarge = (
  log: WritableRequestLog,
  exchange: Exchange,
  target: OperationTarget,
  facts: { readonly message: string; readonly status: number; readonly at: number },
): void => {
  const { operation } = target.definition
  log.write({
    ...common(exchange, facts.at),
    ...(isOperation(operation) ? { operation } : {}),
    body: undefined,
    answer: undefined,
    status: facts.status,
    executed: false,
    decision: 'body-too-large',
    explanation: `${facts.message} Option maxBodyBytes of startMockServer says how large it may be.`,
  })
}

/** Logs a request that no operation has. Its body is not kept: nobody knows what it holds. */
export const writeUnrouted = (
  log: WritableRequestLog,
  exchange: Exchange,
  facts: {
    readonly allow: string | undefined
    readonly nearest: string | undefined
    readonly status: number
    readonly at: number
  },
): void => {
  const { allow, nearest, status, at } = facts
  log.write({
    ...common(exchange, at),
    body: undefined,
    answer: undefined,
    status,
    executed: false,
    decision: allow === undefined ? 'unknown-path' : 'wrong-method',
    explanation:
      allow === undefined
        ? `No operation has this path. The nearest is ${nearest ?? 'none'}.`
        : `The path exists for ${allow} alone.`,
    ...(nearest === undefined ? {} : { nearestRoute: nearest }),
  })
}

/** Logs what a payer did at a hosted page. The form is not kept: it may hold a code. */
export const writePage = (log: WritableRequestLog, exchange: Exchange, status: number, at: number): void =>
  log.write({
    ...common(exchange, at),
    body: undefined,
    answer: undefined,
    status,
    executed: exchange.request.method === 'POST' && status < 400,
    decision: 'page',
    explanation: 'A hosted page answered.',
  })
