import { DelayedError, type Job, type Queue, RateLimitError, UnrecoverableError } from 'bullmq'
import { isMandateKitError, nextStep } from 'mandatekit'

/** Thrown by a job that must wait. BullMQ runs the job again later, and counts no attempt. */
export class Later extends Error {
  readonly afterMs: number
  constructor(afterMs: number, why: string) {
    super(why)
    this.afterMs = afterMs
  }
}

/**
 * Returns a function that tells BullMQ what to do with a job after an error. `markUnclear` marks the charge of a job in
 * the database, so that no run of the job sends another request. `scale` shortens the waits of a test.
 */
export const settleFor = (queue: Queue, markUnclear: (jobId: string) => unknown, scale = 1) => {
  const inTime = (milliseconds: number): number => Math.ceil(milliseconds * scale)

  return async (error: unknown, job: Job, token: string, firstSentAt?: number): Promise<never> => {
    const next =
      error instanceof Later ? { ...error, step: 'retry' as const } : nextStep(error, { firstSentAt })
    // An error of the shop's own code or database uses up one of BullMQ's attempts.
    if (next.step === 'unknown-error') throw error
    const isCharge = isMandateKitError(error) && error.idempotencyKey !== undefined
    const isRefused =
      next.step === 'fail' || (next.step === 'pause-queue' && next.reason === 'not-authorized')
    // With priority 0, an earlier run may have charged. A refusal of this run then proves nothing, and a retry with
    // another API key would charge again. A person must ask the provider whether the charge exists.
    if (isCharge && (next.step === 'find-out' || (isRefused && job.priority === 0))) {
      await markUnclear(job.id ?? '')
      throw new UnrecoverableError(String(error))
    }
    // The same call would fail again. The job waits for a person, who repairs the cause and calls `retryFailed`.
    if (next.step === 'fail') throw new UnrecoverableError(String(error))
    // A delayed job goes behind all jobs of its priority. A call that may have been executed must not wait so long.
    if (isMandateKitError(error) && error.outcome === 'unknown') await job.changePriority({ priority: 0 })
    if (next.step === 'pause-queue') {
      // Every other job of the queue would fail too. The pause uses up no attempt.
      await queue.rateLimit(inTime(next.afterMs))
      throw new RateLimitError()
    }
    // After `find-out`, the next run first reads what this run did. A delay uses up no attempt.
    const afterMs = next.step === 'retry' ? next.afterMs : 1_000
    await job.moveToDelayed(Date.now() + inTime(afterMs), token)
    throw new DelayedError()
  }
}
