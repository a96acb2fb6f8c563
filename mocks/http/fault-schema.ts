import { isRecord, shown } from '../domain/check-options.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { Operation } from './area.ts'
import { isOperation, unknownOperation } from './area.ts'

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

/** Whether a request that meets the fault is executed when nothing else is said. */
const EXECUTES: Record<FaultKind, boolean> = {
  latency: true,
  status: false,
  reset: false,
  'lost-response': true,
  timeout: false,
  html: false,
  empty: false,
  malformed: false,
  truncated: true,
  'rate-limit': false,
}

/** Every kind of fault. */
export const faultKinds: readonly string[] = Object.keys(EXECUTES)

/** Kinds of which `executed` cannot be chosen, and why. */
const FIXED: Partial<Record<FaultKind, string>> = {
  'lost-response': 'a response that is lost was made by executing; take "reset"',
  truncated: 'an answer that is cut short was made by executing; take "reset"',
  'rate-limit': 'a server that limits does not execute; take "status" with status 429',
}

/** Every field of a fault, and, of those that only some kinds read, which. */
const FIELDS: { readonly [Name in keyof Fault]-?: readonly FaultKind[] | undefined } = {
  operation: undefined,
  kind: undefined,
  times: undefined,
  probability: undefined,
  sequence: undefined,
  status: ['status', 'html', 'empty', 'malformed'],
  body: ['status', 'html', 'malformed'],
  headers: ['status', 'html', 'empty', 'malformed', 'rate-limit'],
  latencyMs: undefined,
  retryAfter: ['status', 'rate-limit'],
  executed: undefined,
  code: ['reset', 'lost-response'],
}
const WILDCARDS = ['subscriptions.*', 'gateway.*', '*']

/** Whether a request that meets a fault of this kind is executed when nothing else is said. */
export const executesByDefault = (kind: FaultKind): boolean => EXECUTES[kind]

const fail = (message: string): never => {
  throw new TypeError(`faults.add: ${message}`)
}

/** Whether the platform can send such headers. */
const areHeaders = (headers: object): boolean => {
  try {
    new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]))
    return true
  } catch {
    // The platform's words do not say where the fault was added.
    return false
  }
}

/** What may have been meant by a name that does not exist. */
const instead = (name: unknown, names: readonly string[]): string => {
  const meant = typeof name === 'string' ? nearestName(name, names) : undefined
  return meant === undefined ? `there are ${names.join(', ')}.` : `did you mean ${meant}?`
}

const isJson = (body: unknown): boolean => {
  try {
    return JSON.stringify(body) !== undefined
  } catch {
    return false
  }
}

const checkValues = ({ body, headers, retryAfter, executed, code }: Partial<FaultEffect>): void => {
  if (body !== undefined && !isJson(body)) fail('body must be text, or a value that JSON can hold.')
  if (headers !== undefined && (Object(headers) !== headers || !areHeaders(headers))) {
    fail('headers must be an object of names and values that a header can have.')
  }
  const isValue = retryAfter === false || ['number', 'string', 'undefined'].includes(typeof retryAfter)
  if (!isValue || !areHeaders({ 'Retry-After': retryAfter })) {
    fail('retryAfter must be a number of seconds, text that a header can have, or false.')
  }
  if (executed !== undefined && typeof executed !== 'boolean') fail('executed must be true or false.')
  if (code !== undefined && typeof code !== 'string') fail('code must be text, such as "ECONNREFUSED".')
}

/** A field that no step reads would be a wish that silently comes to nothing. */
const checkUse = (effect: Partial<FaultEffect>, kinds: readonly FaultKind[]): void => {
  for (const [name, readers] of Object.entries(FIELDS)) {
    const value: unknown = Reflect.get(effect, name)
    if (readers === undefined || value === undefined || kinds.some((kind) => readers.includes(kind))) continue
    fail(`${name} is for ${readers.join(', ')}; kind "${kinds.join('", "')}" does not read it.`)
  }
}

const checkEffect = (effect: Partial<FaultEffect>): void => {
  const { kind, status, latencyMs, executed } = effect
  for (const name of Object.keys(effect)) {
    if (!Object.hasOwn(FIELDS, name)) {
      fail(`there is no field ${name}; ${instead(name, Object.keys(FIELDS))}`)
    }
  }
  checkValues(effect)
  if (kind !== undefined && !Object.hasOwn(EXECUTES, kind)) {
    fail(`there is no kind ${shown(kind)}; ${instead(kind, Object.keys(EXECUTES))}`)
  }
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    fail('status must be a whole number from 200 to 599.')
  }
  if (latencyMs !== undefined && !(latencyMs >= 0 && latencyMs < 2 ** 31)) {
    fail('latencyMs must be a number of milliseconds from 0.')
  }
  if (kind === 'latency' && latencyMs === undefined) fail('kind "latency" needs latencyMs.')
  if (kind === undefined || executed === undefined || executed === EXECUTES[kind]) return
  const reason = FIXED[kind]
  if (reason !== undefined) fail(`"${kind}" with executed: ${executed} makes no sense: ${reason}.`)
}

/** The kind that a step of a sequence stands for, checked; `undefined` when nothing goes wrong. */
const kindOfStep = (fault: Fault, step: FaultStep): FaultKind | undefined => {
  if (step === 'succeed') return undefined
  if (step === 'fail') {
    return fault.kind ?? fail('a sequence with "fail" needs kind, to say what "fail" means.')
  }
  const own: Partial<FaultEffect> = typeof step === 'string' ? { kind: step } : step
  if (Object(own) !== own || own.kind === undefined) return fail('a step of a sequence must have a kind.')
  const { sequence: _sequence, ...base } = fault
  checkEffect({ ...base, ...own })
  checkUse(own, [own.kind])
  return own.kind
}

/** The kinds of a fault, one for each step at which something goes wrong. */
const kindsOf = (fault: Fault): readonly FaultKind[] => {
  const { kind, sequence } = fault
  if (sequence === undefined) return [kind ?? fail('kind is needed, or a sequence.')]
  if (!Array.isArray(sequence) || sequence.length === 0) fail('sequence must be a list with a step.')
  return sequence.flatMap((step) => kindOfStep(fault, step) ?? [])
}

/** Throws a TypeError that says what is wrong with a fault. */
export const checkFault = (fault: Fault): void => {
  if (!isRecord(fault)) {
    fail(`a fault is an object such as { operation: "gateway.charge", kind: "reset" }, not ${shown(fault)}.`)
  }
  const { operation, times, probability } = fault
  if (!isOperation(operation) && !WILDCARDS.includes(operation)) throw unknownOperation(operation, WILDCARDS)
  if (
    times !== undefined &&
    times !== 'always' &&
    !(times === Number.POSITIVE_INFINITY || (Number.isInteger(times) && times >= 1))
  ) {
    fail('times must be a whole number from 1, or "always".')
  }
  if (probability !== undefined && !(probability >= 0 && probability <= 1)) {
    fail('probability must be a number from 0 to 1.')
  }
  checkEffect(fault)
  checkUse(fault, kindsOf(fault))
}
