import { type Handler, preflightResponse, toResponse, toTruncatedResponse } from './http/message.ts'
import { keepProcessAlive } from './time/machine.ts'

/** The part of MSW's `http` that the mock uses, which is the same in MSW 2.12 and 3. */
export interface MswHttp<MswHandler> {
  all(
    path: RegExp,
    resolver: (info: { readonly request: Request }) => Promise<Response | undefined>,
  ): MswHandler
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Returns whether the runtime's `Request` hides the headers of a preflight, as happy-dom's does. */
const hidesPreflightHeaders = (): boolean => {
  const headers = { 'Access-Control-Request-Method': 'POST' }
  return new Request('https://mock.test', { headers }).headers.get('access-control-request-method') === null
}

const respond = async (handler: Handler, request: Request): Promise<Response | undefined> => {
  // If the headers that mark a preflight are hidden, every OPTIONS request is treated as a preflight.
  if (request.method === 'OPTIONS' && hidesPreflightHeaders()) return toResponse(preflightResponse(request))
  const sent = await handler(request)
  switch (sent?.kind) {
    case undefined:
      return undefined
    case 'complete':
      return toResponse(sent.response)
    case 'truncated':
      return toTruncatedResponse(sent)
    case 'none':
      await whenAborted(request.signal).finally(keepProcessAlive())
      return Response.error()
    case 'closed':
      return Response.error()
  }
}

/**
 * Creates one catch-all handler for all base URLs. MSW gets slower with every handler, so the mock's own router finds
 * the operation. A fault that closes the connection causes an error without a code, because MSW supports no codes.
 */
export const createMswHandlers = <MswHandler>(
  http: MswHttp<MswHandler>,
  handler: Handler,
  bases: readonly string[],
): MswHandler[] => {
  // After the garbage collection of a `Request`, its caller could no longer abort the request.
  const running = new Set<Request>()
  const escaped = bases.map((base) => base.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
  return [
    http.all(new RegExp(`^(?:${escaped})(?:/.*)?$`), async ({ request }) => {
      running.add(request)
      try {
        return await respond(handler, request)
      } finally {
        running.delete(request)
      }
    }),
  ]
}
