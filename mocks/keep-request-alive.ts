/**
 * Keeps requests alive while they are answered. A `Request` follows its caller's signal through a weak reference: one
 * that is collected in the meantime would never hear of an abort.
 */
export const createHolder = () => {
  const held = new Set<object>()
  return async <Value>(requests: object, run: () => Promise<Value>): Promise<Value> => {
    // A new object for each call: the same request may be under way twice.
    const kept = { requests }
    held.add(kept)
    try {
      return await run()
    } finally {
      held.delete(kept)
    }
  }
}
