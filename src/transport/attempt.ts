import ky from 'ky'
import type { Phase } from '../errors.ts'
import type { AnswerHeaders } from './answer-headers.ts'
import { recordOf } from './answer-headers.ts'
import { decodeBody } from './body-text.ts'
import type { CallTimeout, Interruption } from './call-timeout.ts'
import type { FetchFunction, FetchRequest } from './fetch-function.ts'
import type { NetworkFailure } from './network-failure.ts'
import { classifyNetworkFailure } from './network-failure.ts'
import type { OwnConnection } from './own-connection.ts'
import { ownConnection } from './own-connection.ts'

/** An answer with its body read to the end. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** Absent when the body of an error answer did not come: its status says enough. */
  readonly text: string | undefined
}

/** How one attempt ended. */
export type AttemptResult =
  | { readonly kind: 'answer'; readonly answer: ReceivedAnswer }
  | { readonly kind: 'failed'; readonly phase: Phase; readonly failure: NetworkFailure }
  | { readonly kind: 'interrupted'; readonly phase: Phase; readonly by: Interruption }

/** What one attempt sends, and by which means. */
export interface AttemptRequest {
  readonly fetch: FetchFunction
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
  /** The attempt's own time limit, reading the body included, in milliseconds. */
  readonly timeout: number
  /** Whether the platform may not send it again by itself. */
  readonly once: boolean
}

/** An answer whose body is still on the way. */
interface ArrivedAnswer extends Omit<ReceivedAnswer, 'text'> {
  readonly body: () => Promise<ArrayBuffer>
}

/** Sends the request. Throws what the given `fetch` threw: ky's own errors hold the whole request. */
const send = async (
  { fetch: fetchFunction, url, method, headers, body }: AttemptRequest,
  signal: AbortSignal,
  connection: OwnConnection | undefined,
): Promise<ArrivedAnswer> => {
  const plain: FetchRequest = {
    method,
    headers,
    ...(body !== undefined && { body }),
    signal,
    redirect: 'manual',
    ...(connection !== undefined && { client: connection.client }),
  }
  let arrived: ArrivedAnswer | undefined
  let thrown: unknown
  try {
    // Repeats, timeouts and error statuses are this package's own, so that money is not sent twice.
    await ky(url, {
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      fetch: async () => {
        try {
          const answer = await fetchFunction(url, plain)
          const { status } = answer
          // Without one nothing tells a success from a refusal.
          if (!Number.isInteger(status)) throw new TypeError('The answer has no status.')
          arrived = { status, headers: recordOf(answer.headers), body: () => answer.arrayBuffer() }
          return answer as Response
        } catch (error) {
          thrown = error
          throw error
        }
      },
    })
  } catch (error) {
    throw thrown ?? error
  }
  if (arrived === undefined) throw new TypeError('The answer did not arrive.')
  return arrived
}

/**
 * Makes one attempt: sends, reads the whole body, and ends at its time limit or with the call, whatever the given
 * `fetch` does with its signal. Never rejects; leaves no timer and no listener.
 */
export const attempt = (request: AttemptRequest, time: CallTimeout): Promise<AttemptResult> =>
  new Promise((resolve) => {
    const controller = new AbortController()
    const connection = request.once ? ownConnection() : undefined
    let arrived: ArrivedAnswer | undefined
    let settled = false

    const settle = (result: AttemptResult): void => {
      if (settled) return
      settled = true
      release()
      connection?.close()
      resolve(result)
    }
    const answerWith = ({ status, headers }: ArrivedAnswer, text: string | undefined): AttemptResult => ({
      kind: 'answer',
      answer: { status, headers, text },
    })
    const phase = (): Phase => (arrived === undefined ? 'request' : 'response')
    /** An error status is an answer even when its body never comes. */
    const refusal = (): AttemptResult | undefined =>
      arrived !== undefined && arrived.status >= 400 ? answerWith(arrived, undefined) : undefined
    const release = time.limitAttempt(request.timeout, (by) => {
      const refused = by.kind === 'timeout' ? refusal() : undefined
      settle(refused ?? { kind: 'interrupted', phase: phase(), by })
      controller.abort()
    })

    const exchange = async (): Promise<void> => {
      try {
        arrived = await send(request, controller.signal, connection)
        settle(answerWith(arrived, decodeBody(await arrived.body(), arrived.headers['content-type'])))
      } catch (error) {
        const found = classifyNetworkFailure(error)
        // Whatever the code says: who answered has received the request.
        const failure = arrived === undefined ? found : { ...found, surelyNotSent: false, certificate: false }
        settle(refusal() ?? { kind: 'failed', phase: phase(), failure })
      }
    }
    void exchange()
  })
