import {
  bodyOf,
  findOperation,
  pickHeaders,
  type Recording,
  requestHeaders,
  responseHeaders,
} from './recording.ts'
import { createRedactor, type Hidden } from './redact.ts'

/** The options of `record`. */
export interface RecordOptions extends Hidden {
  /** The clock of the recorded times. Default: the machine's clock. */
  readonly clock?: { now(): number }
}

/** A function with the arguments and the result of `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Receives each recording when its response has arrived. */
export type RecordingSink = (recording: Recording) => unknown

/** Returns the response as a recording has it, or `undefined` if its body ended early. */
const copyOf = async (response: Response): Promise<Recording['response']> => {
  try {
    const body = bodyOf(await response.clone().text())
    const headers = pickHeaders(response.headers, responseHeaders)
    return { status: response.status, headers, ...(body === undefined ? {} : { body }) }
  } catch {
    // The reader of `response` gets the same error.
    return undefined
  }
}

/** Creates the recording `fetch` of `record`. */
export const createRecorder = (
  fetch: Fetch,
  sink: RecordingSink,
  { clock, ...hidden }: RecordOptions & { readonly clock: { now(): number } },
): Fetch => {
  const redactor = createRedactor(hidden)
  let failure: { readonly error: unknown } | undefined

  const write = async (recording: Recording): Promise<void> => {
    try {
      await sink(redactor.recording(recording))
    } catch (error) {
      // The server has acted. If this call failed, its caller could charge the payer again. So the next call fails.
      failure = { error }
    }
  }

  return async (input, init) => {
    if (failure !== undefined)
      throw new Error('An earlier recording could not be written.', { cause: failure.error })
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const found = findOperation(pathname)
    if (found === undefined) return fetch(request)
    const body = bodyOf(await request.clone().text())
    const recording: Recording = {
      area: found.endpoint.area,
      operation: found.endpoint.definition.operation,
      request: {
        method: request.method,
        path: `${found.path}${search}`,
        headers: pickHeaders(request.headers, requestHeaders),
        ...(body === undefined ? {} : { body }),
      },
      at: new Date(clock.now()).toISOString(),
    }
    try {
      const received = await fetch(request)
      const response = await copyOf(received)
      await write({ ...recording, ...(response === undefined ? {} : { response }) })
      return received
    } catch (error) {
      await write(recording)
      throw error
    }
  }
}
