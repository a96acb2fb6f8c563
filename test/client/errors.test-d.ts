import { describe, expectTypeOf, it } from 'vitest'
import type {
  AbortedError,
  AnyMandateKitError,
  AuthenticationError,
  ConnectionError,
  Health,
  InputIssue,
  InvalidRequestError,
  LockedOutError,
  MandateKitErrorCode,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../src/index.ts'
import { ApiError, isMandateKitError, MandateKitError } from '../../src/index.ts'

declare const thrown: unknown

describe('an error that isMandateKitError knows', () => {
  it('has the fields of its class once its code is known', () => {
    if (!isMandateKitError(thrown)) return
    if (thrown.code === 'rate_limited') expectTypeOf(thrown.retryAfterMs).toEqualTypeOf<number | undefined>()
    if (thrown.code === 'timeout') {
      expectTypeOf(thrown.lastState).toBeUnknown()
      expectTypeOf(thrown.timeoutMs).toBeNumber()
    }
    if (thrown.code === 'invalid_request') expectTypeOf(thrown.issues).toEqualTypeOf<readonly InputIssue[]>()
    if (thrown.code === 'connection_failed') expectTypeOf(thrown.reason).toEqualTypeOf<string | undefined>()
    if (thrown.code === 'unexpected_response') expectTypeOf(thrown.status).toBeNumber()
    if (thrown.code === 'api_error') expectTypeOf(thrown.errorCode).toEqualTypeOf<string | undefined>()
    // @ts-expect-error only some errors have a status
    void thrown.status
  })

  it('says how long to wait before a call that may be made again, whatever its class', () => {
    const pause = (milliseconds: number): number => milliseconds
    if (isMandateKitError(thrown) && thrown.retryable) pause(thrown.retryAfterMs ?? 1000)
    if (thrown instanceof MandateKitError)
      expectTypeOf(thrown.retryAfterMs).toEqualTypeOf<number | undefined>()
  })

  it('is of one class for each code, and none is left after a switch over all of them', () => {
    const nameOf = (error: AnyMandateKitError): string => {
      switch (error.code) {
        case 'invalid_request':
          expectTypeOf(error).toEqualTypeOf<InvalidRequestError>()
          return error.name
        case 'api_error':
          expectTypeOf(error).toExtend<ApiError>()
          return error.name
        case 'authentication_failed':
          expectTypeOf(error).toEqualTypeOf<AuthenticationError>()
          return error.name
        case 'locked_out':
          expectTypeOf(error).toEqualTypeOf<LockedOutError>()
          return error.name
        case 'rate_limited':
          expectTypeOf(error).toEqualTypeOf<RateLimitError>()
          return error.name
        case 'unexpected_response':
          expectTypeOf(error).toEqualTypeOf<UnexpectedResponseError>()
          return error.name
        case 'connection_failed':
          expectTypeOf(error).toEqualTypeOf<ConnectionError>()
          return error.name
        case 'timeout':
          expectTypeOf(error).toEqualTypeOf<TimeoutError>()
          return error.name
        case 'aborted':
          expectTypeOf(error).toEqualTypeOf<AbortedError>()
          return error.name
        default:
          return error satisfies never
      }
    }
    expectTypeOf(nameOf).returns.toBeString()
    expectTypeOf<AnyMandateKitError['code']>().toEqualTypeOf<MandateKitErrorCode>()
  })

  it('leaves something over when a case is missing', () => {
    if (!isMandateKitError(thrown) || thrown.code !== 'aborted') return
    // @ts-expect-error an AbortedError is not handled
    thrown satisfies never
  })

  it('is a MandateKitError wherever one is asked for', () => {
    const log = (error: MandateKitError): string => error.message
    const guard: (value: unknown) => value is MandateKitError = isMandateKitError
    const errors: MandateKitError[] = [thrown, thrown].filter(isMandateKitError)
    expectTypeOf(errors).toEqualTypeOf<MandateKitError[]>()
    expectTypeOf(guard).guards.toEqualTypeOf<MandateKitError>()
    if (isMandateKitError(thrown)) expectTypeOf(log(thrown)).toBeString()
    if (thrown instanceof MandateKitError && isMandateKitError(thrown))
      expectTypeOf(thrown).toExtend<AnyMandateKitError>()
  })

  it('can be told apart by its class as well: the subclasses of ApiError are ApiErrors', () => {
    if (!isMandateKitError(thrown) || !(thrown instanceof ApiError)) return
    expectTypeOf(thrown.status).toEqualTypeOf<number | undefined>()
    expectTypeOf(thrown).toExtend<ApiError>()
    if (thrown.code === 'rate_limited') expectTypeOf(thrown).toEqualTypeOf<RateLimitError>()
  })
})

it('the error of an unhealthy service is of the same kind', () => {
  expectTypeOf<Extract<Health, { ok: false }>['error']>().toEqualTypeOf<AnyMandateKitError | undefined>()
})
