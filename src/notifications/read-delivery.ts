import { waitAtMost } from '../clock.ts'
import { type InputIssue, InvalidRequestError } from '../errors.ts'
import type { Delivery, HandlerSettings } from './options.ts'
import { bodyError, decodeUtf8, parseBody, parseObject } from './parse.ts'

const STEP = 64

/** A `Headers` object, or plain data such as `request.headers` of node:http. */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** Converts plain headers to `Headers`. Omits a header if `Headers` refuses its name or value. */
export const toHeaders = (
  fields: HeaderFields | null | undefined,
  onLeftOut: (name: string) => void = () => undefined,
): Headers => {
  const headers = new Headers()
  for (const [name, value] of fields instanceof Headers ? fields : Object.entries(fields ?? {})) {
    // `Headers` does not accept the pseudo-headers of HTTP/2, such as `:path`.
    if (name.startsWith(':')) continue
    for (const each of [value ?? []].flat()) {
      try {
        headers.append(name, each)
      } catch {
        onLeftOut(name)
      }
    }
  }
  return headers
}

/** The parsed bodies of requests that other code has read, or `undefined` if that code did not keep the body. */
export const parsedBodies = new WeakMap<Request, unknown>()

export type Unreadable = { readonly status: 400 | 408 | 413 | 415; readonly error: InvalidRequestError }

const readAll = async (body: ReadableStream<Uint8Array>, { maxBytes, timeouts }: HandlerSettings) => {
  const reader = body.getReader()
  const read = async () => {
    const chunks: Uint8Array[] = []
    let length = 0
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.byteLength
      if (length > maxBytes) return undefined
      chunks.push(next.value)
    }
    const bytes = new Uint8Array(length)
    for (const chunk of chunks.reverse()) {
      length -= chunk.byteLength
      bytes.set(chunk, length)
    }
    return bytes
  }
  const cancel = () => void reader.cancel().catch(() => undefined)
  return waitAtMost(read(), timeouts.read, undefined, 'The body').finally(cancel)
}

/** Returns the decoder for a Content-Encoding. Returns undefined if this runtime has no such decoder. */
const decoderFor = (encoding: string): DecompressionStream | undefined => {
  try {
    const name = encoding.trim().toLowerCase().replace(/^x-/, '')
    // TypeScript does not know the name `brotli`.
    return new DecompressionStream((name === 'br' ? 'brotli' : name) as CompressionFormat)
  } catch {
    return undefined
  }
}

/** Decodes a body in small steps: Deno and workerd decode each step completely before `readAll` checks `maxBytes`. */
const decode = (bytes: Uint8Array<ArrayBuffer>, decoder: DecompressionStream, settings: HandlerSettings) => {
  const writer = decoder.writable.getWriter()
  const write = async () => {
    for (let at = 0; at < bytes.length; at += STEP) await writer.write(bytes.subarray(at, at + STEP))
    await writer.close()
  }
  // The error of `write` is ignored, because `readAll` reports why a body cannot be decoded.
  write().catch(() => undefined)
  return readAll(decoder.readable, settings)
}

/** Reads a body, then decompresses it if necessary. `maxBytes` and `timeouts.read` limit each of the two steps. */
const readBody = async ({ headers, body }: Request, settings: HandlerSettings) => {
  const { maxBytes, timeouts } = settings
  const unreadable = (status: Unreadable['status'], found: string, rule: string): Unreadable => ({
    status,
    error: bodyError(found, rule),
  })
  try {
    let bytes = body === null ? new Uint8Array() : await readAll(body, settings)
    const encoding = headers.get('content-encoding')
    // Compressed bytes are not UTF-8. If the body is UTF-8, a proxy or parser decompressed it but kept the header.
    if (bytes !== undefined && encoding !== null && decodeUtf8(bytes) === undefined) {
      const decoder = decoderFor(encoding)
      if (decoder === undefined)
        return unreadable(415, 'another encoding', 'encoded with gzip, deflate or br')
      bytes = await decode(bytes, decoder, settings)
    }
    return bytes ?? unreadable(413, 'more', `at most ${maxBytes} bytes`)
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
      ? unreadable(408, 'a part of it', `complete within ${timeouts.read} ms`)
      : unreadable(400, 'a body that ended early or cannot be decoded', 'readable')
  }
}

export const setupError = (message: string, received: string): InvalidRequestError =>
  new InvalidRequestError('notifications.handler', [
    { field: 'body', rule: 'the raw body', received, message },
  ])

/** Returns whether an error means a wrong setup. The handler throws such errors: after a 400, no sender would retry. */
export const isSetupError = (error: unknown): boolean =>
  error instanceof InvalidRequestError && error.operation === 'notifications.handler'

const NOT_KEPT =
  'body must be unread, or kept by a body parser. Other code already read the body and ' +
  'did not keep it: mount the notification route first, or pass request.clone() to the other code'

export const readDelivery = async (
  request: Request,
  settings: HandlerSettings,
): Promise<Delivery | Unreadable> => {
  const { headers } = request
  const isRead = parsedBodies.has(request) || request.bodyUsed || request.body?.locked
  const bytes = isRead ? undefined : await readBody(request, settings)
  if (bytes !== undefined && 'status' in bytes) return bytes
  const parsed = parsedBodies.get(request)
  try {
    if (bytes !== undefined) {
      const notification = await parseBody(bytes, headers.get('content-type') ?? '')
      return { notification, headers, bytes }
    }
    if (parsed === undefined) throw setupError(NOT_KEPT, 'nothing')
    return { notification: parseObject(parsed), headers, bytes }
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error
    const isRounded = ({ field, received }: InputIssue) => field.endsWith('Id') && received === 'number'
    // Only a body parser rounds an id, which is a mistake in the setup.
    if (bytes !== undefined || !error.issues.some(isRounded)) return { status: 400, error }
    return { status: 400, error: new InvalidRequestError('notifications.handler', error.issues) }
  }
}
