import type { RateLimit } from '../errors.ts'

/** The answer behind a call's data. */
export interface CallResponse {
  /** HTTP status of the last attempt's answer. */
  readonly status: number
  /** The answer's headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The server's identifier of the request, when it sent one. */
  readonly requestId: string | undefined
  /** The parsed answer as it was received. */
  readonly body: unknown
  /** What the headers `X-RateLimit-…` said; absent when there were none (Limits, area S). */
  readonly rateLimit: RateLimit | undefined
  /** How many attempts the call took. */
  readonly attempts: number
  /** The key that was sent, for a charge or a renewal. */
  readonly idempotencyKey: string | undefined
}

/** A call's data with the answer it was read from. */
export interface Answered<Data, Response = CallResponse> {
  /** What the promise itself gives. */
  readonly data: Data
  /** Status, headers, rate limit and attempts of the answer. */
  readonly response: Response
}

/** What every method returns that makes one call: a promise of the data, which can also give the answer behind it. */
export interface CallPromise<Data, Response = CallResponse> extends Promise<Data> {
  /** The data together with status, headers, rate limit and attempts of its answer. Starts no second call. */
  withResponse(): Promise<Answered<Data, Response>>
}

/** Makes the promise of a call that has begun. */
export const callPromise = <Data, Response>(
  answered: Promise<Answered<Data, Response>>,
): CallPromise<Data, Response> => {
  const data = answered.then((answer) => answer.data)
  return Object.assign(data, {
    withResponse: () => {
      // The caller hears of a failure from the promise it asked for; the other one must not cry as well.
      data.catch(() => undefined)
      return answered
    },
  })
}
