import type { Area } from '../../src/contract/endpoint.ts'
import { createBoundedList } from '../domain/bounded-list.ts'
import type { Sequence } from '../domain/sequence.ts'
import type { FaultKind } from './fault-types.ts'
import type { Operation } from './operations.ts'
import { isOperation, unknownOperation } from './operations.ts'
import type { Secrets } from './redaction.ts'
import { pathWithoutSecrets, withoutSecrets } from './redaction.ts'

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
