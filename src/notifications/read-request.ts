import { withTimeout } from '../auth/timeout.ts'
import { InvalidRequestError } from '../errors.ts'
import { interpret } from './interpret.ts'
import type { Notification } from './notification.ts'
import { parsedBodyOf } from './parsed-body.ts'
import { readBody, readParsed } from './read-message.ts'

/** An answer that refuses a request. Without a status the set-up is to blame, not the sender. */
interface RefusedRequest {
  readonly status?: 400 | 408 | 413
  readonly error: InvalidRequestError
}

/** A request's body as a notification, with the bytes when there were any; or what refuses it. */
export type ReadRequest =
  | { readonly notification: Notification; readonly bytes: Uint8Array<ArrayBuffer> | undefined }
  | RefusedRequest

/** How much of a body is read, and how long. */
export interface ReadLimits {
  readonly maxBytes: number
  /** In milliseconds of real time. */
  readonly timeout: number
}

const invalidBody = (rule: string, received: string): InvalidRequestError =>
  new InvalidRequestError('notifications.parse', [{ field: 'body', rule, received }])

const ignore = (): void => undefined

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>

/** All bytes of a stream, or `undefined` when there are more than `maxBytes`. */
const readAll = async (reader: Reader, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) return undefined
    chunks.push(value)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

/** The body's bytes within the limits, or the answer; the rest of a body that breaks a limit is left unread. */
const readLimited = async (
  request: Request,
  { maxBytes, timeout }: ReadLimits,
): Promise<Uint8Array<ArrayBuffer> | RefusedRequest> => {
  const tooLarge = { status: 413, error: invalidBody(`at most ${maxBytes} bytes`, 'more') } as const
  if (Number(request.headers.get('content-length')) > maxBytes) return tooLarge
  if (request.body === null) return new Uint8Array()
  let reader: Reader | undefined
  let isLate = true
  try {
    reader = request.body.getReader()
    const reading = readAll(reader, maxBytes).finally(() => {
      isLate = false
    })
    return (await withTimeout(reading, timeout, 'The body')) ?? tooLarge
  } catch {
    if (reader !== undefined && isLate) {
      return { status: 408, error: invalidBody(`complete within ${timeout} ms`, 'a part of it') }
    }
    const received = 'a body that broke off or was read before'
    return { status: 400, error: invalidBody('readable to its end', received) }
  } finally {
    reader?.cancel().catch(ignore)
  }
}

const interpretSafely = (read: () => Notification, bytes?: Uint8Array<ArrayBuffer>): ReadRequest => {
  try {
    return { notification: read(), bytes }
  } catch (error) {
    if (error instanceof InvalidRequestError) return { status: 400, error }
    throw error
  }
}

const nothingLeft = (): InvalidRequestError =>
  new InvalidRequestError('notifications.handler', [
    {
      field: 'body',
      rule:
        'unread, or what a body parser made of it. Something read the request before the handler and kept nothing: ' +
        'mount the notification route before it',
      received: 'nothing',
    },
  ])

/** Reads a delivery within its limits, in any of the forms that `parseNotification` knows. */
export const readRequest = async (request: Request, limits: ReadLimits): Promise<ReadRequest> => {
  const parsed = parsedBodyOf(request)
  if (parsed !== undefined) {
    // A sender that is answered 400 does not come again, and it is not the one to blame.
    if (parsed.body === undefined) return { error: nothingLeft() }
    return interpretSafely(() => interpret(readParsed(parsed.body)))
  }
  const bytes = await readLimited(request, limits)
  if (!(bytes instanceof Uint8Array)) return bytes
  const message = await readBody(bytes, request.headers.get('content-type'))
  return interpretSafely(() => interpret(message), bytes)
}
