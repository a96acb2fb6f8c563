import type { Input } from '../../src/contract/fields.ts'
import { anyText, wholeNumber } from '../../src/contract/fields.ts'
import { isHeaderText } from '../../src/contract/formats.ts'
import {
  check,
  either,
  flag,
  headers,
  listOf,
  number,
  oneOf,
  optional,
  probability,
  rule,
  strict,
} from '../domain/check-options.ts'
import { operations } from './area.ts'

interface KindRules {
  /** Whether the request is executed if the fault does not say so. */
  readonly executes: boolean
  /** The fields that only some kinds read. */
  readonly reads: readonly string[]
  /** The kind to use if `executed` has to be the opposite. Absent where it may be chosen. */
  readonly instead?: string
}

const kinds = {
  latency: { executes: true, reads: [] },
  status: { executes: false, reads: ['status', 'body', 'headers', 'retryAfter'] },
  reset: { executes: false, reads: ['code'] },
  'lost-response': { executes: true, reads: ['code'], instead: 'reset' },
  timeout: { executes: false, reads: [] },
  html: { executes: false, reads: ['status', 'body', 'headers'] },
  empty: { executes: false, reads: ['status', 'headers'] },
  malformed: { executes: false, reads: ['status', 'body', 'headers'] },
  truncated: { executes: true, reads: [], instead: 'reset' },
  'rate-limit': { executes: false, reads: ['headers', 'retryAfter'], instead: 'status' },
} as const satisfies Record<string, KindRules>

/**
 * What goes wrong.
 *
 * - `latency`: delays the response by `latencyMs`. The request is executed when it arrives.
 * - `status`: responds with an error in the area's format (500, or `status`) instead of executing.
 * - `reset`: ends the connection without a response. The request is lost.
 * - `lost-response`: executes the request, then ends the connection without a response.
 * - `timeout`: never responds. The request is lost.
 * - `html`: responds with a proxy's page (502, or `status`) instead of executing.
 * - `empty`: responds without a body instead of executing. The status is `status`, or that of a success.
 * - `malformed`: responds with text that is not JSON instead of executing. The status is `status`, or that of a success.
 * - `truncated`: executes the request, and ends the connection in the middle of the response.
 * - `rate-limit`: responds with 429 instead of executing.
 */
export type FaultKind = keyof typeof kinds

/** Every kind of fault. */
export const faultKinds = Object.keys(kinds) as readonly FaultKind[]

const rulesOf = (kind: FaultKind): KindRules => kinds[kind]

/** Whether a request that meets a fault of this kind is executed if the fault does not say so. */
export const executesByDefault = (kind: FaultKind): boolean => kinds[kind].executes

const isJson = (body: unknown): boolean => {
  try {
    return JSON.stringify(body) !== undefined
  } catch {
    return false
  }
}

const LONGEST_TIMER = 2 ** 31 - 1

const effect = {
  /** What goes wrong, such as `lost-response`: see `FaultKind`. */
  kind: oneOf(...faultKinds),
  /** HTTP status of `status` (default 500), `html` (502), `empty` and `malformed` (that of success). */
  status: optional(wholeNumber(200, 599)),
  /** Body of `status`, `html` and `malformed`: text as it is, anything else as JSON. */
  body: optional(rule<unknown>('text, or a value that JSON can represent', isJson)),
  /** Additional headers of a response that the fault makes. Default: none. */
  headers: optional(headers),
  /** Milliseconds of the machine's time by which the response, or the end of the connection, is late. Default: 0. */
  latencyMs: optional(number('milliseconds from 0', 0, LONGEST_TIMER)),
  /** Retry-After of `rate-limit` and `status`: seconds, text, or `false`. Default: 1 for a `rate-limit` of area G. */
  retryAfter: optional(
    rule<number | string | false>(
      'a number of seconds, text that a header can carry, or false',
      (value) =>
        value === false || typeof value === 'number' || (typeof value === 'string' && isHeaderText(value)),
    ),
  ),
  /**
   * Whether the request is executed anyway, where both are possible: `reset`, `timeout`, `status`, `html`, `empty`,
   * `malformed` (default false). For `latency`: whether it is executed before the wait (default) or after it, and then
   * only if the sender is still there.
   */
  executed: optional(flag),
  /**
   * `reset` and `lost-response`: the code of the caller's error through `mock.fetch`, for example `ECONNREFUSED`. Over
   * HTTP the socket is closed, whatever the code. Default: `ECONNRESET` and `UND_ERR_SOCKET`.
   */
  code: optional(anyText),
}
/** One thing that goes wrong, with its details. */
export interface FaultEffect extends Input<typeof effect> {}

/** A step of a sequence: nothing goes wrong, the fault's own kind does, or another. */
export type FaultStep = 'succeed' | 'fail' | FaultKind | FaultEffect

const step = either<'succeed' | 'fail' | FaultKind, FaultEffect>(
  oneOf('succeed', 'fail', ...faultKinds),
  strict(effect),
)
const fault = {
  ...effect,
  /** What goes wrong, such as `lost-response`: see `FaultKind`. A fault needs it, or a sequence. */
  kind: optional(effect.kind),
  /** One operation, all of an area, or all. */
  operation: oneOf(...operations, 'subscriptions.*', 'gateway.*', '*'),
  /** How often it acts. For a sequence: how often it is repeated. Default: once, and with `probability` always. */
  times: optional(either(wholeNumber(1), oneOf('always'))),
  /** How likely it acts on a call, from 0 to 1, drawn from the mock's seed. */
  probability: optional(probability),
  /** One step for each call, in order; `kind` then is what `'fail'` means. */
  sequence: optional(listOf(step, 1)),
}
/** A fault: what goes wrong, for which calls, and how often. */
export interface Fault extends Input<typeof fault> {}

const faultSchema = strict(fault)

/** Returns the effect of a step of a fault; `undefined` if the step has none. */
export const effectOf = (given: Fault, at: FaultStep): FaultEffect | undefined => {
  if (at === 'succeed') return undefined
  const own = at === 'fail' ? {} : typeof at === 'string' ? { kind: at } : at
  const { operation: _operation, times: _times, probability: _chance, sequence: _steps, ...base } = given
  const { kind, ...more } = { ...base, ...own }
  return kind === undefined ? undefined : { kind, ...more }
}

const CALLER = 'faults.add: '
const fail = (message: string): never => {
  throw new TypeError(`${CALLER}${message}`)
}

/** Throws for a field that no step reads: nobody would notice that it has no effect. */
const checkUse = (given: object, used: readonly FaultKind[]): void => {
  for (const [name, value] of Object.entries(given)) {
    // A field that no kind lists applies to every kind.
    const readers = faultKinds.filter((kind) => rulesOf(kind).reads.includes(name))
    if (value === undefined || readers.length === 0 || used.some((kind) => readers.includes(kind))) continue
    fail(`kind "${used.join('", "')}" does not use ${name}; it is for ${readers.join(', ')}`)
  }
}

const checkEffect = ({ kind, latencyMs, executed }: FaultEffect): void => {
  const { executes, instead } = rulesOf(kind)
  if (kind === 'latency' && latencyMs === undefined) fail('kind "latency" needs latencyMs')
  if (instead !== undefined && executed === !executes) {
    fail(`kind "${kind}" cannot have executed: ${executed}; use "${instead}"`)
  }
}

/** Checks a fault, and returns a copy of it. Throws a TypeError that says what is wrong. */
export const checkFault = (given: Fault): Fault => {
  const checked = check(faultSchema, given, CALLER)
  const { kind, sequence = ['fail'] } = checked
  if (kind === undefined && sequence.includes('fail'))
    fail('kind is required, unless a sequence has no "fail"')
  const effects = sequence.flatMap((each) => effectOf(checked, each) ?? [])
  for (const each of effects) checkEffect(each)
  const used = effects.map((each) => each.kind)
  checkUse(checked, used)
  for (const each of sequence) if (typeof each !== 'string') checkUse(each, [each.kind])
  return checked
}
