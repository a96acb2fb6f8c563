import type { Clock } from './clock.ts'

// A longer delay overflows the platform's timer, which would then fire at once.
const LONGEST_DELAY = 2_147_483_647

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
