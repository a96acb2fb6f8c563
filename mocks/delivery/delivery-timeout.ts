const LONGEST_ANSWER_MS = 10_000

/** Ends a delivery over the network that no answer comes to. Runs on real time, and keeps no process alive. */
export const deliveryTimeout = (): AbortSignal => AbortSignal.timeout(LONGEST_ANSWER_MS)
