import type { OperationExchange } from './exchange.ts'

/** Returns the scope of a request's idempotency key, or `undefined` if the operation or the request has no key. */
const scopeOf = ({ target, path, bearer, idempotencyKey = '' }: OperationExchange): string | undefined =>
  target.definition.idempotencyKey && idempotencyKey.trim() !== ''
    ? [target.definition.operation, path, bearer, idempotencyKey].join('\n')
    : undefined

/** Tracks the requests that a fault delays, because a second request with the same key can arrive meanwhile (row 73a). */
export const createRunningKeys = () => {
  const running = new Map<string, Promise<unknown>>()

  return {
    /** Returns a promise for the end of the request that runs with the same key; `undefined` if none runs. */
    get: (exchange: OperationExchange): Promise<unknown> | undefined => running.get(scopeOf(exchange) ?? ''),
    /** Tracks a request until `run` ends. */
    async track<Value>(exchange: OperationExchange, run: () => Promise<Value>): Promise<Value> {
      const scope = scopeOf(exchange)
      if (scope === undefined) return run()
      const ending = run()
      running.set(scope, ending)
      return ending.finally(() => running.delete(scope))
    },
  }
}
