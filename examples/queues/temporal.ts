import { ApplicationFailure, activityInfo, cancellationSignal, getClient } from '@temporalio/activity'
import { type GatewayClient, nextStep } from 'mandatekit'

// Activities that never charge twice, on Temporal. Copy this file, and the workflow in temporal-workflow.ts.

/** A renewal that is due. The due date is the input, so that a run after midnight uses the same due date. */
export interface Renewal {
  readonly chargeId: string
  readonly dueDate: string
}

/** Ask your payment provider how long the gateway keeps an idempotency key, and choose a shorter time. */
export const KEY_LIFETIME = 20 * 3_600_000

/** Tells the workflow that every renewal would fail. */
export type Pause = (afterMs: number, reason: string) => Promise<void>

/** Signals the workflow that started this activity. */
const signalWorkflow: Pause = async (afterMs, reason) => {
  const { workflowExecution } = activityInfo()
  if (workflowExecution === undefined) return
  await getClient().workflow.getHandle(workflowExecution.workflowId).signal('pause-queue', afterMs, reason)
}

/** Converts an error to a failure that tells Temporal whether and when to retry the activity. */
export const settle = async (
  error: unknown,
  firstSentAt: number,
  pause: Pause,
): Promise<ApplicationFailure> => {
  const next = nextStep(error, { firstSentAt })
  const failure = { type: next.step, message: error instanceof Error ? error.message : 'Unknown error' }
  switch (next.step) {
    case 'retry':
      return ApplicationFailure.create({ ...failure, nextRetryDelay: next.afterMs })
    case 'pause-queue':
      // If the signal fails, this activity still waits, and the next error signals again.
      await pause(next.afterMs, next.reason).catch(() => undefined)
      return ApplicationFailure.create({ ...failure, details: [next.reason], nextRetryDelay: next.afterMs })
    case 'find-out':
      // A retry could charge again. A person or another activity must find out whether the payer was charged.
      return ApplicationFailure.create({ ...failure, details: [next.how], nonRetryable: true })
    case 'fail':
      return ApplicationFailure.create({ ...failure, nonRetryable: true })
    default:
      // A bug or a busy database: Temporal retries with the backoff of the retry policy.
      return ApplicationFailure.create(failure)
  }
}

/** Creates the activities of a worker: `Worker.create({ activities: createActivities(gateway), … })`. */
export const createActivities = (gateway: Pick<GatewayClient, 'renew'>, pause: Pause = signalWorkflow) => ({
  /** Renews a charge, and returns the status of the renewal. */
  async renew({ chargeId, dueDate }: Renewal): Promise<string> {
    const { attempt, scheduledTimestampMs } = activityInfo()
    if (attempt > 1 && Date.now() - scheduledTimestampMs > KEY_LIFETIME) {
      const message =
        'The key may have expired, so a retry could charge again. A person must find out whether the renewal exists.'
      throw ApplicationFailure.create({ type: 'find-out', message, nonRetryable: true })
    }
    try {
      // The key is made of the charge and the due date, so every attempt sends the same key.
      const { status } = await gateway.renew(chargeId, { dueDate }, { signal: cancellationSignal() })
      return status
    } catch (error) {
      // All attempts of an activity share the time at which Temporal scheduled its first attempt.
      throw await settle(error, scheduledTimestampMs, pause)
    }
  },
})
