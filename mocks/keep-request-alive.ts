/**
 * Prevents the garbage collection of requests that have no response yet. After the collection of a `Request`, the
 * caller could no longer abort the request.
 */
export const createKeepAlive = () => {
  const kept = new Set<object>()
  return async <Value>(requests: object, run: () => Promise<Value>): Promise<Value> => {
    // A new object for each call, because two calls may send the same request at the same time.
    const entry = { requests }
    kept.add(entry)
    try {
      return await run()
    } finally {
      kept.delete(entry)
    }
  }
}
