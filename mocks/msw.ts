import type { Handler } from './http/handler.ts'
import { preflightAnswer, toResponse, toTruncatedResponse } from './http/response.ts'
import { createHolder } from './keep-request-alive.ts'

/** The part of MSW's `http` that is used, the same in MSW 2.12 and 3. */
export interface MswHttp<MswHandler> {
  all(
    path: RegExp,
    resolver: (info: { readonly request: Request }) => Promise<Response | undefined>,
  ): MswHandler
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

const whenGone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** What MSW is told to answer. */
const respond = async (handler: Handler, request: Request): Promise<Response | undefined> => {
  // Every OPTIONS is a preflight here: happy-dom's arrives without the headers that would say so.
  if (request.method === 'OPTIONS') return toResponse(preflightAnswer(request))
  const reply = await handler(request)
  switch (reply?.kind) {
    case undefined:
      return undefined
    case 'answer':
      return toResponse(reply.answer)
    case 'truncated':
      return toTruncatedResponse(reply)
    case 'silence':
      await whenGone(request.signal)
      return Response.error()
    case 'closed':
      return Response.error()
  }
}

/**
 * One catch-all handler for each base URL: MSW's cost grows with every handler, so the mock's own router chooses the
 * operation. Connections that end are approximate here: MSW knows a network error without a code.
 */
export const createMswHandlers = <MswHandler>(
  http: MswHttp<MswHandler>,
  handler: Handler,
  bases: readonly string[],
): MswHandler[] => {
  const whileHeld = createHolder()
  return [...new Set(bases)].map((base) =>
    http.all(new RegExp(`^${escaped(base)}(?:/.*)?$`), ({ request }) =>
      whileHeld(request, () => respond(handler, request)),
    ),
  )
}
