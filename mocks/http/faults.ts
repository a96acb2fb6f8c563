import type { Fault, FaultEffect, FaultStep } from './fault-schema.ts'
import { checkFault, executesByDefault } from './fault-schema.ts'

/** What happens to one request: how long its answer is held back, and what else. */
export interface Disturbance {
  /** Milliseconds before anything is executed. */
  readonly delayBefore: number
  /** Milliseconds before the answer goes out. */
  readonly delayAfter: number
  readonly effect: FaultEffect | undefined
}

/** The faults of a mock. */
export interface FaultPlan {
  /** Adds a fault; the function given back removes what is left of it. Throws a TypeError for one that cannot be. */
  add(fault: Fault): () => void
  /** What the next request of the operation meets; counts it. */
  take(operation: string): Disturbance | undefined
  /** What is left of the faults that were added, in their order. */
  armed(): readonly ArmedFault[]
  clear(): void
}

/** A fault that still acts. */
export interface ArmedFault {
  /** Counts the faults of a plan from 1. */
  readonly number: number
  readonly fault: Fault
  /** How often it may still act; of a sequence, how often it may still be gone through. */
  readonly left: number
  /** Removes what is left of it. */
  remove(): void
}

interface Armed {
  readonly number: number
  readonly fault: Fault
  readonly steps: readonly (FaultStep | undefined)[]
  /** How often it may still act; of a sequence, how often it may still be gone through. */
  left: number
  step: number
}

const targets = (fault: Fault, operation: string): boolean =>
  fault.operation === '*' ||
  fault.operation === operation ||
  (fault.operation.endsWith('.*') && operation.startsWith(fault.operation.slice(0, -1)))

const timesOf = ({ times, probability }: Fault): number => {
  if (times === 'always') return Number.POSITIVE_INFINITY
  return times ?? (probability === undefined ? 1 : Number.POSITIVE_INFINITY)
}

const effectOf = (fault: Fault, step: FaultStep | undefined): FaultEffect | undefined => {
  const {
    operation: _operation,
    times: _times,
    probability: _probability,
    sequence: _sequence,
    ...base
  } = fault
  if (step === 'succeed') return undefined
  const own = step === undefined || step === 'fail' ? {} : typeof step === 'string' ? { kind: step } : step
  const { kind, ...more } = { ...base, ...own }
  return kind === undefined ? undefined : { kind, ...more }
}

/** Keeps faults in the order in which they were added: the first that applies acts, and latencies add to it. */
export const createFaultPlan = (random: () => number): FaultPlan => {
  let armed: Armed[] = []
  let added = 0

  const remove = (one: Armed): void => {
    armed = armed.filter((other) => other !== one)
  }

  const advance = (one: Armed): FaultStep | undefined => {
    const step = one.steps[one.step]
    one.step += 1
    if (one.step >= one.steps.length) {
      one.step = 0
      one.left -= 1
      if (one.left <= 0) remove(one)
    }
    return step
  }

  return {
    add(given) {
      checkFault(given)
      // A copy: what is done to the object afterwards changes nothing.
      const fault = { ...given, ...(given.sequence === undefined ? {} : { sequence: [...given.sequence] }) }
      added += 1
      const steps = fault.sequence ?? [undefined]
      const one: Armed = { number: added, fault, steps, left: timesOf(fault), step: 0 }
      armed.push(one)
      return () => remove(one)
    },
    take(operation) {
      if (armed.length === 0) return undefined
      let [delayBefore, delayAfter] = [0, 0]
      let effect: FaultEffect | undefined
      for (const one of armed) {
        if (!targets(one.fault, operation)) continue
        const next = effectOf(one.fault, one.steps[one.step])
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
    armed: () =>
      armed.map((one) => ({
        number: one.number,
        fault: one.fault,
        left: one.left,
        remove: () => remove(one),
      })),
    clear() {
      armed = []
    },
  }
}
