import { InvalidRequestError } from '../errors.ts'
import { interpret } from './interpret.ts'
import type { Notification } from './notification.ts'
import { parsedBodyOf } from './parsed-body.ts'
import { readBody, readParsed } from './read-message.ts'

/** A request's body as a notification, with the bytes when there were any; or the answer that refuses it. */
export type ReadRequest =
  | { readonly notification: Notification; readonly bytes: Uint8Array<ArrayBuffer> | undefined }
  | { readonly status: 400 | 413; readonly error: InvalidRequestError }

const invalidBody = (rule: string, received: string): InvalidRequestError =>
  new InvalidRequestError('notifications.parse', [{ field: 'body', rule, received }])

const ignore = (): void => undefined

/** The body's bytes, or `undefined` when there are more than `maxBytes`; the rest is then left unread. */
const readLimited = async (
  request: Request,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) {
      reader.cancel().catch(ignore)
      return undefined
    }
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

const interpretSafely = (read: () => Notification, bytes?: Uint8Array<ArrayBuffer>): ReadRequest => {
  try {
    return { notification: read(), bytes }
  } catch (error) {
    if (error instanceof InvalidRequestError) return { status: 400, error }
    throw error
  }
}

/** Reads a delivery: within `maxBytes`, in any of the forms that `parseNotification` knows. */
export const readRequest = async (request: Request, maxBytes: number): Promise<ReadRequest> => {
  const parsed = parsedBodyOf(request)
  if (parsed !== undefined) return interpretSafely(() => interpret(readParsed(parsed.body)))
  let bytes: Uint8Array<ArrayBuffer> | undefined
  try {
    bytes = await readLimited(request, maxBytes)
  } catch {
    return {
      status: 400,
      error: invalidBody('readable to its end', 'a body that broke off or was read before'),
    }
  }
  if (bytes === undefined) {
    return { status: 413, error: invalidBody(`at most ${maxBytes} bytes`, 'more') }
  }
  const message = await readBody(bytes, request.headers.get('content-type'))
  return interpretSafely(() => interpret(message), bytes)
}
