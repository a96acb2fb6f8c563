import type { Fault, FaultEffect, FaultKind } from './fault-types.ts'
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

const FIELDS = new Set([
  'operation',
  'kind',
  'times',
  'probability',
  'sequence',
  'status',
  'body',
  'headers',
  'latencyMs',
  'retryAfter',
  'executed',
  'code',
])
const WILDCARDS = ['subscriptions.*', 'gateway.*', '*']

/** Whether a request that meets a fault of this kind is executed when nothing else is said. */
export const executesByDefault = (kind: FaultKind): boolean => EXECUTES[kind]

const fail = (message: string): never => {
  throw new TypeError(`faults.add: ${message}`)
}

const checkEffect = (effect: Partial<FaultEffect>): void => {
  const { kind, status, latencyMs, executed } = effect
  for (const name of Object.keys(effect)) {
    if (!FIELDS.has(name)) fail(`there is no field ${name}; there are ${[...FIELDS].join(', ')}.`)
  }
  if (kind !== undefined && !Object.hasOwn(EXECUTES, kind)) {
    fail(`there is no kind ${JSON.stringify(kind)}; there are ${Object.keys(EXECUTES).join(', ')}.`)
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

/** Throws a TypeError that says what is wrong with a fault. */
export const checkFault = (fault: Fault): void => {
  const { operation, kind, times, probability, sequence } = fault
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
  if (sequence === undefined) {
    if (kind === undefined) fail('kind is needed, or a sequence.')
    return
  }
  if (sequence.length === 0) fail('sequence must have a step.')
  for (const step of sequence) {
    if (step === 'succeed') continue
    if (step === 'fail') {
      if (kind === undefined) fail('a sequence with "fail" needs kind, to say what "fail" means.')
      continue
    }
    const { sequence: _sequence, ...base } = fault
    checkEffect({ ...base, ...(typeof step === 'string' ? { kind: step } : step) })
  }
}
