/** Node's AsyncLocalStorage, as far as it is used. */
interface AsyncStorage {
  run<Value>(store: object, act: () => Value): Value
  getStore(): unknown
}

/** Knows which calls a receiver makes before it has answered. */
export interface ReceiversOwnCalls {
  /** Runs a receiver; its calls are known as its own until its answer has come. */
  during<Value>(receive: () => Promise<Value>): Promise<Value>
  /** Throws when a receiver calls `action` before it has answered: `action` would wait for that answer. */
  refuse(action: string): void
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

const field = (value: unknown, name: string): unknown =>
  isObject(value) ? Reflect.get(value, name) : undefined

/** Node, Bun, Deno and some workers have it; browsers do not. A static import would keep the mock out of them. */
const asyncStorage = (): AsyncStorage | undefined => {
  const runtime = field(globalThis, 'process')
  const builtin = field(runtime, 'getBuiltinModule')
  if (typeof builtin !== 'function') return undefined
  const Storage = field(builtin.call(runtime, 'async_hooks'), 'AsyncLocalStorage')
  return typeof Storage === 'function' ? Reflect.construct(Storage, []) : undefined
}

/** For one mock. Where the platform cannot tell whose a call is, nothing is refused. */
export const createReceiversOwnCalls = (): ReceiversOwnCalls => {
  let storage: AsyncStorage | undefined
  const receiving = new Set<unknown>()

  return {
    async during(receive) {
      storage ??= asyncStorage()
      const call = {}
      receiving.add(call)
      try {
        return await (storage === undefined ? receive() : storage.run(call, receive))
      } finally {
        receiving.delete(call)
      }
    },
    refuse(action) {
      if (storage === undefined || !receiving.has(storage.getStore())) return
      throw new Error(
        `${action} was called by a receiver of notifications before it had answered. It waits for deliveries, this one included, so neither could end. Answer first; or wait with clock.sleep, for which the clock does not wait.`,
      )
    },
  }
}
