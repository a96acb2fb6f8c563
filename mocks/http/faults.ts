import { check } from '../domain/fields.ts'
import { comparableNumber } from '../gateway/behaviors.ts'
import type { AnyFault, Fault, FaultEffect, FaultRequest, FaultStep } from './fault-schema.ts'
import { effectOf, executesByDefault, faultSchema } from './fault-schema.ts'

/** The delays and the fault that apply to one request. */
export interface Disturbance {
  /** Delay before the request is executed, in milliseconds. */
  readonly delayBefore: number
  /** Delay before the response is sent, in milliseconds. */
  readonly delayAfter: number
  readonly effect: FaultEffect | undefined
}

/** A fault that can still apply to a request. */
export interface ArmedFault {
  /** Serial number of the fault: 1 for the first added fault. */
  readonly number: number
  readonly fault: Fault
  /** How many times the fault can still apply. One run through all steps of a `sequence` counts once. */
  readonly left: number
  /** Removes the fault. */
  remove(): void
}

interface Armed extends ArmedFault {
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

/** The faults of a mock. */
export type FaultPlan = ReturnType<typeof createFaultPlan>

/**
 * Stores faults in the order of `add`. All matching faults of kind `latency` apply to a request, but of the other kinds
 * only the first. If its `probability` or a step `'succeed'` skips the first fault, the next fault can apply.
 *
 * @param configured the faults from the mock's options, with which the plan starts and which `reset` restores
 */
export const createFaultPlan = (random: () => number, configured: readonly Fault[]) => {
  let armed: Armed[] = []
  let added = 0

  const advance = (one: Armed): void => {
    one.step += 1
    if (one.step >= one.steps.length) {
      one.step = 0
      one.left -= 1
      if (one.left <= 0) one.remove()
    }
  }

  const arm = (fault: Fault): (() => void) => {
    added += 1
    const one: Armed = {
      number: added,
      fault,
      left: timesOf(fault),
      steps: fault.sequence ?? ['fail'],
      step: 0,
      remove() {
        armed = armed.filter((other) => other !== one)
      },
    }
    armed.push(one)
    return one.remove
  }

  for (const fault of configured) arm(fault)

  return {
    /** Adds a fault, and returns a function that removes the fault. Throws a TypeError for an invalid fault. */
    add: (given: AnyFault): (() => void) => arm(check(faultSchema, given, 'faults.add: ')),
    /** Returns the delays and the fault for a request. Each fault whose step was used advances to its next step. */
    take(operation: string, request: () => FaultRequest): Disturbance | undefined {
      if (armed.length === 0) return undefined
      let [delayBefore, delayAfter] = [0, 0]
      let effect: FaultEffect | undefined
      for (const one of armed) {
        if (!targets(one.fault, operation) || !matches(one.fault, request)) continue
        const next = effectOf(one.fault, one.steps[one.step] ?? 'succeed')
        if (effect !== undefined && next !== undefined && next.kind !== 'latency') continue
        if (one.fault.probability !== undefined && random() >= one.fault.probability) continue
        advance(one)
        if (next === undefined) continue
        if (next.executed ?? executesByDefault(next.kind)) delayAfter += next.latencyMs ?? 0
        else delayBefore += next.latencyMs ?? 0
        if (next.kind !== 'latency') effect = next
      }
      return { delayBefore, delayAfter, effect }
    },
    /** Returns the faults that can still apply, in the order of `add`. */
    armed: (): readonly ArmedFault[] => armed,
    clear(): void {
      armed = []
    },
    reset(): void {
      armed = []
      for (const fault of configured) arm(fault)
    },
  }
}
