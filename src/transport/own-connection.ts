/** A connection that serves one request. */
export interface OwnConnection {
  /** Goes into the request's member of the same name. */
  readonly client: object
  close(): void
}

interface Closable {
  close(): void
}

/** The part of Deno's global that is used. */
interface DenoRuntime {
  createHttpClient(options: { readonly poolMaxIdlePerHost: number }): Closable
}

const isDeno = (value: unknown): value is DenoRuntime =>
  typeof value === 'object' &&
  value !== null &&
  'createHttpClient' in value &&
  typeof value.createHttpClient === 'function'

/**
 * A connection of its own for a request that may reach the server only once. Deno's `fetch` sends a request again by
 * itself, whatever its method, when a connection that served others before is closed without an answer, and the server
 * may have acted by then. The servers' other platforms do not; browsers do, and cannot be told not to.
 */
export const ownConnection = (): OwnConnection | undefined => {
  const deno: unknown = Reflect.get(globalThis, 'Deno')
  if (!isDeno(deno)) return undefined
  try {
    const client = deno.createHttpClient({ poolMaxIdlePerHost: 0 })
    return {
      client,
      close: () => {
        try {
          client.close()
        } catch {
          // Closed already, by a `fetch` of the caller's: a call must not fail by it, or never end.
        }
      },
    }
  } catch {
    // A host that offers the function and refuses its use has no connections to choose from.
    return undefined
  }
}
