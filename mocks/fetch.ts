import type { Handler } from './http/handler.ts'
import type { Reply } from './http/response.ts'
import { closedError, connectionError, toResponse, toTruncatedResponse } from './http/response.ts'
import { createHolder } from './keep-request-alive.ts'

/** The platform's `fetch`, answered by a mock. It may be called without `this`. */
export type MockFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** What the mock replies, or a rejection as soon as the caller gives up: a body may be on its way for ever. */
const unlessAborted = (signal: AbortSignal, replying: Promise<Reply>): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    void replying.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })

/**
 * Makes a `fetch` that reaches the mock and nothing else. It rejects as the platform's does: with the signal's reason
 * when aborted, with a TypeError whose cause carries a code when the connection fails. It follows no redirect: the
 * hosted pages send a payer to addresses outside the mock.
 */
export const createMockFetch = (handler: Handler, bases: () => readonly string[]): MockFetch => {
  const whileHeld = createHolder()

  const answer = async (request: Request): Promise<Response> => {
    const { signal } = request
    if (signal.aborted) throw signal.reason
    const replying = handler(request)
    if (replying === undefined) {
      const { origin } = new URL(request.url)
      throw connectionError(
        'ENOTFOUND',
        `getaddrinfo ENOTFOUND ${origin}`,
        `fetch failed: this mock answers below ${bases().join(' and ')}; it was asked for ${origin}`,
      )
    }
    const reply = await unlessAborted(signal, replying)
    if (signal.aborted) throw signal.reason
    switch (reply.kind) {
      case 'answer':
        return toResponse(reply.answer)
      case 'closed':
        throw closedError(reply.code)
      case 'silence':
        return aborted(signal)
      case 'truncated':
        return toTruncatedResponse(reply)
    }
  }

  return async (input, init) => {
    const request = new Request(input, init)
    return whileHeld([request, input, init], () => answer(request))
  }
}
