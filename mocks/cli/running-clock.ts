import type { Mock } from '../mock-types.ts'

const SECOND = 1_000

/**
 * Lets what falls due on a clock that follows the machine happen without anybody asking: payments are made, and
 * notifications go out and come again, while no request comes in. The function given back ends it.
 */
export const keepRunning = (mock: Mock): (() => void) => {
  const timer = setInterval(() => void mock.notifications.flush(), SECOND)
  return () => clearInterval(timer)
}
