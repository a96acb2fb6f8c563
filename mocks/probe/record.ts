import { findOperation, type Recording, recordingOf } from './recording.ts'
import { createRedactor, type Hidden } from './redact.ts'

/** The options of `record`. */
export interface RecordOptions extends Hidden {
  /** The clock of the recorded times. Default: the machine's clock. */
  readonly clock?: {
    /** Returns the time in milliseconds since 1970. */
    now(): number
  }
}

/** A function with the arguments and the result of `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Receives each recording when its response has arrived. */
export type RecordingSink = (recording: Recording) => unknown

/** Returns the parts of a response that a recording has, or `undefined` if its body ended early. */
const copyOf = async (response: Response) => {
  try {
    return { status: response.status, headers: response.headers, text: await response.clone().text() }
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
      // The server has acted. If this call rejected, the caller might charge the payer again. So the next call rejects.
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
    const { method, headers } = request
    const sent = { method, headers, path: `${found.path}${search}`, text: await request.clone().text() }
    const at = clock.now()
    const { area, definition } = found.endpoint
    const written = (response?: Awaited<ReturnType<typeof copyOf>>): Promise<void> =>
      write(recordingOf({ area, operation: definition.operation }, sent, response, at))
    try {
      const received = await fetch(request)
      await written(await copyOf(received))
      return received
    } catch (error) {
      await written()
      throw error
    }
  }
}
