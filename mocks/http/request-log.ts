import type { Area } from '../../src/contract/endpoint.ts'
import { newRecent, recentList, type Sequence } from '../base/recent-list.ts'
import { attempt } from '../base/result.ts'
import { machineNow } from '../time/machine.ts'
import { assertOperation, type Exchange, isOperation, type Operation } from './area.ts'
import type { FaultKind } from './fault-schema.ts'
import { NO_FIELDS, type ResponseData } from './message.ts'
import type { Secrets } from './redact.ts'
import {
  jsonWithoutSecrets,
  pathWithoutSecrets,
  redactFields,
  redactHeaders,
  redactJson,
  redactPath,
  withoutSecrets,
} from './redact.ts'
import { nearestRoute } from './routes.ts'

/** A request that the mock received, and the mock's decision, without secrets. */
export interface LoggedRequest {
  /** Number of the request. The first logged request has number 1. */
  readonly number: number
  /** When the mock logged the request, by its clock. */
  readonly at: Date
  /** Real time until the response, in milliseconds, with the delay of a fault. */
  readonly durationMs: number
  /** The requested API: `subscriptions` or `gateway`. */
  readonly area: Area
  /** The requested operation; absent if no operation has this path and method. */
  readonly operation?: Operation
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** The path below the base URL, with the query. */
  readonly path: string
  /** Headers of the request, by their lowercase names. Values that may be secret are replaced. */
  readonly headers: Readonly<Record<string, string>>
  /** The fields of the body, without secrets. */
  readonly body?: unknown
  /** The Idempotency-Key header. */
  readonly idempotencyKey?: string
  /** Identifier of what the request created or names, even without a response. */
  readonly objectId?: string
  /** Status of the response; absent if no response was sent. */
  readonly status?: number
  /** Headers of the response; absent if no response was sent. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The JSON of the response, without secrets. */
  readonly response?: unknown
  /** Whether the operation was executed, even if the response was lost. */
  readonly executed: boolean
  /** The decision, such as `accepted`, `replayed`, `fault`, or the reason for a refusal. */
  readonly decision: string
  /** The reason for the decision, and the mock's option that would change it. */
  readonly explanation: string
  /** The most similar route; present if the path is unknown or the method is wrong. */
  readonly nearestRoute?: string
  /** Kind of the applied fault. */
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

/** The decision about a request. */
export interface Decision {
  /** Whether the mock executed the operation. */
  readonly executed: boolean
  /** The name of the rule that caused the decision. */
  readonly rule: string
  /** The reason for the decision, in sentences. */
  readonly explanation: string
  readonly fault?: FaultKind | undefined
  /** Identifier of the object in a response that a fault replaced. */
  readonly objectId?: string | undefined
  /** How long a fault delays the response after the decision, in milliseconds. */
  readonly delayAfter?: number
}

/** A decision, and the response that the mock sends if no fault replaces it. */
export interface Decided extends Decision {
  readonly response: ResponseData
}

/**
 * A stored entry: what was received and sent, with its secrets. `read` removes the secrets, because most entries are
 * never read.
 */
interface LogEntry extends Pick<Exchange, 'path' | 'query' | 'idempotencyKey' | 'body'> {
  readonly at: number
  readonly durationMs: number
  readonly area: Area
  readonly method: string
  readonly operation: string | undefined
  /** The identifier in the path. */
  readonly named: string | undefined
  /**
   * The names and values of the request's headers, one a line. They are one text, because the request itself would
   * keep its body or its connection, and an object takes more time and memory.
   */
  readonly headers: string
  readonly decision: Decision
  readonly response: ResponseData | undefined
  readonly nearestRoute: string | undefined
}

/** The request log, with methods that only the mock uses. */
export interface WritableRequestLog extends RequestLog, Sequence<LoggedRequest> {
  /** Logs a request at the time `at`. `response` is absent if no response was sent. */
  write(at: number, exchange: Exchange, decision: Decision, response?: ResponseData): void
  /** Calls `listener` with each request that is logged from now on. */
  onWrite(listener: (request: LoggedRequest) => void): void
  /** Returns the newest entry for which `matches` returns true. */
  last(matches: (entry: LogEntry) => boolean): LoggedRequest | undefined
}

// No header contains a line break.
const linesOf = (headers: Exchange['request']['headers']): string => {
  const lines: string[] = []
  headers.forEach((value, name) => void lines.push(name, value))
  return lines.join('\n')
}

const headersOf = (text: string): Record<string, string> => {
  const lines = text.split('\n')
  const pairs = lines.flatMap((name, at) => (at % 2 === 0 && name !== '' ? [[name, lines[at + 1]]] : []))
  return Object.fromEntries(pairs)
}

/** Parses JSON. Returns invalid JSON as text, because a fault may send invalid JSON. */
const parsed = (text: string): unknown => attempt<unknown>(() => JSON.parse(text), text)

/** The most characters of logged bodies and responses that the log keeps. */
const MAX_CHARACTERS = 16_000_000
/** Of a longer body or response, the log keeps only the length. */
const MAX_BODY_CHARACTERS = 65_536

const omitted = (characters: number): string => `[${characters} characters, not kept]`

/** Returns about how many characters an entry keeps. */
const sizeOf = ({ path, query, headers, body, response }: LogEntry): number =>
  path.length +
  query.length +
  headers.length +
  (body?.ok && body.characters <= MAX_BODY_CHARACTERS ? body.characters : 0) +
  (response?.body.length ?? 0)

/** Returns a logged body as JSON text without secret fields, or `undefined` if it has no fields. */
const bodyText = ({ body }: LogEntry): string | undefined => {
  if (body?.ok !== true) return undefined
  if (body.characters > MAX_BODY_CHARACTERS) return JSON.stringify(omitted(body.characters))
  return Object.keys(body.fields).length === 0 ? undefined : redactFields(body.fields)
}

/** Returns a logged response as text; `undefined` for a response to a payer or to an unknown path. */
const responseText = ({ body, response }: LogEntry): string | undefined => {
  if (body === undefined || response?.headers['Content-Type'] !== 'application/json') return undefined
  return response.body === '' ? undefined : redactJson(response.body)
}

/** Returns the identifier of the charge or subscription that a response has, if it has any. */
export const objectIn = (response: unknown): string | undefined => {
  const { id, invoiceID = id } = Object(response)
  return typeof invoiceID === 'string' ? invoiceID : undefined
}

/** Creates a log of the last `size` requests, which keeps fewer if they are long. */
export const createRequestLog = (size: number, secrets: Secrets): WritableRequestLog => {
  const list = newRecent<LogEntry>()
  const entries = recentList(size, () => list)
  const listeners: ((request: LoggedRequest) => void)[] = []
  let characters = 0

  const hide = (text: string): string => withoutSecrets(text, secrets)

  /** Returns a copy of an entry, without secrets. */
  const read = (entry: LogEntry, number: number): LoggedRequest => {
    const { at, durationMs, area, method, path, query, operation = '', nearestRoute, idempotencyKey } = entry
    const { executed, rule, explanation, fault } = entry.decision
    const { status, headers: responseHeaders } = entry.response ?? {}
    const body = bodyText(entry)
    const text = responseText(entry)
    const response = text === undefined ? undefined : parsed(jsonWithoutSecrets(text, secrets))
    const objectId = entry.decision.objectId ?? objectIn(response) ?? entry.named
    return {
      number,
      at: new Date(at),
      path: pathWithoutSecrets(redactPath(query === '' ? path : `${path}?${query}`), secrets),
      durationMs,
      area,
      method,
      ...(isOperation(operation) && { operation }),
      ...(status !== undefined && { status }),
      executed,
      decision: rule,
      ...(nearestRoute !== undefined && { nearestRoute }),
      explanation: hide(explanation),
      headers: JSON.parse(hide(redactHeaders(headersOf(entry.headers)))),
      ...(responseHeaders && {
        responseHeaders: JSON.parse(hide(redactHeaders(responseHeaders))),
      }),
      ...(fault !== undefined && { fault }),
      ...(idempotencyKey !== undefined && { idempotencyKey: hide(idempotencyKey) }),
      ...(body !== undefined && { body: parsed(jsonWithoutSecrets(body, secrets)) }),
      ...(objectId !== undefined && { objectId: hide(objectId) }),
      ...(response !== undefined && { response }),
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
    // Only a request to an operation has a body here. The form of a payer's page is omitted: it may contain a code.
    write(at, exchange, decision, response) {
      const { area, request, receivedAt, path, query, route, parameters, body, idempotencyKey } = exchange
      const { method } = request
      const isNearby = route === undefined && decision.rule !== 'page'
      const entry: LogEntry = {
        at,
        durationMs: machineNow() - receivedAt + (decision.delayAfter ?? 0),
        area: area.name,
        method,
        path,
        query,
        operation: route?.definition.operation,
        named: Object.values(parameters)[0],
        headers: linesOf(request.headers),
        body: body?.ok && body.characters > MAX_BODY_CHARACTERS ? { ...body, fields: NO_FIELDS } : body,
        idempotencyKey,
        decision,
        response:
          response && response.body.length > MAX_BODY_CHARACTERS
            ? { ...response, body: omitted(response.body.length) }
            : response,
        nearestRoute: isNearby ? nearestRoute(path, method, area.router.routes).route : undefined,
      }
      characters += sizeOf(entry)
      let dropped = entries.push(entry)
      do {
        if (dropped !== undefined) characters -= sizeOf(dropped)
        dropped = characters > MAX_CHARACTERS ? entries.drop() : undefined
      } while (dropped !== undefined)
      for (const listener of listeners) listener(read(entry, entries.bounds().end))
    },
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
  const hint =
    near === undefined ? '' : ` This request was probably meant for ${operation}: ${sentence(near)}`
  return `${operation} (${route}): no such request has arrived.${hint}`
}
