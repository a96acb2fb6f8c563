/**
 * Keeps requests alive until they have a response. A `Request` follows its caller's signal through a weak reference: once
 * it is collected, it no longer learns of an abort.
 */
export const createKeepAlive = () => {
  const kept = new Set<object>()
  return async <Value>(requests: object, run: () => Promise<Value>): Promise<Value> => {
    // A new object for each call: the same request may be sent twice at a time.
    const entry = { requests }
    kept.add(entry)
    try {
      return await run()
    } finally {
      kept.delete(entry)
    }
  }
}
