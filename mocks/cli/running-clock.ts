import type { Mock } from '../types.ts'

const SECOND = 1_000

/**
 * Lets what falls due on a clock that follows the machine happen without anybody asking: payments are made, and
 * notifications go out and come again, while no request comes in. The function given back ends it.
 */
export const keepRunning = (mock: Mock): (() => void) => {
  let isRunning = false
  const run = async (): Promise<void> => {
    // A receiver may take its time.
    if (isRunning) return
    isRunning = true
    try {
      await mock.notifications.flush()
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => void run(), SECOND)
  return () => clearInterval(timer)
}
