import { isRecord, shown } from '../domain/checking.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { Fault, FaultEffect, FaultKind, FaultStep } from './fault-types.ts'
import { isOperation, unknownOperation } from './operations.ts'

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
