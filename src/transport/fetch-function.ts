/** What is read of an answer's headers. */
export interface HeaderReader {
  /** The value under a name in any casing, or null. */
  get(name: string): string | null
  /** Gives every value with its name. */
  forEach(visit: (value: string, name: string) => void): void
}

/** What is read of an answer; every implementation of `fetch` gives it. */
export interface FetchAnswer {
  /** HTTP status. */
  readonly status: number
  /** The answer's headers. */
  readonly headers: HeaderReader
  /** The body's bytes. */
  arrayBuffer(): Promise<ArrayBuffer>
}

/** What a request is made of: plain values only, so that every implementation of `fetch` understands them. */
export interface FetchRequest {
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Every header of the request, Authorization included. */
  readonly headers: Record<string, string>
  /** JSON text, or form fields of a token request; absent when nothing is sent. */
  readonly body?: string
  /** Aborted when the attempt's time is over or the caller ends the call. */
  readonly signal: AbortSignal
  /** A redirect is an answer of its own: it is never followed. */
  readonly redirect: 'manual'
  /** On Deno alone: the connection of a request that may be sent only once. Hand it on to `fetch` there. */
  readonly client?: object
}

/** A `fetch`: the platform's, undici's, a worker's, a mock's. It is called without a `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchAnswer>
