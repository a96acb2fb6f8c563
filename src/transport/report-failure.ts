import type { ApiError, MandateKitErrorCode } from '../errors.ts'
import { isMandateKitError } from '../errors.ts'
import type { CallRecord } from './call-record.ts'
import type { ClientSettings } from './client-options.ts'
import { notify } from './hooks.ts'

// A login fails for itself, and then as what the caller of `login` waits for: the same error is one failure.
const reported = new WeakSet<object>()

/** Tells the onError hook that a call failed for good. `startedAt` is in milliseconds of the client's clock. */
export const reportFailure = (
  { hooks, clock }: ClientSettings,
  { facts, attempts }: CallRecord,
  error: unknown,
  startedAt: number,
): void => {
  if (!hooks.onError) return
  const known: Partial<Pick<ApiError, 'phase' | 'retryable' | 'outcome' | 'status' | 'errorCode'>> & {
    readonly code?: MandateKitErrorCode
  } = isMandateKitError(error) ? error : {}
  if (reported.has(known)) return
  reported.add(known)
  const { code, phase, retryable, outcome, status, errorCode } = known
  const durationMs = clock.now() - startedAt
  notify(hooks, 'onError', {
    ...facts,
    code,
    phase,
    retryable,
    outcome,
    status,
    errorCode,
    attempts,
    durationMs,
  })
}
