import { vi } from 'vitest'

const OWN = /[\\/]src[\\/](?:auth|http|clock)/

/** The timers of the client's own code that have neither fired nor been cleared, until mocks are restored. */
export const watchOwnTimers = (): ReadonlySet<unknown> => {
  const running = new Set<unknown>()
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const set = (act: (...values: unknown[]) => void, ...rest: unknown[]): NodeJS.Timeout => {
    const end = (...values: unknown[]) => {
      running.delete(timer)
      act(...values)
    }
    const timer: NodeJS.Timeout = Reflect.apply(realSet, globalThis, [end, ...rest])
    if (OWN.test(new Error('Where is this timer from?').stack ?? '')) running.add(timer)
    return timer
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(set as typeof setTimeout)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    running.delete(timer)
    realClear(timer)
  })
  return running
}
