import ky from 'ky'
import type { Phase } from '../errors.ts'
import { decodeBody } from './body-text.ts'
import type { CallTimeout, Interruption } from './call-timeout.ts'
import { startTimeout } from './call-timeout.ts'
import type { FetchAnswer, FetchFunction, FetchRequest, HeaderReader } from './fetch-function.ts'
import type { NetworkFailure } from './network-failure.ts'
import { classifyNetworkFailure } from './network-failure.ts'

/** An answer with its body read to the end. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: HeaderReader
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
}

// Repeats, timeouts and error statuses are this package's own, so that money is not sent twice.
const PLAIN = { retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' } as const

/**
 * Sends the request; `arrived` hears of the answer as soon as it is there. Throws what the given `fetch` threw: ky's own
 * errors hold the whole request.
 */
const send = async (
  request: AttemptRequest,
  signal: AbortSignal,
  arrived: (answer: FetchAnswer) => void,
): Promise<void> => {
  const { fetch: fetchFunction, url, method, headers, body } = request
  const plain: FetchRequest = {
    method,
    headers,
    ...(body !== undefined && { body }),
    signal,
    redirect: 'manual',
  }
  let thrown: unknown
  try {
    await ky(url, {
      ...PLAIN,
      fetch: async () => {
        try {
          const answer = await fetchFunction(url, plain)
          arrived(answer)
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
}

/**
 * Makes one attempt: sends, reads the whole body, and ends at its time limit or with the call, whatever the given
 * `fetch` does with its signal. Never rejects; leaves no timer and no listener.
 */
export const attempt = (request: AttemptRequest, time: CallTimeout): Promise<AttemptResult> =>
  new Promise((resolve) => {
    const controller = new AbortController()
    let received: FetchAnswer | undefined
    let settled = false

    const settle = (result: AttemptResult): void => {
      if (settled) return
      settled = true
      stopTimeout()
      forget()
      resolve(result)
    }
    const phase = (): Phase => (received === undefined ? 'request' : 'response')
    /** An error status is an answer even when its body never comes. */
    const refusal = (): AttemptResult | undefined =>
      received !== undefined && received.status >= 400
        ? { kind: 'answer', answer: { status: received.status, headers: received.headers, text: undefined } }
        : undefined
    const interrupt = (by: Interruption): void => {
      const refused = by.kind === 'timeout' ? refusal() : undefined
      settle(refused ?? { kind: 'interrupted', phase: phase(), by })
      controller.abort()
    }
    const { timeout } = request
    const stopTimeout = startTimeout(timeout, () => {
      interrupt({ kind: 'timeout', limit: 'attempt', milliseconds: timeout })
    })
    const forget = time.onInterruption(() => interrupt(time.interruption ?? { kind: 'aborted' }))

    const exchange = async (): Promise<void> => {
      try {
        await send(request, controller.signal, (answer) => {
          received = answer
        })
        if (received === undefined) throw new TypeError('The given fetch resolved to nothing.')
        const { status, headers } = received
        const text = decodeBody(await received.arrayBuffer(), headers.get('content-type'))
        settle({ kind: 'answer', answer: { status, headers, text } })
      } catch (error) {
        const { surelyNotSent, reason } = classifyNetworkFailure(error)
        // Whatever the code says: who answered has received the request.
        const failure = { surelyNotSent: surelyNotSent && received === undefined, reason }
        settle(refusal() ?? { kind: 'failed', phase: phase(), failure })
      }
    }
    void exchange()
  })
