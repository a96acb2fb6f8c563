import type { Area } from '../../src/contract/endpoint.ts'
import type { Sequence } from '../domain/paged-list.ts'
import { createBoundedList } from '../domain/paged-list.ts'
import type { Operation, OperationTarget } from './area.ts'
import { isOperation, unknownOperation } from './area.ts'
import type { Exchange, OperationExchange } from './exchange.ts'
import { fieldsOf } from './exchange.ts'
import type { FaultEffect, FaultKind } from './fault-schema.ts'
import type { Secrets } from './redact.ts'
import { pathWithoutSecrets, redactFields, redactJson, redactPath, withoutSecrets } from './redact.ts'
import type { Decision } from './respond.ts'
import type { Reply } from './response.ts'

/** A request that the mock received, and what it decided. It holds no secret. */
export interface LoggedRequest {
  /** Counts from 1, in the order in which requests were decided. */
  readonly number: number
  /** The mock's time. */
  readonly at: Date
  /** Which API it was sent to: `subscriptions` or `gateway`. */
  readonly area: Area
  /** Absent for a path or method that belongs to no operation. */
  readonly operation?: Operation
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Below the base URL, with its query. */
  readonly path: string
  /** The fields of the body, without secrets. */
  readonly body?: unknown
  /** Value of its Idempotency-Key header; absent without one. */
  readonly idempotencyKey?: string
  /** Absent when no answer was given. */
  readonly status?: number
  /** The answer's JSON, without secrets. */
  readonly answer?: unknown
  /** Whether the operation was carried out, whatever became of the answer. */
  readonly executed: boolean
  /** The rule that decided, in a word: `accepted`, `replayed`, a reason of refusal, `unknown-path`, `fault`, … */
  readonly decision: string
  /** Why, in words, and which option of the mock changes it. */
  readonly explanation: string
  /** For an unknown path: the route that is most like it. */
  readonly nearestRoute?: string
  /** Kind of the fault that met it; absent when none did. */
  readonly fault?: FaultKind
}

/** An entry as it is kept: bodies as text, so that readers get copies. */
export interface LogEntry extends Omit<LoggedRequest, 'number' | 'at' | 'body' | 'answer'> {
  readonly at: number
  /** JSON text. */
  readonly body: string | undefined
  readonly answer: string | undefined
}

/** What a mock received, the newest last. */
export interface RequestLog {
  /** Every request that is kept, oldest first: copies. */
  all(): readonly LoggedRequest[]
  /** The requests of one operation. Throws a TypeError for a name that is none. */
  of(operation: Operation): readonly LoggedRequest[]
  /** Forgets every request; the next one is number 1 again. */
  clear(): void
  /** How many entries were dropped because the log was full. */
  readonly dropped: number
}

/** The log as the mock keeps it. */
export interface WritableRequestLog extends RequestLog, Sequence<LoggedRequest> {
  write(entry: LogEntry): void
  /** The newest entry that matches, read as the others are: without secrets. */
  last(matches: (entry: LogEntry) => boolean): LoggedRequest | undefined
}

/** The value of a JSON text; a fault may have made it one that is not. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Keeps the last `size` requests. */
export const createRequestLog = (size: number, secrets: Secrets): WritableRequestLog => {
  const entries = createBoundedList<LogEntry>(size)

  /** Entries with their numbers: those from one place up to before another, all unless told. */
  const numbered = (from = entries.bounds().first, to = entries.bounds().end) =>
    entries.read(from, to).map((entry, index) => ({ number: from + index + 1, entry }))

  const read = ({ number, entry }: { readonly number: number; readonly entry: LogEntry }): LoggedRequest => {
    const { at, body, answer, path, explanation, idempotencyKey, ...rest } = entry
    const hide = (text: string): string => withoutSecrets(text, secrets)
    const parse = (text: string): unknown => parsed(hide(text))
    return {
      number,
      at: new Date(at),
      path: pathWithoutSecrets(path, secrets),
      ...rest,
      explanation: hide(explanation),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: hide(idempotencyKey) }),
      ...(body === undefined ? {} : { body: parse(body) }),
      ...(answer === undefined ? {} : { answer: parse(answer) }),
    }
  }

  return {
    all: () => numbered().map(read),
    of(operation) {
      if (!isOperation(operation)) throw unknownOperation(operation)
      return numbered()
        .filter(({ entry }) => entry.operation === operation)
        .map(read)
    },
    clear: entries.clear,
    get dropped() {
      return entries.dropped
    },
    write: entries.push,
    bounds: entries.bounds,
    read: (from, to) => numbered(Math.max(from, entries.bounds().first), to).map(read),
    last(matches) {
      const found = numbered().findLast(({ entry }) => matches(entry))
      return found === undefined ? undefined : read(found)
    },
  }
}

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

const told = ({ method, path, status, decision, explanation, at }: LoggedRequest): string => {
  const answer = status === undefined ? 'got no answer' : `was answered ${status}`
  return `${method} ${path} ${answer} (${decision}) at ${at.toISOString()}. ${explanation}`
}

/**
 * Says in words what became of the last request of an operation and why; for one that never arrived, which request may
 * have been meant for it. Throws a TypeError for a name that is no operation.
 */
export const explain = (
  log: WritableRequestLog,
  operation: Operation,
  routeOf: (operation: Operation) => string,
): string => {
  if (!isOperation(operation)) throw unknownOperation(operation)
  const last = log.last((entry) => entry.operation === operation)
  if (last !== undefined) return `${operation}: ${told(last)}`
  const route = routeOf(operation)
  const near = log.last((entry) => entry.nearestRoute === route)
  const hint = near === undefined ? '' : ` This may have been meant for it: ${told(near)}`
  return `${operation} (${route}): no such request has arrived.${hint}`
}
