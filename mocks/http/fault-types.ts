import type { Operation } from './operations.ts'

/**
 * What goes wrong.
 *
 * - `latency`: the answer comes after `latencyMs`. The request is executed when it arrives.
 * - `status`: an error answer in the area's shape (500, or `status`) instead of executing.
 * - `reset`: the connection ends without an answer; the request is lost.
 * - `lost-response`: the request is executed, then the connection ends without an answer.
 * - `timeout`: no answer ever comes; the request is lost.
 * - `html`: a page of a proxy (502, or `status`) instead of executing.
 * - `empty`: an answer without a body instead of executing; its status is that of success, or `status`.
 * - `malformed`: text that is not JSON instead of executing; its status is that of success, or `status`.
 * - `truncated`: the request is executed, and the connection ends in the middle of the answer.
 * - `rate-limit`: 429 instead of executing.
 */
export type FaultKind =
  | 'latency'
  | 'status'
  | 'reset'
  | 'lost-response'
  | 'timeout'
  | 'html'
  | 'empty'
  | 'malformed'
  | 'truncated'
  | 'rate-limit'

/** One thing that goes wrong, with its details. */
export interface FaultEffect {
  /** What goes wrong, such as `lost-response`: see `FaultKind`. A fault needs it, or a sequence. */
  readonly kind: FaultKind
  /** HTTP status of `status` (default 500), `html` (502), `empty` and `malformed` (that of success). */
  readonly status?: number
  /** Body of `status`, `html` and `malformed`: text as it is, anything else as JSON. */
  readonly body?: unknown
  /** Further headers of an answer that the fault makes. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds of the machine's time by which the answer, or the end of the connection, is late. Default: 0. */
  readonly latencyMs?: number
  /**
   * Retry-After of `rate-limit` and `status`: seconds, any text, or `false` for none. Default: 1 for a `rate-limit` of
   * area G, else none.
   */
  readonly retryAfter?: number | string | false
  /**
   * Whether the request is executed all the same, where both make sense: `reset`, `timeout`, `status`, `html`, `empty`,
   * `malformed` (default false). For `latency`: whether it is executed before the wait (default) or after it, and then
   * only if the sender is still there.
   */
  readonly executed?: boolean
  /**
   * `reset` and `lost-response`: the code that the caller's error carries through `mock.fetch`, for example
   * `ECONNREFUSED`; by default `ECONNRESET` and `UND_ERR_SOCKET`. Over HTTP the socket is closed, whatever the code.
   */
  readonly code?: string
}

/** A step of a script: nothing goes wrong, the fault's own kind does, or another. */
export type FaultStep = 'succeed' | 'fail' | FaultKind | FaultEffect

/** A fault as it is added: what, to which calls, how often. */
export interface Fault extends Partial<FaultEffect> {
  /** One operation, all of an area, or all. */
  readonly operation: Operation | 'subscriptions.*' | 'gateway.*' | '*'
  /** How often it acts, by default once (with `probability`: always). Of a sequence: how often it is gone through. */
  readonly times?: number | 'always'
  /** How likely it acts on a call, from 0 to 1, drawn from the mock's seed. */
  readonly probability?: number
  /** One step for each call, in order; `kind` then is what `'fail'` means. */
  readonly sequence?: readonly FaultStep[]
}
