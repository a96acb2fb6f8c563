import { closedError, connectionError, toResponse, toTruncatedResponse } from './http/message.ts'
import type { Handler } from './http/pipeline.ts'
import { keepProcessAlive } from './time/machine.ts'

/** A `fetch` that sends requests only to the mock. It does not use `this`. */
export type MockFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Waits for `running`. Rejects with the signal's reason as soon as the caller aborts. */
const unlessAborted = <Value>(signal: AbortSignal, running: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    void running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })

/**
 * Creates a `fetch` that sends requests only to the mock. It rejects like the runtime's `fetch`: after an abort, with
 * the signal's reason; after a failed connection, with a TypeError whose cause has a `code`. The created `fetch` does
 * not follow redirects, because the payer's pages redirect to addresses outside the mock.
 */
export const createMockFetch = (handler: Handler, bases: () => readonly string[]): MockFetch => {
  // After the garbage collection of a `Request`, its caller could no longer abort the request.
  const running = new Set<object>()

  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    if (signal.aborted) throw signal.reason
    const handling = handler(request)
    if (handling === undefined) {
      const { origin } = new URL(request.url)
      throw connectionError(
        'ENOTFOUND',
        `getaddrinfo ENOTFOUND ${origin}`,
        `fetch failed: this mock serves ${bases().join(' and ')}, not ${origin}`,
      )
    }
    const kept = { request, input, init }
    running.add(kept)
    try {
      // The handler reads the request's body, which may never end, so an abort must end the wait for the handler.
      const sent = await unlessAborted(signal, handling)
      if (signal.aborted) throw signal.reason
      switch (sent.kind) {
        case 'complete':
          return toResponse(sent.response)
        case 'closed':
          throw closedError(sent.code)
        case 'none':
          return await unlessAborted(signal, new Promise<never>(() => undefined)).finally(keepProcessAlive())
        case 'truncated':
          return toTruncatedResponse(sent)
      }
    } finally {
      running.delete(kept)
    }
  }
}
