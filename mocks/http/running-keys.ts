import type { OperationExchange } from './exchange.ts'

/** Returns operation, path, caller and idempotency key as one text; `undefined` if the request uses no key. */
const scopeOf = ({ target, path, bearer, idempotencyKey = '' }: OperationExchange): string | undefined =>
  target.definition.idempotencyKey && idempotencyKey.trim() !== ''
    ? [target.definition.operation, path, bearer, idempotencyKey].join('\n')
    : undefined

/** Tracks requests that a fault delays, because a second request with the same key can arrive meanwhile (row 73a). */
export const createRunningKeys = () => {
  const running = new Map<string, Promise<unknown>>()

  return {
    /** Returns a promise that settles when the running request with the same key ends; `undefined` if none runs. */
    get: (exchange: OperationExchange): Promise<unknown> | undefined => running.get(scopeOf(exchange) ?? ''),
    /** Runs a request, and tracks the request until it ends. */
    async track<Value>(exchange: OperationExchange, run: () => Promise<Value>): Promise<Value> {
      const scope = scopeOf(exchange)
      if (scope === undefined) return run()
      const ending = run()
      running.set(scope, ending)
      return ending.finally(() => running.delete(scope))
    },
  }
}
