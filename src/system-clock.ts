import type { Clock } from './clock.ts'
import { LONGEST_DELAY } from './clock.ts'

/** The machine's own time; what a client uses when it is given no clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        },
        Math.min(Math.max(milliseconds, 0), LONGEST_DELAY),
      )
      signal?.addEventListener('abort', stop, { once: true })
    }),
}
