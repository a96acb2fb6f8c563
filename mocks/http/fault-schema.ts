import type { Input } from '../../src/contract/fields.ts'
import { anyText, jsonOf, oneOf, optional, readWith, schema, wholeNumber } from '../../src/contract/fields.ts'
import { isHeaderText } from '../../src/contract/formats.ts'
import {
  either,
  flag,
  headers,
  headerText,
  listOf,
  number,
  probability,
  rule,
  strict,
  tableOf,
} from '../base/fields.ts'
import { attempt } from '../base/result.ts'
import { type Operation, operations } from './area.ts'

interface KindRules {
  /** Whether a fault of this kind executes the request by default. */
  readonly executes: boolean
  /** The fields that this kind uses, except for fields that every kind uses. */
  readonly reads: readonly string[]
  /** The kind that the error suggests for the other value of `executed`. Absent if this kind allows both values. */
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
 * The kind of a failure.
 *
 * - `latency`: delays the response by `latencyMs`. The request is executed when it arrives.
 * - `status`: responds with an error in the area's format (500, or `status`) instead of executing.
 * - `reset`: closes the connection without executing the request or responding.
 * - `lost-response`: executes the request, then closes the connection without a response.
 * - `timeout`: never responds, and does not execute the request.
 * - `html`: responds with a proxy's HTML page (502, or `status`) instead of executing.
 * - `empty`: responds without a body (success status, or `status`) instead of executing.
 * - `malformed`: responds with invalid JSON (success status, or `status`) instead of executing.
 * - `truncated`: executes the request, and closes the connection in the middle of the response.
 * - `rate-limit`: responds with 429 instead of executing.
 */
export type FaultKind = keyof typeof kinds

/** Every kind of fault. */
export const faultKinds = Object.keys(kinds) as readonly FaultKind[]

const rulesOf = (kind: FaultKind): KindRules => kinds[kind]

/** Returns whether a kind of fault executes the request by default. */
export const executesByDefault = (kind: FaultKind): boolean => kinds[kind].executes

const isJson = (body: unknown): boolean => attempt(() => JSON.stringify(body) !== undefined, false)

const MAX_TIMER_MS = 2 ** 31 - 1

const details = {
  /** HTTP status. Default: 500 for kind `status`, 502 for `html`, the success status for `empty` and `malformed`. */
  status: optional(wholeNumber(200, 599)),
  /** Response body for kinds `status`, `html` and `malformed`. The mock sends text unchanged, other values as JSON. */
  body: optional(
    rule<unknown>('text, or a value that JSON can represent', isJson, {
      type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
    }),
  ),
  /** Additional headers of the fault's response. Default: none. */
  headers: optional(headers),
  /** Delay before the response, or before the connection closes, in milliseconds of machine time. Default: 0. */
  latencyMs: optional(number('milliseconds from 0', 0, MAX_TIMER_MS)),
  /**
   * Retry-After header of `rate-limit` and `status`. With `false`, the response has no such header. Default: 1 for
   * `rate-limit` in area G, otherwise no header.
   */
  retryAfter: optional(
    rule<number | string | false>(
      'a number of seconds, text that a header can carry, or false',
      (value) =>
        value === false || typeof value === 'number' || (typeof value === 'string' && isHeaderText(value)),
      { anyOf: [{ type: 'number' }, jsonOf(headerText), { type: 'boolean', enum: [false] }] },
    ),
  ),
  /**
   * Whether the mock executes the request. Default: false for `reset`, `timeout`, `status`, `html`, `empty` and
   * `malformed`. For `latency`, `true` (default) executes the request before the delay; `false` executes the request
   * after the delay, if the sender is still connected.
   */
  executed: optional(flag),
  /**
   * Code of the error from `mock.fetch`, such as `ECONNREFUSED`. Default: `ECONNRESET` for kind `reset`,
   * `UND_ERR_SOCKET` for `lost-response`. A mock server closes the HTTP/1 connection or the HTTP/2 stream. With HTTP/1,
   * `ECONNRESET` causes a TCP reset.
   */
  code: optional(anyText),
}

type Kinds = typeof kinds
type Details = Input<typeof details>
type ReadBy<Kind extends FaultKind> = Kinds[Kind]['reads'][number]

type EffectOf<Kind extends FaultKind> = Flat<
  {
    /** The kind of failure (see `FaultKind`). */
    readonly kind: Kind
    /** Whether the mock executes the request. */
    readonly executed?:
      | (Kinds[Kind] extends { instead: string } ? Kinds[Kind]['executes'] : boolean)
      | undefined
  } & Pick<Details, ReadBy<Kind>> &
    (Kind extends 'latency' ? Required<Pick<Details, 'latencyMs'>> : Pick<Details, 'latencyMs'>) & {
      readonly [Name in Exclude<ReadBy<FaultKind>, ReadBy<Kind>>]?: undefined
    }
>
type Flat<Fields> = { readonly [Name in keyof Fields]: Fields[Name] }

/** The kind and the details of a failure. The kind determines which details are allowed. */
export type FaultEffect = { [Kind in FaultKind]: EffectOf<Kind> }[FaultKind]

/** A step of a fault's sequence: `'succeed'`, `'fail'` (applies the fault's `kind`), a kind, or an effect. */
export type FaultStep = 'succeed' | 'fail' | FaultKind | FaultEffect

/** The request that the `when` function of a fault receives. */
export interface FaultRequest {
  /** The requested operation, such as `gateway.charge`. */
  readonly operation: Operation
  /** Path parameters, query parameters and body fields, by their names on the wire. */
  readonly fields: Readonly<Record<string, unknown>>
}

const fieldValue = rule<string | number | boolean>('text, a number, true or false', (value) =>
  ['string', 'number', 'boolean'].includes(typeof value),
)
const predicate = rule<(request: FaultRequest) => boolean>(
  'an object of fields, or a function',
  (value) => typeof value === 'function',
)
const target = {
  /** One operation, all operations of an area (`gateway.*`), or all operations (`*`). */
  operation: oneOf([...operations, 'subscriptions.*', 'gateway.*', '*']),
  /** How many times the fault applies, or its sequence runs. Default: 1; `'always'` if `probability` is set. */
  times: optional(either(wholeNumber(1), oneOf(['always']))),
  /** Probability that the fault applies to a call, from 0 to 1. The mock's seed determines the random numbers. */
  probability: optional(probability),
  /**
   * Selects requests by field values or by a function. A request has the fields of its body, query and path, and
   * `idempotencyKey`. If the path identifies a charge, the request also has the charge's `msisdn`. If the path
   * identifies a subscription or one of its payments, the request also has the subscription's `requestID`, `invoiceId`
   * and `subscriptionId`. The mock ignores a leading `+` of a value. Default: every request of the operation.
   */
  when: optional(either(tableOf(fieldValue), predicate)),
}
/** The calls that a fault applies to, and how often. */
export interface FaultTarget extends Input<typeof target> {}

/** A fault whose steps name their own kinds. It has no step `'fail'`. Its details apply to the kinds that use them. */
export interface FaultSequence extends FaultTarget, Details {
  /** Absent: each step names its own kind. */
  readonly kind?: undefined
  /** What the fault does to consecutive calls: one step for each call. The step `'fail'` applies the fault's `kind`. */
  readonly sequence: readonly FaultStep[]
}

/** A fault: the calls it applies to, how often, and the kind of failure or a sequence of failures. */
export type Fault = (FaultTarget & FaultEffect & Partial<Pick<FaultSequence, 'sequence'>>) | FaultSequence

const effectFields = { kind: oneOf(faultKinds), ...details }

/** The fields of a fault. */
export const faultFields = {
  ...target,
  ...details,
  kind: optional(effectFields.kind),
  sequence: optional(listOf(either(oneOf(['succeed', 'fail', ...faultKinds]), strict(effectFields)), 1)),
}
/** A fault whose fields are checked one by one, but not together. */
export interface AnyFault extends Input<typeof faultFields> {}
type AnyStep = NonNullable<AnyFault['sequence']>[number]

const anyFault = strict(faultFields)

const mergedEffect = (given: AnyFault, at: AnyStep) => {
  if (at === 'succeed') return undefined
  const own = at === 'fail' ? {} : typeof at === 'string' ? { kind: at } : at
  const {
    operation: _operation,
    times: _times,
    probability: _chance,
    sequence: _steps,
    when: _when,
    ...base
  } = given
  const { kind, ...more } = { ...base, ...own }
  return kind === undefined ? undefined : { kind, ...more }
}

/** Returns the effect of one step of a fault, or `undefined` if the step has no effect. */
export const effectOf = (fault: Fault, at: FaultStep): FaultEffect | undefined =>
  // The schema of faults has checked that the fields belong to the kind.
  mergedEffect(fault, at) as FaultEffect | undefined

/** Returns what a fault does in words, such as "HTML page with 502". */
export const effectInWords = ({ kind, status, latencyMs = 0 }: Fault | FaultEffect): string =>
  ({
    latency: `${latencyMs} ms later`,
    status: String(status ?? 500),
    reset: 'connection reset',
    'lost-response': 'lost response',
    timeout: 'no response',
    html: `HTML page with ${status ?? 502}`,
    empty: 'empty body',
    malformed: 'invalid JSON',
    truncated: 'response cut in the middle',
    'rate-limit': '429',
    sequence: 'a sequence of faults',
  })[kind ?? 'sequence']

/** Checks a fault, including the fields that its kind needs and allows. */
export const faultSchema = schema<Fault, Fault>(
  () => jsonOf(anyFault),
  (value, issues) => {
    const given = readWith(anyFault, value, issues)
    if (issues.length > 0) return given
    const blame = (path: readonly PropertyKey[], message: string, input?: unknown): void =>
      void issues.push({
        code: 'custom',
        message,
        path: [...path],
        input,
        params: { expected: typeof input },
      })

    /** Adds an issue for each field that no step uses. */
    const checkUse = (fields: object, used: readonly FaultKind[], ...at: readonly PropertyKey[]): void => {
      for (const [name, content] of Object.entries(fields)) {
        // A field that no kind lists in `reads`, such as `latencyMs`, is allowed for every kind.
        const readers = faultKinds.filter((kind) => rulesOf(kind).reads.includes(name))
        if (content === undefined || readers.length === 0 || used.some((kind) => readers.includes(kind)))
          continue
        blame(
          [...at, name],
          `omitted for kind "${used.join('", "')}": it is for ${readers.join(', ')}`,
          content,
        )
      }
    }

    const { kind, sequence = ['fail'] } = given
    if (kind === undefined && sequence.includes('fail')) {
      blame(['kind'], 'a kind of fault, such as "status"')
      return given
    }
    const effects = sequence.flatMap((each) => mergedEffect(given, each) ?? [])
    for (const { kind: used, latencyMs, executed } of effects) {
      const { executes, instead } = rulesOf(used)
      if (used === 'latency' && latencyMs === undefined)
        blame(['latencyMs'], 'milliseconds from 0, because the kind is "latency"')
      if (instead !== undefined && executed === !executes)
        blame(['executed'], `${executes} for kind "${used}", or use kind "${instead}"`, executed)
    }
    checkUse(
      given,
      effects.map((each) => each.kind),
    )
    for (const [index, each] of sequence.entries())
      if (typeof each !== 'string') checkUse(each, [each.kind], 'sequence', index)
    return given
  },
)
