/** What is read of an answer's headers. */
export interface HeaderReader {
  get(name: string): string | null
  forEach(visit: (value: string, name: string) => void): void
}

/** What is read of an answer; every implementation of `fetch` gives it. */
export interface FetchAnswer {
  readonly status: number
  readonly headers: HeaderReader
  arrayBuffer(): Promise<ArrayBuffer>
}

/** What a request is made of: plain values only, so that every implementation of `fetch` understands them. */
export interface FetchRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
  readonly redirect: 'manual'
  /** On Deno alone: the connection of a request that may be sent only once. Hand it on to `fetch` there. */
  readonly client?: object
}

/** A `fetch`: the platform's, undici's, a worker's, a mock's. It is called without a `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchAnswer>
