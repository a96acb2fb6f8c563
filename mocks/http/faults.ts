import { check, withHeaders } from '../base/fields.ts'
import { attempt } from '../base/result.ts'
import { comparableNumber } from '../gateway/behaviors.ts'
import { errorResponse, type Operation, type OperationExchange } from './area.ts'
import {
  type AnyFault,
  effectInWords,
  effectOf,
  executesByDefault,
  type Fault,
  type FaultEffect,
  type FaultRequest,
  type FaultStep,
  faultSchema,
} from './fault-schema.ts'
import {
  fieldsOf,
  type HeaderFields,
  jsonResponse,
  type MockResponse,
  mayHaveBody,
  type ResponseData,
  respondWith,
} from './message.ts'
import { type Decided, type Decision, objectIn } from './request-log.ts'

/** The delays and the fault that apply to one request. */
export interface AppliedFault {
  /** Delay before the request is executed, in milliseconds. */
  readonly delayBefore: number
  /** Delay before the response is sent, in milliseconds. */
  readonly delayAfter: number
  readonly effect: FaultEffect | undefined
}

/** A fault that can still apply to a request. */
export interface ActiveFault {
  /** Serial number of the fault: 1 for the first added fault. */
  readonly number: number
  readonly fault: Fault
  /** How many times the fault can still apply. One run through all steps of a `sequence` counts once. */
  readonly left: number
  /** Removes the fault. */
  remove(): void
}

interface Entry extends ActiveFault {
  left: number
  readonly steps: readonly FaultStep[]
  /** Index of the next step. */
  step: number
}

const targets = (fault: Fault, operation: string): boolean =>
  fault.operation === '*' ||
  fault.operation === operation ||
  (fault.operation.endsWith('.*') && operation.startsWith(fault.operation.slice(0, -1)))

const matches = ({ when }: Fault, request: () => FaultRequest): boolean => {
  if (when === undefined) return true
  if (typeof when === 'function') return when(request())
  const { fields } = request()
  return Object.entries(when).every(
    ([name, value]) =>
      fields[name] !== undefined &&
      comparableNumber(String(fields[name])) === comparableNumber(String(value)),
  )
}

const timesOf = ({ times, probability }: Fault): number => {
  if (times === 'always') return Number.POSITIVE_INFINITY
  return times ?? (probability === undefined ? 1 : Number.POSITIVE_INFINITY)
}

/** Returns the request in the form that the `when` of a fault receives. */
export const faultRequestOf = (exchange: OperationExchange): FaultRequest => {
  const { area, route, parameters, query, idempotencyKey } = exchange
  return {
    operation: route.definition.operation as Operation,
    fields: {
      ...area.correlationFields(parameters),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...Object.fromEntries(new URLSearchParams(query)),
      ...fieldsOf(exchange),
      ...parameters,
    },
  }
}

/** The faults of a mock. */
export type FaultPlan = ReturnType<typeof createFaultPlan>

/**
 * Stores faults in the order of `add`. All matching faults of kind `latency` apply to a request, but of the other kinds
 * only the first. If its `probability` or a step `'succeed'` skips the first fault, the next fault can apply.
 *
 * @param configured the faults from the mock's options, with which the plan starts and which `reset` restores
 */
export const createFaultPlan = (random: () => number, configured: readonly Fault[]) => {
  const active: Entry[] = []
  let added = 0

  const advance = (one: Entry): void => {
    one.step += 1
    if (one.step >= one.steps.length) {
      one.step = 0
      one.left -= 1
      if (one.left <= 0) one.remove()
    }
  }

  const add = (fault: Fault): (() => void) => {
    added += 1
    const one: Entry = {
      number: added,
      fault,
      left: timesOf(fault),
      steps: fault.sequence ?? ['fail'],
      step: 0,
      remove() {
        const at = active.indexOf(one)
        if (at !== -1) active.splice(at, 1)
      },
    }
    active.push(one)
    return one.remove
  }

  for (const fault of configured) add(fault)

  return {
    /** Adds a fault, and returns a function that removes the fault. Throws a TypeError for an invalid fault. */
    add: (given: AnyFault): (() => void) => add(check(faultSchema, given, 'faults.add: ')),
    /** Returns the delays and the fault for a request. Each fault whose step was used advances to its next step. */
    next(operation: string, request: () => FaultRequest): AppliedFault {
      let [delayBefore, delayAfter] = [0, 0]
      let effect: FaultEffect | undefined
      for (const one of [...active]) {
        if (!targets(one.fault, operation) || !matches(one.fault, request)) continue
        const step = effectOf(one.fault, one.steps[one.step] ?? 'succeed')
        if (effect !== undefined && step !== undefined && step.kind !== 'latency') continue
        if (one.fault.probability !== undefined && random() >= one.fault.probability) continue
        advance(one)
        if (step === undefined) continue
        if (step.executed ?? executesByDefault(step.kind)) delayAfter += step.latencyMs ?? 0
        else delayBefore += step.latencyMs ?? 0
        if (step.kind !== 'latency') effect = step
      }
      return { delayBefore, delayAfter, effect }
    },
    /** Returns the faults that can still apply, in the order of `add`. */
    active: active as readonly ActiveFault[],
    clear(): void {
      active.length = 0
    },
    reset(): void {
      active.length = 0
      for (const fault of configured) add(fault)
    },
  }
}

/** What can happen to a request under a fault. */
interface Steps {
  /** Decides and executes the request, as without the fault. */
  decide(): Decided
  /** Counts the call against the rate limit. */
  countCall(): void
}

const PROXY_PAGE =
  '<!doctype html>\n<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>\n'
const TRUNCATED_JSON = '{"status": "ok", '

/** Returns the response that a fault sends instead of the mock's own response. */
const faultResponse = ({ area, route, headers }: OperationExchange, effect: FaultEffect): ResponseData => {
  const { body, retryAfter } = effect
  const ofKind = (type: string, status: number, content: string): ResponseData => {
    const sent: unknown = body === undefined ? content : body
    return {
      status: effect.status ?? status,
      headers: { 'Content-Type': type, ...headers },
      body: typeof sent === 'string' ? sent : JSON.stringify(sent),
    }
  }
  const retryHeaders = (standard: HeaderFields): HeaderFields => {
    if (retryAfter === undefined) return standard
    return retryAfter === false ? {} : { 'Retry-After': String(retryAfter) }
  }
  switch (effect.kind) {
    case 'html':
      return ofKind('text/html; charset=utf-8', 502, PROXY_PAGE)
    case 'empty':
      return { status: effect.status ?? route.definition.status, headers, body: '' }
    case 'malformed':
      return ofKind('application/json', route.definition.status, TRUNCATED_JSON)
    case 'rate-limit':
      return errorResponse(area, 429, 'Too many requests.', {
        ...headers,
        ...('X-RateLimit-Remaining' in headers ? { 'X-RateLimit-Remaining': '0' } : {}),
        ...retryHeaders(area.name === 'gateway' ? { 'Retry-After': '1' } : {}),
      })
    default: {
      const { status = 500 } = effect
      const all = { ...headers, ...retryHeaders({}) }
      if (body === undefined) return errorResponse(area, status, 'The request failed.', all)
      return typeof body === 'string'
        ? { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...all }, body }
        : jsonResponse(status, body, all)
    }
  }
}

const truncated = (response: ResponseData | undefined): MockResponse =>
  response === undefined || response.body === '' || !mayHaveBody(response.status)
    ? { kind: 'closed', code: 'UND_ERR_SOCKET' }
    : { kind: 'truncated', response, part: response.body.slice(0, Math.ceil(response.body.length / 2)) }

/** Returns what is sent under a fault. `response` is the mock's own, unless the fault prevents the execution. */
const sentUnder = (
  effect: FaultEffect,
  exchange: OperationExchange,
  response: ResponseData | undefined,
  { countCall }: Steps,
): MockResponse => {
  switch (effect.kind) {
    case 'reset':
      return { kind: 'closed', code: effect.code ?? 'ECONNRESET' }
    case 'lost-response':
      return { kind: 'closed', code: effect.code ?? 'UND_ERR_SOCKET' }
    case 'timeout':
      return { kind: 'none' }
    case 'truncated':
      return truncated(response)
    default: {
      if (response === undefined) countCall()
      const sent = faultResponse(exchange, effect)
      return respondWith({ ...sent, headers: withHeaders(sent.headers, effect.headers ?? {}) })
    }
  }
}

/** Applies a fault, which can change the response and prevent the execution. */
export const applyFault = (
  { effect, delayBefore, delayAfter }: AppliedFault,
  exchange: OperationExchange,
  steps: Steps,
): { readonly sent: MockResponse; readonly decision: Decision } => {
  const delay = delayBefore + delayAfter
  const delayed = delay > 0 ? ` A fault delayed it by ${delay} ms.` : ''
  if (effect === undefined) {
    const decided = steps.decide()
    const explanation = decided.explanation + delayed
    const decision = { ...decided, explanation, delayAfter, ...(delay > 0 && { fault: 'latency' as const }) }
    return { sent: respondWith(decided.response), decision }
  }
  const executes = effect.executed ?? executesByDefault(effect.kind)
  const decided = executes ? steps.decide() : undefined
  const own = decided?.explanation ?? 'The request was not executed.'
  return {
    sent: sentUnder(effect, exchange, decided?.response, steps),
    decision: {
      executed: decided?.executed ?? false,
      rule: 'fault',
      explanation: `A fault was applied: ${effectInWords(effect)}. ${own}${delayed}`,
      fault: effect.kind,
      objectId: decided && objectIn(attempt<unknown>(() => JSON.parse(decided.response.body), undefined)),
      delayAfter,
    },
  }
}
