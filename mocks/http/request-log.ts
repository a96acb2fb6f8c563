import type { Area } from '../../src/contract/endpoint.ts'
import { newRecent, recentList, type Sequence } from '../base/recent-list.ts'
import { machineNow } from '../time/machine.ts'
import { assertOperation, isOperation, type Operation } from './area.ts'
import { type Decision, type Exchange, fieldsOf } from './exchange.ts'
import type { FaultKind } from './fault-schema.ts'
import type { Secrets } from './redact.ts'
import {
  pathWithoutSecrets,
  redactFields,
  redactHeaders,
  redactJson,
  redactPath,
  withoutSecrets,
} from './redact.ts'
import type { ResponseData } from './response.ts'

/** A request that the mock received, and the mock's decision, without secrets. */
export interface LoggedRequest {
  /** Number of the request. The first logged request has number 1. */
  readonly number: number
  /** The time at which the mock logged the request, by the mock's clock. */
  readonly at: Date
  /** Real time from the arrival of the request to the mock's decision, in milliseconds. */
  readonly durationMs: number
  /** The API to which the request was sent: `subscriptions` or `gateway`. */
  readonly area: Area
  /** The requested operation; absent if no operation has this path and method. */
  readonly operation?: Operation
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** The path below the base URL, with the query. */
  readonly path: string
  /** Headers of the request, by their lowercase names. Values of headers that may contain a secret are replaced. */
  readonly headers: Readonly<Record<string, string>>
  /** The fields of the body, without secrets. */
  readonly body?: unknown
  /** Value of the Idempotency-Key header. */
  readonly idempotencyKey?: string
  /** Status of the response; absent if no response was sent. */
  readonly status?: number
  /** Headers of the response; absent if no response was sent. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The JSON of the response, without secrets. */
  readonly response?: unknown
  /** Whether the operation was executed, even if the response was lost. */
  readonly executed: boolean
  /** The decision: `accepted`, `replayed`, `fault`, the reason for a refusal, or a similar word. */
  readonly decision: string
  /** The reason for the decision, and the mock's option that would change the decision. */
  readonly explanation: string
  /** The most similar route, if the path is unknown or the method is wrong. */
  readonly nearestRoute?: string
  /** Kind of the fault that was applied. */
  readonly fault?: FaultKind
}

/** The requests that a mock received. */
export interface RequestLog {
  /** Returns copies of all requests in the log, oldest first. */
  all(): readonly LoggedRequest[]
  /** Returns the requests of one operation. Throws a TypeError for an unknown operation. */
  of(operation: Operation): readonly LoggedRequest[]
  /** Removes every request. The next request gets number 1. */
  clear(): void
  /** Number of entries that the log dropped because it was full. */
  readonly dropped: number
}

type StoredAsText = 'headers' | 'body' | 'responseHeaders' | 'response'

/** A stored entry. Headers and bodies are JSON text, so that users of the log cannot change what is stored. */
export interface LogEntry extends Omit<LoggedRequest, 'number' | 'at' | StoredAsText> {
  readonly at: number
  readonly headers: string
  readonly responseHeaders: string | undefined
  readonly body: string | undefined
  readonly response: string | undefined
}

/** The request log, with methods that only the mock uses. */
export interface WritableRequestLog extends RequestLog, Sequence<LoggedRequest> {
  write(entry: LogEntry): void
  /** Calls `listener` with each request that is logged from now on. */
  onWrite(listener: (request: LoggedRequest) => void): void
  /** Returns the newest entry for which `matches` returns true. */
  last(matches: (entry: LogEntry) => boolean): LoggedRequest | undefined
}

/** Parses JSON. Returns invalid JSON as text, because a fault may send invalid JSON. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The most characters of logged bodies and responses that the log keeps. */
const MAX_CHARACTERS = 16_000_000

const charactersOf = ({ path, headers, body = '', responseHeaders = '', response = '' }: LogEntry): number =>
  path.length + headers.length + body.length + responseHeaders.length + response.length

/** Creates a log of the last `size` requests, which keeps fewer if they are long. Its methods remove secrets from the entries that they return. */
export const createRequestLog = (size: number, secrets: Secrets): WritableRequestLog => {
  const list = newRecent<LogEntry>()
  const entries = recentList(size, () => list)
  const listeners: ((request: LoggedRequest) => void)[] = []
  let characters = 0

  const write = (entry: LogEntry): void => {
    characters += charactersOf(entry)
    let dropped = entries.push(entry)
    do {
      if (dropped !== undefined) characters -= charactersOf(dropped)
      dropped = characters > MAX_CHARACTERS ? entries.drop() : undefined
    } while (dropped !== undefined)
    for (const listener of listeners) listener(read(entry, entries.bounds().end))
  }

  const read = (entry: LogEntry, number: number): LoggedRequest => {
    const { at, headers, body, responseHeaders, response, path, explanation, idempotencyKey, ...rest } = entry
    const hide = (text: string): string => withoutSecrets(text, secrets)
    return {
      number,
      at: new Date(at),
      path: pathWithoutSecrets(path, secrets),
      ...rest,
      explanation: hide(explanation),
      headers: JSON.parse(hide(headers)),
      ...(responseHeaders === undefined ? {} : { responseHeaders: JSON.parse(hide(responseHeaders)) }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey: hide(idempotencyKey) }),
      ...(body === undefined ? {} : { body: parsed(hide(body)) }),
      ...(response === undefined ? {} : { response: parsed(hide(response)) }),
    }
  }

  /** Returns the entries from `first` to `end - 1` for which `matches` returns true. */
  const readAll = (
    matches: (entry: LogEntry) => boolean = () => true,
    { first, end } = entries.bounds(),
  ): readonly LoggedRequest[] =>
    entries
      .read(first, end)
      .flatMap((entry, index) => (matches(entry) ? [read(entry, first + index + 1)] : []))

  return {
    all: () => readAll(),
    of(operation) {
      assertOperation(operation)
      return readAll((entry) => entry.operation === operation)
    },
    clear() {
      entries.clear()
      characters = 0
    },
    get dropped() {
      return entries.dropped
    },
    write,
    onWrite: (listener) => void listeners.push(listener),
    bounds: entries.bounds,
    read: (from, to) => readAll(undefined, { first: Math.max(from, entries.bounds().first), end: to }),
    last(matches) {
      const kept = entries.all()
      const index = kept.findLastIndex(matches)
      const entry = kept[index]
      return entry && read(entry, entries.dropped + index + 1)
    },
  }
}

/** The part of a decision that the log shows. */
export interface LoggedDecision extends Omit<Decision, 'response'> {
  readonly fault?: FaultKind
  readonly nearestRoute?: string
}

/**
 * Returns the log entry of a request. Only a request to an operation is logged with its body. The body of a form that
 * was sent to a payer's page is omitted, because it may contain a one-time code.
 *
 * @param response the response; absent if no response was sent
 */
export const entryOf = (
  exchange: Exchange,
  at: number,
  { executed, rule, explanation, fault, nearestRoute }: LoggedDecision,
  response?: ResponseData,
): LogEntry => {
  const { area, request, path, query, target } = exchange
  const operation = target?.definition.operation ?? ''
  const fields = fieldsOf(exchange)
  const isJson = exchange.body !== undefined && response?.headers['Content-Type'] === 'application/json'
  return {
    at,
    durationMs: machineNow() - exchange.receivedAt,
    area: area.name,
    method: request.method,
    path: redactPath(query === '' ? path : `${path}?${query}`),
    ...(isOperation(operation) ? { operation } : {}),
    headers: redactHeaders(request.headers),
    body: Object.keys(fields).length === 0 ? undefined : redactFields(fields),
    ...(exchange.idempotencyKey === undefined ? {} : { idempotencyKey: exchange.idempotencyKey }),
    ...(response === undefined ? {} : { status: response.status }),
    responseHeaders: response && redactHeaders(Object.entries(response.headers)),
    response: isJson ? redactJson(response.body) : undefined,
    executed,
    decision: rule,
    explanation,
    ...(fault === undefined ? {} : { fault }),
    ...(nearestRoute === undefined ? {} : { nearestRoute }),
  }
}

const sentence = ({ method, path, status, decision, explanation, at }: LoggedRequest): string => {
  const response = status === undefined ? 'got no response' : `got status ${status}`
  return `${method} ${path} ${response} (${decision}) at ${at.toISOString()}. ${explanation}`
}

/**
 * Explains how the mock decided on the last request of an operation. If the log has no such request, the text names
 * a request with a wrong path or method that was probably meant for the operation. Throws a TypeError for an unknown
 * operation.
 */
export const explain = (
  log: WritableRequestLog,
  operation: Operation,
  routeOf: (operation: Operation) => string,
): string => {
  assertOperation(operation)
  const last = log.last((entry) => entry.operation === operation)
  if (last !== undefined) return `${operation}: ${sentence(last)}`
  const route = routeOf(operation)
  const near = log.last((entry) => entry.nearestRoute === route)
  const hint = near === undefined ? '' : ` This request was probably meant for it: ${sentence(near)}`
  return `${operation} (${route}): no such request has arrived.${hint}`
}
