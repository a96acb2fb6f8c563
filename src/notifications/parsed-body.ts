/** A body that a framework's parser made before the handler saw the request: its bytes are gone. */
export interface ParsedBody {
  readonly body: unknown
}

// A Request cannot carry an object, and writing it as JSON again would give a signature other bytes to fail on.
const bodies = new WeakMap<Request, ParsedBody>()

/** Remembers that this request stands for a body that was parsed already. */
export const rememberParsedBody = (request: Request, body: unknown): void => {
  bodies.set(request, { body })
}

/** The parsed body this request stands for, or `undefined` for an ordinary request. */
export const parsedBodyOf = (request: Request): ParsedBody | undefined => bodies.get(request)
