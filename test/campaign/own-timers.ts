import { vi } from 'vitest'

/** The client's timers that have neither fired nor been cleared. */
export interface OwnTimers {
  readonly running: number
  /** How many were ever started: a campaign that counts none counts wrongly. */
  readonly started: number
}

const OWN = /[\\/]src[\\/](?:auth|http|clock)/

/**
 * Counts the timers that the client's own code starts, whoever else uses timers meanwhile. Lasts until mocks are
 * restored.
 */
export const watchOwnTimers = (): OwnTimers => {
  const running = new Set<unknown>()
  let started = 0
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const set = (act: (...values: unknown[]) => void, delay?: number, ...values: unknown[]): NodeJS.Timeout => {
    const timer: NodeJS.Timeout = realSet(() => {
      running.delete(timer)
      act(...values)
    }, delay)
    if (OWN.test(new Error('Where is this timer from?').stack ?? '')) {
      running.add(timer)
      started += 1
    }
    return timer
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(set as typeof setTimeout)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    running.delete(timer)
    realClear(timer)
  })
  return {
    get running() {
      return running.size
    },
    get started() {
      return started
    },
  }
}
