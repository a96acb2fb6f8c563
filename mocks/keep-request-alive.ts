/**
 * Keeps `Request` objects in memory until they have a response. After the garbage collection of a `Request` object, its
 * caller could no longer abort the request.
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
