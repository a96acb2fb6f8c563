import { vi } from 'vitest'

/** The client's timers that have neither fired nor been cleared. */
export interface OwnTimers {
  readonly running: number
  /** The number of timers ever started. */
  readonly started: number
}

const OWN = /[\\/]src[\\/](?:auth|http|clock)/
/** How long the client waits for its token store, and how long it does in a campaign, in milliseconds. */
const STORE_LIMIT = { real: 5_000, shortened: 10 }

/**
 * Counts the timers that the client's own code starts, and shortens the time limit of its token store. Lasts until
 * mocks are restored.
 */
export const watchOwnTimers = (): OwnTimers => {
  const running = new Set<unknown>()
  let started = 0
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const set = (act: (...values: unknown[]) => void, delay?: number, ...values: unknown[]): NodeJS.Timeout => {
    const isOwn = OWN.test(new Error('Where is this timer from?').stack ?? '')
    const end = () => {
      running.delete(timer)
      act(...values)
    }
    const isStoreLimit = isOwn && delay === STORE_LIMIT.real
    const timer: NodeJS.Timeout = realSet(end, isStoreLimit ? STORE_LIMIT.shortened : delay)
    if (isOwn) {
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
