import { ActivityFailure, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow'
import type { createActivities, Renewal } from './temporal.ts'

// Temporal runs workflow code in a sandbox, so this file imports only the types of the activities.

type Activities = ReturnType<typeof createActivities>

const { renew } = proxyActivities<Activities>({
  // Temporal starts the activity of a killed worker again after this time. It must exceed the client's `totalTimeout`.
  startToCloseTimeout: '3 minutes',
  // `nextRetryDelay` of a failure replaces this backoff. Attempts are unlimited, so an outage fails no renewal.
  retry: { initialInterval: '5 seconds', maximumInterval: '5 minutes' },
})

/** Sent by an activity if every renewal would fail, with the wait in milliseconds and the reason. */
export const pauseQueue = defineSignal<[afterMs: number, reason: string]>('pause-queue')

/** Creates a pause that delays all renewals of a workflow. A shorter pause does not replace a longer one. */
export const createPause = (wait: (milliseconds: number) => Promise<void>, now: () => number) => {
  let until = 0
  return {
    begin: (afterMs: number): void => {
      until = Math.max(until, now() + afterMs)
    },
    end: async (): Promise<void> => {
      while (now() < until) await wait(until - now())
    },
  }
}

/** Makes all renewals, `concurrency` at once. Returns the renewals that a person must look at before you retry them. */
export const renewAll = async (
  due: readonly Renewal[],
  concurrency: number,
  pause: Pick<ReturnType<typeof createPause>, 'end'>,
  renewOne: Activities['renew'],
): Promise<Renewal[]> => {
  const failed: Renewal[] = []
  const waiting = [...due]
  const work = async () => {
    for (;;) {
      await pause.end()
      const renewal = waiting.shift()
      if (renewal === undefined) return
      try {
        await renewOne(renewal)
      } catch (error) {
        // If someone canceled the workflow, it must end.
        if (!(error instanceof ActivityFailure) || error.cause?.name === 'CancelledFailure') throw error
        failed.push(renewal)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return failed
}

/**
 * The workflow. Start one for each page of at most 1 000 renewals of one account. So that Temporal does not start a page
 * twice, use the page's name as the workflow's id, and set `workflowIdReusePolicy: 'REJECT_DUPLICATE'`.
 */
export const renewals = (due: readonly Renewal[]): Promise<Renewal[]> => {
  // In a workflow, `Date.now` and `sleep` are deterministic: they use the time of the workflow's history.
  const pause = createPause((milliseconds) => sleep(milliseconds), Date.now)
  setHandler(pauseQueue, (afterMs) => pause.begin(afterMs))
  return renewAll(due, 8, pause, renew)
}
