/**
 * Prevents the garbage collection of requests that have no response yet. A `Request` holds its
 * caller's signal weakly. If the runtime collected the `Request`, an abort by the caller would have no effect.
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
