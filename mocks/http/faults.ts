import { check } from '../base/fields.ts'
import { comparableNumber } from '../gateway/behaviors.ts'
import type { AnyFault, Fault, FaultEffect, FaultRequest, FaultStep } from './fault-schema.ts'
import { effectOf, executesByDefault, faultSchema } from './fault-schema.ts'

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
