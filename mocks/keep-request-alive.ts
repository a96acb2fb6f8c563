/**
 * Prevents the garbage collection of `Request` objects that have no response yet, because the caller could no longer
 * abort a request whose `Request` object was collected.
 */
export const createKeepAlive = () => {
  const kept = new Set<object>()
  return async <Value>(requests: object, run: () => Promise<Value>): Promise<Value> => {
    // Each call adds its own entry, because two calls may send the same request at the same time.
    const entry = { requests }
    kept.add(entry)
    try {
      return await run()
    } finally {
      kept.delete(entry)
    }
  }
}
