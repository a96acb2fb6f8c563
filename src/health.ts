import type { AnyMandateKitError } from './errors.ts'
import { ApiError, isMandateKitError } from './errors.ts'
import type { Answered, CallResponse } from './transport/call-promise.ts'

/** Whether the gateway and its data store are reachable. Only HTTP 200 is ok (G health). */
export type Health =
  | {
      /** Reachable, with its data store (G health). */
      readonly ok: true
      /** The HTTP status, which alone means healthy (G health). */
      readonly status: 200
    }
  | {
      /** Not reachable, not healthy, or no answer of it (G health). */
      readonly ok: false
      /** The HTTP status, when there was an answer (G health). */
      readonly status?: number
      /** Why there was no healthy answer. */
      readonly error?: AnyMandateKitError
    }

/** A health check with the answer behind it, when there was one. */
export type HealthAnswer = Answered<Health, CallResponse | undefined>

const answerOf = (error: ApiError): CallResponse | undefined => {
  const { status, headers, requestId, body, rateLimit, attempts, idempotencyKey } = error
  return status === undefined
    ? undefined
    : { status, headers, requestId, body, rateLimit, attempts, idempotencyKey }
}

/** Turns a health call into its verdict. Rejects only when the caller ended the call, or with what is no call's error. */
export const healthOf = async (call: Promise<Answered<unknown>>): Promise<HealthAnswer> => {
  try {
    const { response } = await call
    const { status } = response
    return { data: status === 200 ? { ok: true, status } : { ok: false, status }, response }
  } catch (error) {
    if (!isMandateKitError(error) || error.code === 'aborted') throw error
    const response = error instanceof ApiError ? answerOf(error) : undefined
    const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined
    return { data: { ok: false, ...(status !== undefined && { status }), error }, response }
  }
}
