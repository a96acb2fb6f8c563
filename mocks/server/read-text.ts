import { BodyTooLargeError } from '../http/request-body.ts'
import type { NodeIncoming } from './write-reply.ts'

const isBrokenOff = (incoming: NodeIncoming): boolean =>
  'stream' in incoming && (incoming.stream.aborted || incoming.stream.rstCode !== 0)

/** A body, and whether its bytes are UTF-8, as JSON's are: those that are not are replaced. */
export interface BodyText {
  readonly text: string
  readonly isUtf8: boolean
}

const strict = new TextDecoder('utf-8', { fatal: true })
const lenient = new TextDecoder()

const decoded = (bytes: Uint8Array): BodyText => {
  try {
    return { text: strict.decode(bytes), isUtf8: true }
  } catch {
    return { text: lenient.decode(bytes), isUtf8: false }
  }
}

/**
 * Reads a request's body as UTF-8. Rejects with a `BodyTooLargeError` as soon as it is known to be larger than
 * `most` bytes, and when the sender leaves before its end. What comes after that is not kept.
 */
export const readText = (incoming: NodeIncoming, most: number): Promise<BodyText> =>
  new Promise((resolve, reject) => {
    const refuse = (): void => {
      // The rest flows by: a sender that is held up would not read the answer.
      incoming.resume()
      reject(new BodyTooLargeError(most))
    }
    if (Number(incoming.headers['content-length'] ?? 0) > most) {
      refuse()
      return
    }
    const parts: Uint8Array[] = []
    let size = 0
    const onData = (part: Uint8Array): void => {
      size += part.length
      if (size <= most) parts.push(part)
      else end(refuse)
    }
    const onGone = (): void => end(() => reject(new Error('The sender left before the end of the body.')))
    const onEnd = (): void => {
      // Over HTTP/2 a body that was broken off ends, too.
      if (isBrokenOff(incoming)) onGone()
      else end(() => resolve(decoded(Buffer.concat(parts, size))))
    }
    const end = (settle: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('aborted', onGone).off('close', onGone)
      // An `error` without a listener would end the process; here it comes with `close`.
      settle()
    }
    incoming.on('error', () => undefined)
    incoming.on('data', onData).on('end', onEnd).on('aborted', onGone).on('close', onGone)
    if (incoming.destroyed) onGone()
  })
