/**
 * Prevents the garbage collection of requests that have no response yet. A `Request` follows its caller's signal
 * through a weak reference, so a garbage-collected one would miss an abort.
 */
export const createKeepAlive = () => {
  const kept = new Set<object>()
  return async <Value>(requests: object, run: () => Promise<Value>): Promise<Value> => {
    // Each call has its own entry, because the same request may be sent twice at the same time.
    const entry = { requests }
    kept.add(entry)
    try {
      return await run()
    } finally {
      kept.delete(entry)
    }
  }
}
